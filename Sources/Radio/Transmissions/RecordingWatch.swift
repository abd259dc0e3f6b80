internal import CLinux
internal import TenfourSystem

/// Waits for recordings that are completed in a directory.
///
/// One thread at a time may use it.
public final class RecordingWatch {
    private let watch: InotifyWatch
    /// The cookie of the last file that was moved out of its name. If it was moved within the directory, the next event
    /// has the same.
    private var leaving: UInt32?

    public enum News: Equatable, Sendable {
        /// Files with the names of recordings were closed or moved into the directory, each named once. A file that gets
        /// another name within the directory is not news.
        case completed([String])
        /// More happened than the system could remember: the directory is to be read again.
        case overflow
        /// The directory was removed or moved away.
        case isGone
    }

    /// Begins to watch. Throws if the directory cannot be watched.
    public init(_ path: String) throws(RecordingError) {
        do throws(InotifyError) {
            watch = try InotifyWatch(
                path, for: [.closedAfterWriting, .movedAway, .movedHere, .folderDeleted, .folderMoved])
        } catch {
            throw RecordingError(reading: path, error.code)
        }
    }

    /// Returns what has happened since the last call, after at most `milliseconds`; nil if nothing has.
    public func next(within milliseconds: Int32) -> News? {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        var rest = milliseconds
        while clinux_wait_readable(watch.descriptor, rest) > 0 {
            if let news = news(in: watch.events()) { return news }
            // These events concerned no recording.
            rest = Int32(max(ContinuousClock.now.duration(to: end) / .milliseconds(1), 0))
        }
        return nil
    }

    private func news(in events: [InotifyEvent]) -> News? {
        var names: [String] = []
        for event in events {
            if !event.kinds.isDisjoint(with: [.folderDeleted, .folderMoved, .ended]) { return .isGone }
            let isRenamed = event.kinds.contains(.movedHere) && event.cookie == leaving
            leaving = event.kinds.contains(.movedAway) ? event.cookie : nil
            if isRenamed || leaving != nil { continue }
            if RecordingName(parsing: event.name) != nil, !names.contains(event.name) { names.append(event.name) }
        }
        if events.contains(where: { $0.kinds.contains(.overflow) }) { return .overflow }
        return names.isEmpty ? nil : .completed(names)
    }
}
