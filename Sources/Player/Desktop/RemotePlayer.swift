public import TenfourPlayer

/// A player that other programs of the desktop can see and control.
///
/// The thread of an `MPRISService` calls both members. They must not block.
public protocol RemotePlayer: AnyObject, Sendable {
    var remoteState: RemoteState { get }

    /// Performs a command. Returns a sentence with the reason if the player refuses it, and nil otherwise.
    func perform(_ command: RemoteCommand) -> String?
}

/// What the desktop shows of a player.
public struct RemoteState: Equatable, Sendable {
    public enum Status: String, Sendable {
        case playing = "Playing"
        case paused = "Paused"
        case stopped = "Stopped"
    }

    public var status = Status.stopped
    /// Whether playback waits for audio, so that the position stands still although the status is `playing`.
    public var isBuffering = false
    /// What is played again at its end.
    public var repeats = RepeatMode.none
    /// Whether the queue is played in a random order.
    public var isShuffled = false
    /// Seconds of the item per second of time, above zero.
    public var rate = 1.0
    /// The factor of the amplitude, 0…1.
    public var volume = 1.0
    /// The position of the audio that is heard now.
    public var position = Duration.zero
    /// The item that is heard; nil if the queue is empty.
    public var item: RemoteItem?
    public var hasNext = false
    public var hasPrevious = false
    public var isSeekable = false

    public init() {}
}

/// An item of a player's queue.
public struct RemoteItem: Equatable, Sendable {
    /// Identifies the item in the queue. Letters, digits and `_` only.
    public var id: String
    public var title: String?
    public var artist: String?
    public var album: String?
    /// The address, without a password.
    public var url: String?
    /// The duration; nil if it has none or it is unknown.
    public var length: Duration?

    public init(id: String) { self.id = id }
}

/// A command from another program.
public enum RemoteCommand: Equatable, Sendable {
    case play, pause, playPause, stop, next, previous, quit
    /// Seek relative to the present position. Beyond the end, the next item is played.
    case seekBy(Duration)
    /// Seek to a position of the item that is heard.
    case seekTo(Duration)
    /// Replace the queue by one address. It comes from another program and not from the user.
    case open(String)
    case rate(Double)
    case volume(Double)
    case repeats(RepeatMode)
    case shuffle(Bool)
}
