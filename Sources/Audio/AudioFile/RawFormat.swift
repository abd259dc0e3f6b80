public import TenfourAudioCore

/// The format of samples without a header.
public struct RawFormat: Hashable, Sendable {
    public var coding: SampleCoding
    public var format: LPCMFormat

    /// Creates a format. Default: `S16_LE`, 48 kHz, mono, which `arecord -t raw -f S16_LE -r 48000` writes.
    public init(coding: SampleCoding = .signed16, format: LPCMFormat = .mono) {
        self.coding = coding
        self.format = format
    }

    internal var frameByteCount: Int { coding.byteCount * format.channelCount }

    /// Throws if the channel count or the rate is not supported, or if `container` cannot store the sample coding. For a
    /// WAV file, throws also if the extension in `name` belongs to another file format.
    internal func check(_ container: AudioFileWriter.Container, for name: String) throws(AudioFileError) {
        try format.check(for: name)
        let canHold =
            switch container {
            case .wav: WAVHeader.canHold(coding)
            case .flac: FLACOutput.codings.contains(coding)
            case .raw: true
            }
        guard canHold else { throw AudioFileError(.unsupportedCoding(coding), name: name) }
        let ending = name.split(separator: "/").last?.split(separator: ".").dropFirst().last?.lowercased() ?? ""
        guard container != .wav || !otherFormats.contains(ending)
        else { throw AudioFileError(.namedAsAnother(ending), name: name) }
    }
}

/// The extensions of other formats. Programs that rely on the extension would misread a WAV file with such a name.
private let otherFormats: Set = [
    "mp3", "mp4", "m4a", "aac", "flac", "ogg", "oga", "opus", "aif", "aiff", "caf", "wma", "webm",
]
