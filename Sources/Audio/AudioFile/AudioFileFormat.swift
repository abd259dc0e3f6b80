/// The kind of an audio file, recognised by its first bytes.
internal enum AudioFileFormat {
    /// WAV, or RF64 and BW64 beyond 4 GiB: samples after a short header, readable from a pipe as they arrive.
    case wav
    /// Another format that libsndfile reads.
    case other

    /// The number of bytes needed to recognise a format.
    static let sniffedByteCount = 12

    /// Recognises the format. Returns nil for an unknown header: the file may then contain raw samples.
    init?(sniffing start: [UInt8]) {
        func has(_ text: StaticString, at offset: Int = 0) -> Bool {
            text.withUTF8Buffer { text in unsafe start.dropFirst(offset).starts(with: text) }
        }
        if has("RIFF") || has("RF64") || has("BW64"), has("WAVE", at: 8) {
            self = .wav
        } else if has("FORM") || has("fLaC") || has("OggS") || has("riff") || has("caff") || has(".snd") || has("ID3") {
            self = .other
        } else {
            return nil
        }
    }
}
