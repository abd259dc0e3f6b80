import TenfourMediaSource
import TenfourPlayer

/// The item of a queue that is heard.
struct QueuePlace: Equatable, Sendable {
    /// The addresses that the user typed, as `absolute` returns them.
    var addresses: [String]
    /// The item; nil if the queue was heard to its end.
    var item: String?
    /// The typed address to which the item belongs.
    var typed = ""

    /// The place of a player whose queue came from `addresses`; nil for a queue of one item, which has none.
    init?(_ streamer: Streamer, _ addresses: [String]) {
        let (queue, index) = (streamer.queue, streamer.progress.item)
        guard queue.count > 1, queue.indices.contains(index) else { return nil }
        self.addresses = addresses
        guard streamer.state != .ended(.finished) else { return }
        (item, typed) = (queue[index].placeName, queue[index].typedName)
    }

    /// The addresses independent of the folder in which they were typed.
    static func absolute(_ addresses: [String]) -> [String] { addresses.map { QueueItem($0).placeName } }
}

/// A queue that is opened where it was left.
struct ResumedQueue {
    let positions: ResumePositions
    let queue: ResumePositions.Queue

    /// Goes to the item at which the queue was left, once it is there. Returns whether it can begin to play: the item was
    /// found, or it is not in the queue any more.
    func select(in streamer: Streamer) -> Bool {
        let items = streamer.queue.map { (name: $0.placeName, typed: $0.typedName) }
        guard let index = positions.index(of: queue, among: items) else {
            // A list that is opened first may still contain it.
            return streamer.track != nil || streamer.state.isOver
        }
        if index != streamer.progress.item { streamer.select(index) }
        return positions.isItem(items[index].name, of: queue) || streamer.track != nil || streamer.state.isOver
    }
}
