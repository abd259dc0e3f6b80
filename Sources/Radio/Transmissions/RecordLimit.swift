/// How much a directory of recordings may hold. Of those who talked most, the oldest recordings are removed first.
public struct RecordLimit: Hashable, Sendable, CustomStringConvertible {
    /// The size of all recordings, in bytes; nil for no limit.
    public var byteCount: Int?
    /// The age of the oldest recording, in seconds; nil for no limit.
    public var age: Int?
    /// The number of recordings, which limits the memory for their names.
    var fileCount = 100_000

    /// 1 GB of any age.
    public static let usual = Self(byteCount: 1_000_000_000, age: nil)
    /// The smallest size: about two minutes of speech.
    public static let smallestByteCount = 1_000_000

    public init(byteCount: Int?, age: Int?) {
        self.byteCount = byteCount
        self.age = age
    }

    /// Parses a size, an age or both, such as `500M`, `2G`, `12h`, `30d`, `1G,30d`; `none` for no limit. Nil if the text
    /// is something else, the size is below 1 MB, or the age below a minute.
    public init?(_ text: String) {
        self.init(byteCount: nil, age: nil)
        if text == "none" { return }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let unit = part.last, let number = Double(part.dropLast()), number > 0, number < 1e6 else {
                return nil
            }
            if let bytes = Self.bytes[unit] {
                guard byteCount == nil, number * bytes >= Double(Self.smallestByteCount) else { return nil }
                byteCount = Int(number * bytes)
            } else if let seconds = Self.seconds[unit] {
                guard age == nil, number * seconds >= 60 else { return nil }
                age = Int(number * seconds)
            } else {
                return nil
            }
        }
    }

    private static let bytes: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12]
    private static let seconds: [Character: Double] = ["m": 60, "h": 3_600, "d": 86_400, "w": 604_800]

    /// The limits as a sentence.
    package var sentence: String {
        let text = byteCount == nil && age == nil ? "" : "\(self) in "
        return "the directory may hold at most \(text)\(fileCount) files (--record-limit)"
    }

    public var description: String {
        let size = byteCount.map { $0 % 1_000_000_000 == 0 ? "\($0 / 1_000_000_000)G" : "\($0 / 1_000_000)M" }
        let time = age.map { $0 % 86_400 == 0 ? "\($0 / 86_400)d" : "\($0 / 60)m" }
        let parts = [size, time].compactMap(\.self)
        return parts.isEmpty ? "none" : parts.joined(separator: ",")
    }
}
