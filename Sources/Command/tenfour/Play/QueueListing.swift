import TenfourAudioCore
import TenfourCommandSupport
import TenfourPlayer

/// The queue as lines for people, with the item that is heard marked.
enum QueueListing {
    /// The number of items shown around the one that is heard.
    private static let maximumCount = 20

    /// Returns one line per item, such as `> 3 /music/song.mp3`; of a long queue those around the item `current`.
    static func lines(_ queue: [QueueItem], current: Int) -> [String] {
        if queue.isEmpty { return ["the queue is empty"] }
        let first = max(0, min(current - maximumCount / 2, queue.count - maximumCount))
        let range = first..<min(first + maximumCount, queue.count)
        let width = "\(range.upperBound)".count
        var lines = range.map { index in
            let number = "\(index + 1)"
            let padding = String(repeating: " ", count: width - number.count)
            let title = queue[index].title.map { "  \($0)" } ?? ""
            return "\(index == current ? ">" : " ") \(padding)\(number) \(queue[index].name)\(title)"
        }
        if range.lowerBound > 0 { lines.insert("  \(range.lowerBound) items before", at: 0) }
        if range.upperBound < queue.count { lines.append("  \(queue.count - range.upperBound) items after") }
        return lines
    }
}
