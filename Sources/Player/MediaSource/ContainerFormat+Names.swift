extension ContainerFormat {
    /// The formats that a name can stand for: endings of file names, in lower case and without the dot.
    private static let names: [String: ContainerFormat] = [
        "opus": .oggOpus, "ogg": .ogg, "oga": .ogg, "wav": .wav, "wave": .wav, "rf64": .wav, "w64": .wave64,
        "aiff": .aiff, "aif": .aiff, "aifc": .aiff, "caf": .caf, "flac": .flac, "mp4": .mp4, "m4a": .mp4, "m4b": .mp4,
        "mov": .mp4, "mkv": .matroska, "mka": .matroska, "webm": .matroska, "weba": .matroska, "ts": .mpegTS,
        "mts": .mpegTS, "m2ts": .mpegTS, "mp3": .elementary, "mp2": .elementary, "mp1": .elementary,
        "mpga": .elementary, "aac": .elementary, "adts": .elementary, "ac3": .elementary, "eac3": .elementary,
        "ec3": .elementary, "wv": .wavPack, "mpc": .musepack8, "au": .au, "snd": .au,
        "spx": .ogg, "wma": .other, "asf": .other, "wmv": .other, "dts": .other, "avi": .other, "flv": .other,
        "mpg": .other, "mpeg": .other, "vob": .other, "tta": .other, "ape": .other, "amr": .other, "dsf": .other,
    ]

    /// The names that `init(named:)` takes, in alphabetical order.
    public static var knownNames: [String] { names.keys.sorted() }

    /// Creates the format of files with this ending, such as `mp3`; nil if no such format is played. Capital letters
    /// and a dot before the name make no difference.
    public init?(named name: String) {
        guard let format = Self.names[String(name.lowercased().drop { $0 == "." })] else { return nil }
        self = format
    }
}
