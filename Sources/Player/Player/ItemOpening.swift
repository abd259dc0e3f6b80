internal import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourSystem

/// Opens an item on a thread of its own, which ends when it is open.
final class ItemOpening: Sendable {
    /// The result. The opening thread hands it over, and does not use it afterwards.
    private struct Outcome: @unchecked Sendable {
        var result: Result<OpenedMedia, StreamError>
    }

    private let outcome = Locked<Outcome?>(nil)
    private let threads = PlayerThreads()

    /// Starts the thread. Throws if there can be no more threads.
    init(
        of item: QueueItem, _ byteSource: any ByteSource, _ opener: any QueueItemOpener, as format: LPCMFormat
    ) throws(StreamError) {
        let outcome = outcome
        try threads.start("open", priority: nil, byteSource) { byteSource in
            let result = Result { () throws(StreamError) in try opener.open(byteSource, of: item, as: format) }
            outcome.withLock { $0 = Outcome(result: result) }
        }
    }

    var isDone: Bool { outcome.withLock { $0 != nil } }

    /// Whether the item is open, and is audio.
    var hasMedia: Bool {
        outcome.withLock {
            guard case .success(.media)? = $0?.result else { return false }
            return true
        }
    }

    /// Waits for the end of the opening. It ends soon after its byte source was interrupted or stopped.
    func wait() { threads.join() }

    /// Waits for the end of the opening and returns what was opened.
    func media() throws(StreamError) -> OpenedMedia {
        wait()
        guard let outcome = outcome.withLock({ $0 }) else {
            throw .unusable("the item was not opened; play it again", kind: .resourcesExhausted)
        }
        return try outcome.result.get()
    }
}
