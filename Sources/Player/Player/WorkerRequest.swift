internal import TenfourMediaSource
internal import TenfourRings

/// What the worker is to do next. A job that makes the one at work pointless comes in between, even where that waits for bytes.
final class WorkerRequest: Sendable {
    enum Job: Equatable, Sendable {
        case open(item: Int, at: Duration?, generation: Int)
        /// Behind what is read now.
        case append(item: Int, generation: Int)
        /// Within `item`, which is opened where it is not.
        case seek(Duration, item: Int, generation: Int)
        case close
    }

    private struct Contents: Sendable {
        var job: Job?
        /// What the worker may be waiting for.
        var download: (any ByteSource)?
        /// What is fetched to be read after it.
        var ahead: (any ByteSource)?
        var isPaused = false
        var isOver = false

        var isReplacing: Bool {
            switch job {
            case .none, .append: false
            case .open, .seek, .close: true
            }
        }
    }

    let bell: ThreadWakeup
    let treatment = PlaybackParameters()
    private let contents = Locked(Contents())

    init(bell: ThreadWakeup) { self.bell = bell }

    /// Any thread. In place of one that was not begun.
    func post(_ job: Job) {
        contents.withLock { contents in
            contents.job = job
            if case .append = job { return }
            contents.download?.interrupt()
        }
        bell.ring()
    }

    /// Ends the worker.
    func end() {
        contents.withLock { contents in
            contents.isOver = true
            contents.download?.interrupt()
        }
        bell.ring()
    }

    /// What is attached later is paused as well.
    func pause(_ isPaused: Bool) {
        contents.withLock { contents in
            contents.isPaused = isPaused
            contents.download?.pause(isPaused)
            contents.ahead?.pause(isPaused)
        }
    }

    var downloadState: ByteSourceState? { contents.withLock { $0.download }?.state }

    // The rest is the worker's.

    /// What it reads from now on.
    func attach(_ download: (any ByteSource)?) {
        contents.withLock { contents in
            contents.download = download
            download?.pause(contents.isPaused)
            if contents.isOver || contents.isReplacing { download?.interrupt() }
        }
    }

    /// What it will read then.
    func attach(ahead download: (any ByteSource)?) {
        contents.withLock { contents in
            contents.ahead = download
            download?.pause(contents.isPaused)
        }
    }

    var isOver: Bool { contents.withLock { $0.isOver } }

    /// Whether what is at work is pointless by now.
    var isReplaced: Bool { contents.withLock { $0.isOver || $0.isReplacing } }

    func take() -> Job? {
        contents.withLock { contents in
            guard let job = contents.job else { return nil }
            contents.job = nil
            contents.download?.resume()
            return job
        }
    }
}
