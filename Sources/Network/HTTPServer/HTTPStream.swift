internal import TenfourAudioCore
public import TenfourUV

/// A live stream of bytes and its listeners: HTTP answers that do not end.
///
/// Use it on the loop's thread only. Bytes are appended in whole pieces, such as an Ogg page or an event. A listener
/// that is more than 3 s late continues at the newest start point after its current piece. A listener that has taken
/// nothing for 10 s is disconnected. Each listener costs one `send` per period, and no allocation.
public final class HTTPStream {
    /// The position at which a new listener begins, after the preamble.
    public enum Beginning: Sendable {
        /// At the newest start point: the newest page, from which a player can decode.
        case newestStartPoint
        /// At the next append, because the preamble contains the current state.
        case nextAppend
    }

    private let loop: EventLoop
    private let shortestPeriod: Duration
    private let beginning: Beginning
    private let preamble: () -> [UInt8]
    private var log: StreamLog
    /// The listeners in groups, of which each is served in its part of the period, so that many listeners make no
    /// burst.
    private var groups: [[StreamListener]]
    private var dueGroup = 0
    private var timer: LoopTimer?

    /// The number of connected listeners.
    public private(set) var listenerCount = 0
    /// The number of times that a late listener has skipped bytes.
    public private(set) var skipCount = 0
    /// The number of listeners that were disconnected because they took nothing.
    public private(set) var expelledCount = 0

    static let lateness = Duration.seconds(3)
    static let patience = Duration.seconds(10)
    private static let groupCount = 5
    /// Many listeners share this rate, since a `send` is nearly all that a listener costs.
    private static let sendsPerSecond = 2000
    private static let longestPeriod = Duration.milliseconds(500)

    /// Creates a stream without listeners. `capacity` is the number of bytes that are kept for late listeners; it
    /// should last 3 s. Each listener is sent the new bytes once every `period`, or at each append if `period` is zero.
    /// Many listeners share 2000 sends a second: with 1000 or more of them the period is 500 ms, its maximum.
    /// `preamble` is called for each new listener and returns the bytes that it gets first, at most about 8 KB.
    public init(
        on loop: EventLoop, capacity: Int = 256 << 10, period: Duration, beginning: Beginning,
        preamble: @escaping () -> [UInt8]
    ) throws(NetworkError) {
        self.loop = loop
        shortestPeriod = period
        self.beginning = beginning
        self.preamble = preamble
        log = StreamLog(capacity: capacity)
        groups = Array(repeating: [], count: period > .zero ? Self.groupCount : 1)
        if period > .zero { timer = try loop.makeTimer { [weak self] in self?.serveDueGroup() } }
    }

    deinit { timer?.close() }

    /// The time between two sends to a listener. It grows with the number of listeners, to at most 500 ms.
    public var period: Duration {
        let fair = Duration.milliseconds(1000 * listenerCount / Self.sendsPerSecond)
        return max(shortestPeriod, min(fair, Self.longestPeriod))
    }

    /// Sends `bytes` to all listeners within the period. `isStartPoint` says that a client can begin with them.
    public func append(_ bytes: Span<UInt8>, isStartPoint: Bool = true) {
        let now = loop.now
        log.append(bytes, isStartPoint: isStartPoint, at: now)
        if timer == nil { serve(0, at: now) }
    }

    /// Disconnects all listeners. Further ones may come.
    public func disconnectAll() {
        for group in groups { for listener in group { listener.connection.end() } }
        for index in groups.indices { groups[index].removeAll() }
        listenerCount = 0
    }

    /// Sends `connection` the preamble and what there is from its beginning. Returns whether it listens from now on:
    /// false if the connection has failed.
    func join(_ connection: HTTPConnection) -> Bool {
        let preamble = preamble()
        let sent = unsafe preamble.withUnsafeBytes { unsafe tenfourSend(connection.descriptor, $0) }
        guard sent == preamble.count else { return false }
        let now = loop.now
        let offset = beginning == .newestStartPoint ? max(log.newestStartPoint, log.start) : log.end
        var listener = StreamListener(connection: connection, offset: offset, progress: now)
        guard serve(&listener, at: now, lateBefore: 0) else { return false }
        // Fills the smallest group.
        let group = groups.indices.min { groups[$0].count < groups[$1].count }!
        groups[group].append(listener)
        listenerCount += 1
        if let timer, timer.deadline == nil { timer.arm(at: now + period / groups.count) }
        return true
    }

    /// Forgets a connection that ends.
    func leave(_ connection: HTTPConnection) {
        for group in groups.indices {
            guard let index = groups[group].firstIndex(where: { $0.connection === connection }) else { continue }
            groups[group].swapAt(index, groups[group].count - 1)
            groups[group].removeLast()
            listenerCount -= 1
            return
        }
    }

    private func serveDueGroup() {
        let now = loop.now
        serve(dueGroup, at: now)
        dueGroup = (dueGroup + 1) % groups.count
        if listenerCount > 0 { timer?.arm(at: now + period / groups.count) }
    }

    private func serve(_ group: Int, at now: Instant) {
        let lateBefore = max(log.start, log.offset(after: now - Self.lateness))
        var index = 0
        while index < groups[group].count {
            if serve(&groups[group][index], at: now, lateBefore: lateBefore) {
                index += 1
            } else {
                groups[group][index].connection.end()
                groups[group].swapAt(index, groups[group].count - 1)
                groups[group].removeLast()
                listenerCount -= 1
            }
        }
    }

    /// Sends a listener what it lacks. Returns false if it is to be disconnected.
    private func serve(_ listener: inout StreamListener, at now: Instant, lateBefore: Int) -> Bool {
        var limit = log.end
        if listener.offset < lateBefore {
            if !listener.isInsidePiece {
                if log.newestStartPoint > listener.offset {
                    listener.offset = log.newestStartPoint
                    skipCount += 1
                }
            } else {
                limit = log.boundary(from: listener.offset)
            }
            if listener.offset < log.start { return expel(listener) }
        }
        guard listener.offset < limit else {
            listener.progress = now
            return true
        }
        guard let sent = log.send(listener.offset..<limit, to: listener.connection.descriptor) else { return false }
        if sent > 0 {
            listener.offset += sent
            listener.progress = now
            listener.isInsidePiece = listener.offset < limit && log.boundary(from: listener.offset) != listener.offset
            return true
        }
        return now - listener.progress < Self.patience ? true : expel(listener)
    }

    private func expel(_ listener: StreamListener) -> Bool {
        expelledCount += 1
        listener.connection.dropsUnsentBytes()
        return false
    }
}

/// A connection that listens to a stream.
private struct StreamListener {
    let connection: HTTPConnection
    /// The offset in the log of the next byte to send.
    var offset: Int
    /// The last time at which the kernel took bytes, or at which there were none to send.
    var progress: Instant
    /// Whether the last `send` ended within a piece.
    var isInsidePiece = false
}
