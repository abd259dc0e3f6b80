internal import Glibc

/// The name of a recording's file, such as `2026-11-22T10-03-17Z_family_alice.opus`: the start in UTC, the channel and
/// the talker. A second file of the same second, channel and talker is `…_alice-2.opus`.
struct RecordingName: Hashable, Sendable {
    /// The start, in seconds since 1970.
    var start: Int
    var channel: String
    var talker: String

    static let ending = ".opus"
    /// The length of the start, which is ASCII text.
    private static let timeByteCount = 20
    /// The names of a channel and of a talker that state none.
    private static let (noChannel, noTalker) = ("call", "somebody")
    /// The longest channel or talker in a name, in bytes. File systems allow names of 255 bytes.
    private static let longestPart = 60

    /// Makes the parts safe for a file name.
    init(start: Int, channel: String, talker: String) {
        self.start = start
        self.channel = Self.safe(channel) ?? Self.noChannel
        self.talker = Self.safe(talker) ?? Self.noTalker
    }

    /// Returns the file's name. `attempt` counts from 1.
    func text(attempt: Int = 1) -> String {
        "\(UTCTime(start).fileText)_\(channel)_\(talker)\(attempt > 1 ? "-\(attempt)" : "")\(Self.ending)"
    }

    /// Parses a file's name; nil if no recording of ours has it.
    init?(parsing name: String) {
        guard name.hasSuffix(Self.ending), name.utf8.count <= 255 else { return nil }
        let parts = name.dropLast(Self.ending.count).split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, let time = UTCTime(fileText: parts[0]), !parts[1].isEmpty, !parts[2].isEmpty else {
            return nil
        }
        (start, channel, talker) = (time.seconds, String(parts[1]), String(parts[2]))
    }

    /// Returns the channel and the talker in the name of a recording, such as `family_alice`.
    static func talker(in name: String) -> Substring { name.dropFirst(timeByteCount + 1).dropLast(ending.count) }

    /// Whether the recording `one` comes before `other` in a directory: by its start, then by its name without the ending,
    /// so that `alice-2` comes after `alice`.
    static func areInOrder(_ one: (start: Int, name: String), _ other: (start: Int, name: String)) -> Bool {
        (one.start, one.name.dropLast(ending.count)) < (other.start, other.name.dropLast(ending.count))
    }

    /// Returns the text with only letters, digits, dots and hyphens, which begins with a letter or digit; nil if it has
    /// none.
    private static func safe(_ text: String) -> String? {
        var name = ""
        for scalar in text.unicodeScalars {
            let properties = scalar.properties
            let isWord: Bool =
                switch properties.generalCategory {
                case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
                case .decimalNumber: true
                case .nonspacingMark, .spacingMark: !name.isEmpty && name.last != "-"
                default: false
                }
            // A dot is kept within a name, such as that of a host.
            let isDot = scalar == "." && !name.isEmpty && name.last != "." && name.last != "-"
            if isWord || isDot {
                guard name.utf8.count + String(scalar).utf8.count <= longestPart else { break }
                name.unicodeScalars.append(scalar)
            } else if !name.isEmpty, name.last != "-", name.last != "." {
                guard name.utf8.count < longestPart else { break }
                name += "-"
            }
        }
        while name.last == "-" || name.last == "." { name.removeLast() }
        return name.isEmpty ? nil : name
    }
}

/// A time as a date and a clock time in UTC. The C functions are `gmtime_r` and `timegm`.
struct UTCTime: Hashable, Sendable {
    /// Seconds since 1970.
    var seconds: Int

    init(_ seconds: Int) { self.seconds = seconds }

    /// The time as `2026-11-22T10:03:17Z`.
    var text: String { text(between: ":") }
    /// The time as `2026-11-22T10-03-17Z`, without characters that file systems refuse.
    var fileText: String { text(between: "-") }

    /// Parses `2026-11-22T10-03-17Z`.
    init?(fileText text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 20 else { return nil }
        for (place, mark) in [(4, "-"), (7, "-"), (10, "T"), (13, "-"), (16, "-"), (19, "Z")] {
            guard bytes[place] == mark.utf8.first else { return nil }
        }
        func number(_ range: Range<Int>) -> Int32? {
            var number: Int32 = 0
            for byte in bytes[range] {
                guard (0x30...0x39).contains(byte) else { return nil }
                number = number * 10 + Int32(byte - 0x30)
            }
            return number
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            year >= 1970, 1...12 ~= month, 1...31 ~= day, hour < 24, minute < 60, second < 61
        else { return nil }
        var parts = unsafe tm()
        unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1_900, month - 1, day)
        unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
        seconds = unsafe timegm(&parts)
    }

    private func text(between mark: String) -> String {
        var (moment, parts) = unsafe (time_t(min(max(seconds, 0), 253_402_300_799)), tm())
        guard unsafe gmtime_r(&moment, &parts) != nil else { return "1970-01-01T00\(mark)00\(mark)00Z" }
        let date = unsafe [parts.tm_year + 1_900, parts.tm_mon + 1, parts.tm_mday].map(Self.padded)
        let clock = unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map(Self.padded)
        return "\(date.joined(separator: "-"))T\(clock.joined(separator: mark))Z"
    }

    private static func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
