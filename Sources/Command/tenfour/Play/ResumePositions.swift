import TenfourAudioCore
import TenfourChannelKeys
import TenfourPlayer

/// The places at which long items and queues were left, as the text of a file. Knows no files and no clock.
///
/// An item is known by a hash of its identity and of the file's salt, and a queue by one of what was typed, so that the text reveals neither names nor secrets
/// of addresses.
struct ResumePositions: Equatable {
    private(set) var entries: [Entry] = []
    private(set) var queues: [Queue] = []
    private let salt: String

    struct Entry: Equatable {
        var key: String
        /// The place in milliseconds from the start of the item.
        var milliseconds: Int
    }

    /// The item at which a queue was left, by hashes.
    struct Queue: Equatable {
        var key: String
        /// The item.
        var item: String
        /// The address that the user typed to which the item belongs.
        var typed: String
    }

    /// The duration from which on an item is remembered.
    static let shortestItem = Duration.seconds(600)
    /// The duration at the start and at the end of an item in which it does not count as left.
    static let margin = Duration.seconds(10)
    static let maximumCount = 500
    static let maximumQueueCount = 100
    /// The largest size of the text in bytes; more is not read.
    static let maximumByteCount = 1 << 16

    private static let title = "tenfour resume positions 1"

    /// Creates an empty table. `salt` is 32 random hexadecimal digits.
    init(salt: String) { self.salt = salt }

    /// Parses the text of a file; nil if it is none of these files. Lines that cannot be read are left out.
    init?(parsing text: String) {
        guard text.utf8.count <= Self.maximumByteCount else { return nil }
        var lines = text.split(separator: "\n")[...]
        guard lines.popFirst() == Self.title[...], let salt = lines.popFirst(), Self.isHexadecimal(salt, count: 32)
        else {
            return nil
        }
        self.salt = String(salt)
        for line in lines.suffix(Self.maximumCount + Self.maximumQueueCount) {
            let words = line.split(separator: " ")
            if words.count == 3, words.allSatisfy({ Self.isHexadecimal($0, count: 64) }) {
                queues.append(Queue(key: String(words[0]), item: String(words[1]), typed: String(words[2])))
                continue
            }
            guard words.count == 2, Self.isHexadecimal(words[0], count: 64), let milliseconds = Int(words[1]),
                (0..<Int(1e12)).contains(milliseconds)
            else { continue }
            entries.append(Entry(key: String(words[0]), milliseconds: milliseconds))
        }
    }

    /// The text of the file, at most `maximumByteCount` bytes.
    var text: String {
        let lines =
            [Self.title, salt] + entries.map { "\($0.key) \($0.milliseconds)" }
            + queues.map { "\($0.key) \($0.item) \($0.typed)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns where the item was left; nil if it is not known, too short, or was heard to its end.
    func position(of identity: MediaIdentity, duration: Duration?) -> Duration? {
        guard let duration, duration >= Self.shortestItem else { return nil }
        let key = key(of: identity)
        guard let entry = entries.last(where: { $0.key == key }) else { return nil }
        let position = Duration.milliseconds(entry.milliseconds)
        return position < duration - Self.margin ? position : nil
    }

    /// Records the place that was reached. An item that has hardly begun or is as good as over is forgotten. Items that
    /// are too short are ignored.
    mutating func record(_ place: HeardPlace) {
        guard let duration = place.duration, duration >= Self.shortestItem else { return }
        let key = key(of: place.identity)
        entries.removeAll { $0.key == key }
        guard place.position >= Self.margin, place.position < duration - Self.margin else { return }
        entries.append(Entry(key: key, milliseconds: Int(place.position / .milliseconds(1))))
        entries.removeFirst(max(entries.count - Self.maximumCount, 0))
    }

    /// Returns where the queue of these addresses was left; nil if it is not known, or was heard to its end.
    func queue(of addresses: [String]) -> Queue? {
        let key = key(of: addresses)
        return queues.last { $0.key == key }
    }

    /// Records at which item the queue of `addresses` is; nil if it was heard to its end.
    mutating func record(_ item: (name: String, typed: String)?, ofQueue addresses: [String]) {
        let key = key(of: addresses)
        queues.removeAll { $0.key == key }
        guard let item else { return }
        queues.append(Queue(key: key, item: hash(item.name), typed: hash(item.typed)))
        queues.removeFirst(max(queues.count - Self.maximumQueueCount, 0))
    }

    /// Returns the index of the item at which `queue` was left, among items with these names and typed addresses. If the
    /// item is not there yet, returns that of the folder or list that contains it, and nil if that is not there either.
    func index(of queue: Queue, among items: [(name: String, typed: String)]) -> Int? {
        items.firstIndex { hash($0.name) == queue.item }
            ?? items.firstIndex { $0.name == $0.typed && hash($0.typed) == queue.typed }
    }

    /// Returns whether `name` is the item at which `queue` was left.
    func isItem(_ name: String, of queue: Queue) -> Bool { hash(name) == queue.item }

    private func key(of addresses: [String]) -> String { hash("queue " + addresses.joined(separator: "\n")) }

    private func key(of identity: MediaIdentity) -> String {
        let numbers = [identity.byteCount.map { "\($0)" }, identity.modified.map { "\($0)" }].map { $0 ?? "-" }
        let parts = [numbers[0], numbers[1], "\(Int(identity.start / .milliseconds(1)))", identity.address]
        return hash(parts.joined(separator: " "))
    }

    private func hash(_ text: String) -> String {
        let digest = sha256(Array("\(salt) \(text)".utf8).span)
        return Self.hexadecimal((0..<32).map { digest[$0] })
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    private static func isHexadecimal(_ text: Substring, count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
