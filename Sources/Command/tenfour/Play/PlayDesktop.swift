import TenfourAudioCore
import TenfourDesktop
import TenfourMediaSource
import TenfourPlayer

/// What the desktop has to do with a player: other programs control it, and the machine stays awake while it plays.
struct PlayDesktop {
    private let remote: StreamerRemote?
    private let service: MPRISService?
    private let inhibitor: SleepInhibitor?
    private var wakefulness = Wakefulness()

    /// Begins to offer `streamer` to other programs, unless `isControlled` is false. Without a message bus this does
    /// nothing.
    init(_ streamer: Streamer, isControlled: Bool) {
        let remote = StreamerRemote(streamer)
        service = isControlled ? MPRISService(remote) : nil
        self.remote = service == nil ? nil : remote
        inhibitor = SleepInhibitor()
    }

    /// Whether another program has asked the player to quit.
    var hasQuit: Bool { remote?.hasQuit ?? false }

    /// Returns whether `state` ends the program. A player that another program stopped can be started again.
    func isOver(_ state: StreamState) -> Bool { state.isOver && !(remote != nil && state == .ended(.stopped)) }

    /// Keeps the machine awake while audio is heard, or soon will be.
    mutating func update(_ state: StreamState, at now: Instant) {
        inhibitor?.isWanted = wakefulness.isWanted(in: state, at: now)
    }

    /// Leaves the bus and lets the machine sleep.
    func end() {
        service?.stop()
        inhibitor?.stop()
    }
}

/// Decides whether the machine must stay awake. A radio station that is gone must not keep it awake for ever.
struct Wakefulness {
    /// When the player began to wait for audio; nil if it does not.
    private var bufferingStart: Instant?

    private static let limit = Duration.seconds(60)

    /// Returns whether audio is heard in `state`, or has been waited for for less than a minute.
    mutating func isWanted(in state: StreamState, at now: Instant) -> Bool {
        guard state.isBuffering else {
            bufferingStart = nil
            return state == .playing
        }
        let start = bufferingStart ?? now
        bufferingStart = start
        return now - start < Self.limit
    }
}
