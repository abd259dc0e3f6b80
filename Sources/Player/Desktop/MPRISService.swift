internal import Glibc
internal import TenfourAudioCore
internal import TenfourClocks
public import TenfourDBus
internal import TenfourPacing
internal import TenfourSystem

/// Offers a player on the session bus as `org.mpris.MediaPlayer2.tenfour.instancePID`, on a thread of its own.
///
/// Whatever happens to the bus, the player is not affected: a connection that breaks or hangs is closed and opened
/// again, after 1 s to 60 s. Any thread may call any member; none blocks.
public final class MPRISService: Sendable {
    private let stopping: StopSignal

    /// Starts the service. `busAddress` is in D-Bus's notation. Returns nil if there is no session bus, or if the
    /// system can start no thread.
    public init?(_ player: some RemotePlayer, busAddress: String? = MessageBus.sessionAddress) {
        guard let busAddress, let stopping = try? StopSignal() else { return nil }
        self.stopping = stopping
        do {
            try WorkerThread.detached { MPRISThread(player: player, busAddress: busAddress, stopping).run() }
        } catch {
            return nil
        }
    }

    deinit { stop() }

    /// Ends the service soon, and does not wait for it. The name on the bus becomes free.
    public func stop() { stopping.stop() }
}

/// The exchange with the bus.
private struct MPRISThread<Player: RemotePlayer> {
    private let player: Player
    private let busAddress: String
    private let stopping: StopSignal

    /// The time limit for the connection, and for each call of the bus.
    private static var callLimit: Duration { .seconds(5) }
    private static var firstPause: Duration { .seconds(1) }
    private static var longestPause: Duration { .seconds(60) }
    /// The largest number of calls that are answered before signals and the end are looked at.
    private static var callsAtATime: Int { 64 }
    /// The largest number of messages that wait for a bus that does not read. Each has a few hundred bytes.
    private static var longestQueue: Int { 1_000 }
    /// `DBUS_NAME_FLAG_DO_NOT_QUEUE`.
    private static var doNotQueue: UInt32 { 4 }

    init(player: Player, busAddress: String, _ stopping: StopSignal) {
        self.player = player
        self.busAddress = busAddress
        self.stopping = stopping
    }

    private var isStopped: Bool { stopping.isStopped }

    func run() {
        var backoff = Backoff(first: Self.firstPause, longest: Self.longestPause)
        while !isStopped {
            do throws(BusError) {
                try serve(&backoff)
            } catch {
                if case .noLibrary = error { return }
            }
            if isStopped { return }
            stopping.wakeup.wait(atMost: PollTimeout.milliseconds(in: backoff.next()))
        }
    }

    /// Serves the player until `stop`. Throws when the connection is lost.
    private func serve(_ backoff: inout Backoff) throws(BusError) {
        let bus = try MessageBus(address: busAddress, callLimit: Self.callLimit)
        let name = "org.mpris.MediaPlayer2.tenfour.instance\(getpid())"
        try bus.call("RequestName", of: .bus, .text(name), .uint32(Self.doNotQueue))
        backoff.succeeded()
        var announcer = MPRISAnnouncer()
        while !isStopped {
            var hasSought = false
            let mayHaveMore = try bus.answerCalls(atMost: Self.callsAtATime) { call in
                let outcome = MPRISObject.answer(call, by: player)
                hasSought = hasSought || outcome.hasSought
                return outcome.reply
            }
            if hasSought { announcer.sought(at: MonotonicClock.now) }
            try announce(&announcer, over: bus)
            guard bus.queuedCount <= Self.longestQueue else { throw .timedOut }
            if mayHaveMore { continue }
            try bus.wait(
                orFor: stopping.wakeup.descriptor, atMost: PollTimeout.milliseconds(in: MPRISAnnouncer.interval))
        }
    }

    /// Sends the signals that are due, unless the bus has not accepted earlier ones.
    private func announce(_ announcer: inout MPRISAnnouncer, over bus: borrowing MessageBus) throws(BusError) {
        guard bus.queuedCount == 0 else { return }
        let now = MonotonicClock.now
        for announcement in announcer.announcements(of: player.remoteState, at: now) {
            switch announcement {
            case .changed(let properties):
                try bus.emit(
                    "PropertiesChanged", of: "org.freedesktop.DBus.Properties", at: MPRISObject.path,
                    [.text("org.mpris.MediaPlayer2.Player"), .properties(properties), .texts([])])
            case .sought(let position):
                try bus.emit(
                    "Seeked", of: "org.mpris.MediaPlayer2.Player", at: MPRISObject.path,
                    [.int64(Instant.nanoseconds(in: position) / 1_000)])
            }
        }
    }
}
