/// An audio track of a file that may have several, such as a film.
public struct AudioTrack: Equatable, Sendable {
    /// The number of the track among the audio tracks, from 1.
    public var number: Int
    /// The codec's name, such as `aac`.
    public var codec: String
    /// The number of channels; 0 if it is unknown.
    public var channelCount: Int
    /// The language as the file states it, such as `eng`. Control characters are replaced.
    public var language: String?
    /// The title. Control characters are replaced.
    public var title: String?
    /// Whether the file marks the track as the one to play.
    public var isDefault: Bool
    /// Whether the track is the one that is read.
    public var isRead = false

    public init(
        number: Int, codec: String, channelCount: Int, language: String? = nil, title: String? = nil,
        isDefault: Bool = false
    ) {
        self.number = number
        self.codec = codec
        self.channelCount = channelCount
        self.language = language
        self.title = title
        self.isDefault = isDefault
    }
}

/// The choice of one of several audio tracks.
public enum AudioTrackChoice: Equatable, Sendable {
    /// The number among the audio tracks, from 1.
    case number(Int)
    /// The language by ISO 639, such as `de`, `deu` or `ger`.
    case language(String)

    /// Parses a number or a language; nil for any other text.
    public init?(_ text: String) {
        if let number = Int(text) {
            guard 1...64 ~= number else { return nil }
            self = .number(number)
        } else {
            guard 2...3 ~= text.utf8.count, text.utf8.allSatisfy({ 97...122 ~= $0 | 32 }) else { return nil }
            self = .language(text.lowercased())
        }
    }

    /// Returns the index in `tracks` of the chosen track; nil if there is none.
    public func index(in tracks: [AudioTrack]) -> Int? {
        switch self {
        case .number(let number): tracks.indices.contains(number - 1) ? number - 1 : nil
        case .language(let language):
            tracks.firstIndex { $0.language.map { Self.canonical($0) == Self.canonical(language) } ?? false }
        }
    }

    /// Returns the index in `tracks` of the chosen track. If there is none, throws a sentence that names the tracks.
    func requiredIndex(in tracks: [AudioTrack]) throws(ReaderError) -> Int {
        if let index = index(in: tracks) { return index }
        let names = tracks.map { "\($0.number)" + ($0.language.map { " (\($0))" } ?? "") }
        throw .demuxer(
            .malformed(
                "this file has no such audio track, only \(names.joined(separator: ", ")): choose one of these with --track, or leave --track out",
                kind: .notAudio))
    }

    /// Throws if another track is chosen than the only one of a file that states no language.
    static func check(_ choice: Self?, codec: String) throws(ReaderError) {
        _ = try choice?.requiredIndex(in: [AudioTrack(number: 1, codec: codec, channelCount: 0)])
    }

    /// Returns the two letters of a language that has them, or else the text in lower case.
    private static func canonical(_ language: String) -> String {
        let code = language.lowercased().prefix { $0 != "-" && $0 != "_" }
        return twoLetters[String(code)] ?? String(code)
    }

    /// The two letters of common languages by their three letters (ISO 639-2, in both of its forms).
    private static let twoLetters = [
        "ara": "ar", "bul": "bg", "cat": "ca", "ces": "cs", "chi": "zh", "cze": "cs", "dan": "da", "deu": "de",
        "dut": "nl", "ell": "el", "eng": "en", "est": "et", "eus": "eu", "baq": "eu", "fas": "fa", "per": "fa",
        "fin": "fi", "fra": "fr", "fre": "fr", "ger": "de", "gre": "el", "heb": "he", "hin": "hi", "hrv": "hr",
        "hun": "hu", "ice": "is", "isl": "is", "ind": "id", "ita": "it", "jpn": "ja", "kor": "ko", "lat": "la",
        "lav": "lv", "lit": "lt", "nld": "nl", "nor": "no", "pol": "pl", "por": "pt", "ron": "ro", "rum": "ro",
        "rus": "ru", "slk": "sk", "slo": "sk", "slv": "sl", "spa": "es", "srp": "sr", "swe": "sv", "tha": "th",
        "tur": "tr", "ukr": "uk", "vie": "vi", "zho": "zh",
    ]
}
