internal import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourSystem

/// The item after the one that is read: fetches it ahead and, for a crossfade, opens it ahead, on a thread of its own, so
/// that playback waits for neither. For the worker's thread.
///
/// At most one item is opened at a time: it is taken, or dropped, before another one begins.
final class NextItem {
    private let opener: any QueueItemOpener
    private let format: LPCMFormat
    private let mailbox: WorkerMailbox
    private var prefetched: Prefetched? {
        didSet { mailbox.attach(ahead: prefetched?.byteSource) }
    }

    private struct Prefetched {
        var item: QueueItem
        var byteSource: any ByteSource
        var opening: ItemOpening?
    }

    /// The number of bytes after which a crossfade may begin although more will arrive.
    private static let leastByteCount = 1 << 16

    init(_ opener: any QueueItemOpener, as format: LPCMFormat, _ mailbox: WorkerMailbox) {
        (self.opener, self.format, self.mailbox) = (opener, format, mailbox)
    }

    /// The prefetched item; nil if there is none.
    var item: QueueItem? { prefetched?.item }

    /// Drops the prefetched item unless it is `item`.
    func drop(unless item: QueueItem?) {
        guard let prefetched, prefetched.item != item else { return }
        // Ends the opening, too, which then waits for nothing.
        prefetched.byteSource.stop()
        prefetched.opening?.wait()
        self.prefetched = nil
    }

    /// Begins to fetch `item` if it is not fetched yet. Ignores an error, which is reported when the item is opened.
    func prefetch(_ item: QueueItem) {
        drop(unless: item)
        guard prefetched == nil, let byteSource = try? opener.begin(item) else { return }
        prefetched = Prefetched(item: item, byteSource: byteSource)
    }

    /// Begins to open `item` if it is the prefetched one.
    func open(_ item: QueueItem) {
        guard let prefetched, prefetched.item == item, prefetched.opening == nil else { return }
        self.prefetched?.opening = try? ItemOpening(of: item, prefetched.byteSource, opener, as: format)
    }

    /// Whether a crossfade to `item` can begin: it was opened, it is audio, and enough of it has arrived.
    func isReady(_ item: QueueItem) -> Bool {
        guard let prefetched, prefetched.item == item, prefetched.opening?.hasMedia == true else { return false }
        let state = prefetched.byteSource.state
        return state.phase == .ended || state.phase == .full || state.available.count >= Self.leastByteCount
    }

    /// Waits until the opening of `item` has ended, or a newer job comes. For an output that has no clock.
    func waitUntilOpened(_ item: QueueItem) {
        while let prefetched, prefetched.item == item, let opening = prefetched.opening, !opening.isDone,
            !mailbox.isReplaced
        {
            mailbox.wakeup.wait(atMost: 5)
        }
    }

    /// Returns the prefetched source of `item`, which the caller owns from now on, and drops any other; nil if it was not
    /// prefetched. `mailbox` interrupts the source from now on.
    func take(_ item: QueueItem) -> (byteSource: any ByteSource, opening: ItemOpening?)? {
        drop(unless: item)
        guard let prefetched else { return nil }
        self.prefetched = nil
        return (prefetched.byteSource, prefetched.opening)
    }
}
