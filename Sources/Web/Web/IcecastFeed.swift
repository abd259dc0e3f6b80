internal import TenfourSystem

/// Feeds one mount point on a thread of its own, and connects again for as long as it lives.
///
/// Any thread may call any method, and none of them waits for the server.
public final class IcecastFeed: Sendable {
    private let shared: Locked<Shared>
    private let wakeup: WakeupPipe

    /// The audio that waits, and the status that other threads read.
    struct Shared {
        var isStopping = false
        var header: [UInt8] = []
        var pages = PageQueue()
        var status: IcecastStatus
    }

    /// Starts the thread. `changed` is called on it with the new status when the feed begins and when its state
    /// changes. Throws if libshout is missing, or if the system cannot create a thread.
    public init(
        channel: String, _ settings: IcecastSettings, changed: @escaping @Sendable (IcecastStatus) -> Void = { _ in }
    ) throws(IcecastFeedError) {
        do throws(ShoutMissing) { try loadShout() } catch { throw IcecastFeedError(description: error.description) }
        let shared = Locked(Shared(status: IcecastStatus(channel: channel, settings: settings)))
        do {
            let wakeup = try WakeupPipe()
            try WorkerThread.detached {
                var run = FeedRun(settings, shared, wakeup, changed)
                run.untilStopped()
            }
            self.wakeup = wakeup
        } catch {
            throw IcecastFeedError(
                description: "the system can start no thread for the Icecast server; close other programs")
        }
        self.shared = shared
    }

    deinit { stop() }

    /// Sets the header pages, which each connection sends first. Pages that wait are dropped, because they belong to an
    /// earlier stream.
    public func begin(header: [UInt8]) {
        shared.withLock { shared in
            shared.header = header
            shared.status.droppedByteCount += shared.pages.removeAll()
        }
        wakeup.signal()
    }

    /// Adds whole Ogg pages. The oldest pages are dropped if too many wait.
    public func append(_ pages: [UInt8]) {
        shared.withLock { shared in shared.status.droppedByteCount += shared.pages.append(pages) }
        wakeup.signal()
    }

    public var status: IcecastStatus { shared.withLock(\.status) }

    /// Ends the feed soon. Its thread is not waited for, because it may look up the server's name.
    public func stop() {
        shared.withLock { $0.isStopping = true }
        wakeup.signal()
    }
}

/// The reason why a feed could not start, and the remedy.
public struct IcecastFeedError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}

/// Pages that wait to be sent, at most `maximumByteCount`.
struct PageQueue: Sendable {
    private var pages: [[UInt8]] = []
    private(set) var byteCount = 0

    /// About 15 seconds of speech at 64 kbit/s.
    static let maximumByteCount = 128 << 10

    /// Adds pages, and returns the number of bytes that had to be dropped for them.
    mutating func append(_ page: [UInt8]) -> Int {
        pages.append(page)
        byteCount += page.count
        var dropped = 0
        while byteCount > Self.maximumByteCount, !pages.isEmpty {
            let oldest = pages.removeFirst()
            byteCount -= oldest.count
            dropped += oldest.count
        }
        return dropped
    }

    mutating func removeAll() -> Int {
        defer { (pages, byteCount) = ([], 0) }
        return byteCount
    }

    /// Returns all pages, oldest first, and removes them.
    mutating func takeAll() -> [UInt8] {
        defer { (pages, byteCount) = ([], 0) }
        return Array(pages.joined())
    }
}
