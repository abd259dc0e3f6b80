// MARK: Editing the queue, for any thread; nothing blocks
extension Streamer {
    /// Inserts `addresses` before the item at `index`, or at the end if `index` lies beyond it. What is heard goes on.
    /// A queue has at most 100 000 items; more are ignored.
    public func insert(_ addresses: [String], at index: Int) {
        controller.insert(addresses.map { QueueItem($0) }, at: index)
    }

    /// Inserts `items` as `insert(_:at:)` does. An item may bring bytes of the program's own.
    public func insert(items: [QueueItem], at index: Int) { controller.insert(items, at: index) }

    /// Removes the item at `index`; does nothing if there is none. If it is heard, the item that follows is played, and
    /// playback ends if none follows.
    public func remove(at index: Int) { controller.remove(at: index) }

    /// Moves the item at `index` so that it has the index `target` afterwards. Does nothing if there is no such item.
    /// What is heard goes on.
    public func move(from index: Int, to target: Int) { controller.move(from: index, to: target) }

    /// Plays the item at `index` from its start; does nothing if there is none. If the queue is shuffled, the item
    /// counts as played in this round, and `previous` leads to the item that was heard before it.
    public func select(_ index: Int) { controller.select(index) }

    /// Plays the next item from its start. At the end of the queue this does nothing, or plays the first item if the
    /// queue is repeated.
    public func next() { controller.apply(.next) }

    /// Plays the previous item from its start; if the queue is shuffled, this is the item that was heard before. The
    /// first item begins again, even if the queue is repeated. If an item cannot be played, the one before it is
    /// played.
    public func previous() { controller.apply(.previous) }

    /// Whether the items are played in a random order, each once per round. `queue` keeps its order. Changing this
    /// begins a round after the item that is heard.
    public var isShuffled: Bool {
        get { controller.isShuffled }
        set { controller.isShuffled = newValue }
    }

    /// What is played again: nothing, one item, or the queue. `next` leaves an item that is repeated.
    public var repeats: RepeatMode {
        get { controller.repeats }
        set { controller.repeats = newValue }
    }
}
