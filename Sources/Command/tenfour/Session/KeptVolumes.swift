/// The volumes that the user has set for talkers, by their names, as the text of a file. Knows no files.
struct KeptVolumes: KeptTable, Equatable {
    /// The entry that was set last is the last one.
    private(set) var entries: [Entry] = []

    struct Entry: Equatable {
        var name: String
        var volume: TalkerVolume
    }

    static let maximumCount = 100
    static let maximumByteCount = 1 << 15
    private static let maximumNameByteCount = 200
    private static let title = "tenfour talker volumes 1"

    init() {}

    /// Parses the text of a file; nil if it is none of these files. Lines that cannot be read are left out.
    init?(parsing text: String) {
        var lines = text.split(separator: "\n")[...]
        guard lines.popFirst() == Self.title[...] else { return nil }
        for line in lines.suffix(Self.maximumCount) {
            let words = line.split(separator: " ", maxSplits: 2)
            guard words.count == 3, let isMuted = ["heard": false, "muted": true][words[0]],
                let decibels = Double(words[1]), decibels.isFinite
            else { continue }
            set(TalkerVolume(decibels: decibels, isMuted: isMuted), of: String(words[2]))
        }
    }

    /// The text of the file, at most `maximumByteCount` bytes.
    var text: String {
        let lines = entries.map { "\($0.volume.isMuted ? "muted" : "heard") \($0.volume.decibels) \($0.name)" }
        return ([Self.title] + lines).joined(separator: "\n") + "\n"
    }

    /// Returns the volume of the talkers with this name; nil if none was set.
    func volume(of name: String) -> TalkerVolume? { entries.last { $0.name == name }?.volume }

    /// Sets the volume of the talkers with this name. The usual volume is not kept, and neither is that of a name that is
    /// empty or has control characters.
    mutating func set(_ volume: TalkerVolume, of name: String) {
        entries.removeAll { $0.name == name }
        guard volume != .usual, !name.isEmpty, name.utf8.count <= Self.maximumNameByteCount,
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { return }
        entries.append(Entry(name: name, volume: volume))
        entries.removeFirst(max(entries.count - Self.maximumCount, 0))
    }
}

/// The volume of a talker.
struct TalkerVolume: Hashable, Sendable {
    /// The volume in decibels, also while the talker is muted.
    var decibels: Double
    var isMuted: Bool

    static let usual = TalkerVolume(decibels: 0, isMuted: false)
}
