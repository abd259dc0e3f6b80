import TenfourAudioCore
import TenfourPlayer
import TenfourSystem

/// Remembers in a file where long items and queues are left: `tenfour/positions` in `$XDG_STATE_HOME` or in `~/.local/state`. Only
/// its owner can read it. Errors are ignored, since playback does not depend on it.
final class ResumeFile: Sendable {
    private let path: String
    private let contents: Locked<Contents>

    private struct Contents {
        /// The identities that were asked for. An item is resumed once, so that it can be played from its start, too.
        var asked: Set<MediaIdentity> = []
        /// The queue and its item that was written last.
        var queue: QueuePlace?
        /// The place that was reached last, and the time when it was written.
        var place: HeardPlace?
        var written: ContinuousClock.Instant?
    }

    /// The time between two writes of one item's place, so that little is lost in a crash.
    private static let interval = Duration.seconds(30)

    /// Creates a file at `path`. It need not exist.
    init(path: String) {
        self.path = path
        contents = Locked(Contents())
    }

    /// The path of the user's file; nil without HOME.
    static var usualPath: String? {
        UserFile.folder("XDG_STATE_HOME", otherwise: ".local/state").map { $0 + "/tenfour/positions" }
    }

    /// Returns where the item was left, once for each item. For any thread; reads the file.
    func position(of identity: MediaIdentity, duration: Duration?) -> Duration? {
        guard contents.withLock({ $0.asked.insert(identity).inserted }) else { return nil }
        return read()?.position(of: identity, duration: duration)
    }

    /// Records the place that is heard; nil if nothing is heard that can be found again. Writes the file when another
    /// item is heard, and every 30 s.
    func update(_ place: HeardPlace?) {
        let now = ContinuousClock.now
        let written = contents.withLock { contents -> HeardPlace? in
            let isOther = place?.identity != contents.place?.identity
            let isDue = contents.written.map { now - $0 >= Self.interval } ?? true
            let due = isOther || isDue ? contents.place : nil
            contents.place = place
            if isOther || isDue { contents.written = now }
            return due
        }
        if let written { write(written) }
    }

    /// Writes the place that was reached last.
    func finish() { if let place = contents.withLock({ $0.place }) { write(place) } }

    /// Returns where the queue of these addresses was left; nil if it is not known. Reads the file.
    func queue(of addresses: [String]) -> ResumedQueue? {
        guard let positions = read(), let queue = positions.queue(of: addresses) else { return nil }
        return ResumedQueue(positions: positions, queue: queue)
    }

    /// Records the item of a queue that is heard. Writes the file if it is another one than before.
    func update(_ place: QueuePlace) {
        let isNew = contents.withLock { contents in
            defer { contents.queue = place }
            return contents.queue != place
        }
        guard isNew else { return }
        change { $0.record(place.item.map { ($0, place.typed) }, ofQueue: place.addresses) }
    }

    private func read() -> ResumePositions? {
        let bytes = UserFile.bytes(of: path, limit: ResumePositions.maximumByteCount + 1)
        return bytes.flatMap { String(validating: $0, as: UTF8.self) }.flatMap { ResumePositions(parsing: $0) }
    }

    private func write(_ place: HeardPlace) {
        guard let duration = place.duration, duration >= ResumePositions.shortestItem else { return }
        change { $0.record(place) }
    }

    /// Reads the file anew, since another player may have changed it, and replaces it.
    private func change(_ change: (inout ResumePositions) -> Void) {
        let old = read()
        var positions = old ?? ResumePositions(salt: Self.newSalt())
        change(&positions)
        guard positions != old else { return }
        UserFile.replace(path, by: Array(positions.text.utf8))
    }

    private static func newSalt() -> String {
        ResumePositions.hexadecimal((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    }
}
