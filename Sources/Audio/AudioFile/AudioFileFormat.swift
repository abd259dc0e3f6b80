/// What the first bytes of a file say it is.
internal enum AudioFileFormat {
    /// WAV, or RF64, its form beyond 4 GiB: samples behind a short header, which can be read from a pipe as they come.
    case wav
    /// What libsndfile reads.
    case other

    /// So many bytes are enough to tell.
    static let peekedByteCount = 12

    /// nil for what has no header that we know: raw samples, if anything.
    init?(_ start: [UInt8]) {
        func has(_ text: StaticString, at offset: Int = 0) -> Bool {
            text.withUTF8Buffer { text in unsafe start.dropFirst(offset).starts(with: text) }
        }
        if has("RIFF") || has("RF64"), has("WAVE", at: 8) {
            self = .wav
        } else if has("FORM") || has("fLaC") || has("OggS") || has("riff") || has("caff") || has(".snd") || has("ID3") {
            self = .other
        } else {
            return nil
        }
    }
}
