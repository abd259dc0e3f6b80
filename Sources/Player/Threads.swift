internal import Feed
internal import Handoff
internal import SoundCard
internal import Synchronization

/// The threads of a streamer, to be waited for.
final class Threads: Sendable {
    private final class Thread: @unchecked Sendable {
        private var thread: AudioThread?
        init(_ thread: consuming AudioThread) { self.thread = consume thread }
        func join() { thread.take()?.join() }
    }

    private let threads = Locked<[Thread]>([])

    func start<Work: ~Copyable & Sendable>(
        _ name: String, priority: Int?, _ work: consuming Work, _ body: @escaping @Sendable (consuming Work) -> Void
    ) throws(StreamError) {
        do throws(AudioThreadError) {
            let thread = Thread(
                try AudioThread(name, priority: priority, stackByteCount: 1 << 21, work: work) { work, _ in body(work) }
            )
            threads.withLock { $0.append(thread) }
        } catch {
            throw .unusable(error.description)
        }
    }

    func join() {
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in threads { thread.join() }
    }
}

/// What the worker's thread is given for its own.
struct Work: ~Copyable, Sendable {
    var producer: HandoffProducer<SoundBlock>
    var renderer: Renderer?
}

/// Looks at the audio thread and tells how it goes, while the worker may wait for bytes.
struct Looking {
    let director: Director

    /// In milliseconds.
    private static let interval: Int32 = 50

    func run() {
        var isLively = false
        var count = 0
        while !director.controls.isOver.load(ordering: .relaxed) {
            director.watch.wait(atMost: isLively ? Self.interval : -1)
            isLively = director.look(tells: count % 2 == 0)
            count += 1
        }
    }
}
