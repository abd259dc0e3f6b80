internal import TenfourMediaSource
internal import TenfourSystem

// MARK: Editing the queue
extension PlaybackController {
    func enqueue(_ items: [QueueItem]) { insert(items, at: .max) }

    /// Inserts items before the one at `index`, which is limited to the queue. Ignores items beyond the longest queue.
    func insert(_ items: [QueueItem], at index: Int) {
        contents.withLock { contents in
            let items = items.prefix(Self.maximumQueueLength - contents.queue.count)
            guard !items.isEmpty else { return }
            let index = min(max(index, 0), contents.queue.count)
            contents.queue.insert(contentsOf: items, at: index)
            change(.inserted(itemCount: items.count, at: index), &contents)
        }
    }

    /// Removes the item at `index`. Does nothing if there is none.
    func remove(at index: Int) {
        contents.withLock { contents in
            guard contents.queue.indices.contains(index) else { return }
            let position = requestedPosition(&contents).value
            let item = contents.machine.order.items[index]
            contents.queue.remove(at: index)
            contents.facts[item] = nil
            change(.removed(index: index, at: position), &contents)
        }
    }

    /// Moves an item. Does nothing if there is none; `target` is limited to the queue.
    func move(from source: Int, to target: Int) {
        contents.withLock { contents in
            guard contents.queue.indices.contains(source) else { return }
            let target = min(max(target, 0), contents.queue.count - 1)
            contents.queue.insert(contents.queue.remove(at: source), at: target)
            change(.moved(from: source, to: target), &contents)
        }
    }

    /// Plays the item at `index` from its start. Does nothing if there is none.
    func select(_ index: Int) {
        contents.withLock { contents in
            guard contents.queue.indices.contains(index) else { return }
            apply(.select(index: index), to: &contents)
        }
    }

    var isShuffled: Bool {
        get { contents.withLock { $0.machine.order.isShuffled } }
        set {
            contents.withLock { contents in
                if newValue != contents.machine.order.isShuffled { change(.shuffle(newValue), &contents) }
            }
        }
    }

    var repeats: RepeatMode {
        get { contents.withLock { $0.machine.order.repeats } }
        set {
            contents.withLock { contents in
                if newValue != contents.machine.order.repeats { change(.repeats(newValue), &contents) }
            }
        }
    }

    /// Applies a change of the queue and tells the observers.
    func change(_ input: StreamStateMachine.Input, _ contents: inout Contents) {
        contents.observers.send(.queue)
        apply(input, to: &contents)
    }
}
