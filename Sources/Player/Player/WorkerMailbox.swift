internal import TenfourMediaSource
internal import TenfourSystem

/// The mailbox of the worker: holds its next job. A job that supersedes the present job interrupts it, even while the
/// worker waits for bytes.
final class WorkerMailbox: Sendable {
    enum Job: Equatable, Sendable {
        case open(item: Int, at: Duration?, generation: Int)
        /// Read this item after the present item.
        case append(item: Int, generation: Int)
        /// Seek in `item`, which is opened if necessary.
        case seek(Duration, item: Int, generation: Int)
        case close
    }

    private struct Contents: Sendable {
        var job: Job?
        /// The source that the worker may be waiting for.
        var byteSource: (any ByteSource)?
        /// The source of the next item, which is being prefetched; nil if there is none.
        var ahead: (any ByteSource)?
        /// The source of the item before, which fades out; nil if there is none.
        var fading: (any ByteSource)?
        var isPaused = false
        var isOver = false

        var isReplacing: Bool {
            switch job {
            case .none, .append: false
            case .open, .seek, .close: true
            }
        }

        func interrupt() {
            byteSource?.interrupt()
            fading?.interrupt()
        }
    }

    let wakeup: WakeupPipe
    let parameters = PlaybackParameters()
    private let contents = Locked(Contents())

    init(wakeup: WakeupPipe) { self.wakeup = wakeup }

    /// Posts a job, which replaces a posted job that has not begun. Any thread may call it.
    func post(_ job: Job) {
        contents.withLock { contents in
            contents.job = job
            if case .append = job { return }
            contents.interrupt()
        }
        wakeup.signal()
    }

    /// Ends the worker.
    func end() {
        contents.withLock { contents in
            contents.isOver = true
            contents.interrupt()
        }
        wakeup.signal()
    }

    /// Pauses or resumes the present sources and all sources attached later.
    func pause(_ isPaused: Bool) {
        contents.withLock { contents in
            contents.isPaused = isPaused
            contents.byteSource?.pause(isPaused)
            contents.ahead?.pause(isPaused)
        }
    }

    var byteSourceState: ByteSourceState? { contents.withLock { $0.byteSource }?.state }

    // MARK: Worker's thread

    /// Sets the source that the worker reads, and the one that fades out before it; nil for none.
    func attach(_ byteSource: (any ByteSource)?, fading: (any ByteSource)? = nil) {
        contents.withLock { contents in
            contents.byteSource = byteSource
            contents.fading = fading
            byteSource?.pause(contents.isPaused)
            if contents.isOver || contents.isReplacing { contents.interrupt() }
        }
    }

    /// Sets the prefetched source; nil for none.
    func attach(ahead byteSource: (any ByteSource)?) {
        contents.withLock { contents in
            contents.ahead = byteSource
            byteSource?.pause(contents.isPaused)
        }
    }

    var isOver: Bool { contents.withLock { $0.isOver } }

    /// Whether the present job has been superseded.
    var isReplaced: Bool { contents.withLock { $0.isOver || $0.isReplacing } }

    func take() -> Job? {
        contents.withLock { contents in
            guard let job = contents.job else { return nil }
            contents.job = nil
            contents.byteSource?.resume()
            contents.fading?.resume()
            return job
        }
    }
}
