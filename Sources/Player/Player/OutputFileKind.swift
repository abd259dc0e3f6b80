public import TenfourMediaSource

/// The kind of an output file.
public enum OutputFileKind: Hashable, Sendable {
    case wav
    case flac
    /// Opus in Ogg (RFC 7845), at 48 kHz, with one or two channels.
    case oggOpus
    /// Samples without a header.
    case raw

    /// Finds the kind by the name: WAV, FLAC (`.flac`) or Ogg Opus (`.opus`, `.ogg`, `.oga`), and raw samples for `-`.
    /// A name without a known extension is WAV. Throws `.unusable` for the extension of another format.
    public init(path: String) throws(StreamError) {
        guard path != "-" else {
            self = .raw
            return
        }
        let name = path.split(separator: "/").last ?? ""
        let ending = name.split(separator: ".").dropFirst().last?.lowercased() ?? ""
        switch ending {
        case "flac": self = .flac
        case "opus", "ogg", "oga": self = .oggOpus
        case _ where Self.others.contains(ending):
            throw .unusable(
                "\(path) cannot be written, since only WAV, FLAC and Ogg Opus are: choose a name that ends in .wav, .flac or .opus",
                kind: .unusableOutput)
        default: self = .wav
        }
    }

    /// The extensions of other formats. Programs that rely on the extension would misread a WAV file with such a name.
    private static let others: Set = ["mp3", "mp4", "m4a", "aac", "aif", "aiff", "caf", "wma", "webm", "mka", "wv"]

    /// The only rate of such a file, in hertz; nil if there are several.
    var onlyRate: Int? { self == .oggOpus ? 48_000 : nil }
    /// The largest number of channels.
    var maximumChannelCount: Int { self == .oggOpus ? 2 : 8 }
}
