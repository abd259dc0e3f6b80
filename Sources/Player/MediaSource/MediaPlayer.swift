/// The last of four stages: plays what a `MediaReader` reads, at a rate and pitch of its own.
///
/// Any thread may call any member, and no call blocks: a request is under way when the call returns, and `state` and
/// `events` report its outcome.
public protocol MediaPlayer: AnyObject, Sendable {
    /// The current state. It reflects every request made so far.
    var state: StreamState { get }
    var progress: StreamProgress { get }

    /// A new stream with the current state, followed by all events from now on. Each call creates an independent
    /// stream. The stream finishes when the player is closed; if the player is already closed, it contains only the
    /// state.
    ///
    /// An observer that reads slowly loses progress, but no state: of progress only the newest event waits, and at most
    /// 1 024 others. Beyond that, the oldest event that is followed by another of its kind is dropped, so that the last
    /// state, item and title always arrive.
    var events: AsyncStream<StreamEvent> { get }

    func play()
    func pause()
    /// Stops. `play()` starts again from the beginning.
    func stop()

    /// Seeks within the present item, clamped to its start and end. After a stop or a failure, the next `play()` begins
    /// at `position`. After the end, the item is paused at `position`.
    func seek(to position: Duration)
    /// Seeks relative to the present position, or to the target of a seek that is still under way.
    func seek(by distance: Duration)

    /// The playback rate at unchanged pitch, 0.25…32. Above 4 only fragments are heard, for skimming. Default: 1.
    var rate: Double { get set }
    /// The pitch shift in cents, −2400…2400, independent of the rate. Default: 0.
    var pitch: Double { get set }
    /// The volume as a factor of the amplitude, 0…1. Default: 1.
    var volume: Double { get set }
}

/// The state of a player.
public enum StreamState: Equatable, Sendable {
    /// Nothing has been opened.
    case idle
    /// Playback waits for audio, for this reason.
    case buffering(BufferingReason)
    case playing
    case paused
    case ended(EndReason)
    case failed(StreamError)

    public enum BufferingReason: Equatable, Sendable {
        /// An item is being opened, or its first audio is being read.
        case opening
        /// Audio at the position of a seek is being fetched and read.
        case seeking
        /// Audio arrives more slowly than it is played.
        case underrun
    }

    public enum EndReason: Equatable, Sendable {
        /// All items have been played to the end.
        case finished
        case stopped
        /// The requested duration has been written to the output file.
        case playedEnough
        /// The player was closed before anything else ended it.
        case closed
    }

    /// Whether playback waits for audio.
    public var isBuffering: Bool { if case .buffering = self { true } else { false } }

    /// Whether the player has ended or failed.
    public var isOver: Bool {
        switch self {
        case .ended, .failed: true
        case .idle, .buffering, .playing, .paused: false
        }
    }
}

/// The progress of a player.
public struct StreamProgress: Equatable, Sendable {
    /// The index in the queue of the item that is heard, from 0.
    public var item = 0
    /// The position of the audio that is heard now, not of the audio last written to the sound card.
    public var position = Estimate(Duration.zero, isExact: true)
    /// The duration of the item; nil if it has none or it is unknown.
    public var duration: Estimate<Duration>?
    /// The range of the item whose bytes are buffered and not decoded yet, in fractions (0…1) of the item's size; nil
    /// if the size is unknown.
    public var downloaded: Range<Double>?
    /// The duration of the buffered audio at the present playback rate; nil until the bit rate is known.
    public var buffered: Duration?
    /// The item's mean bit rate in bit/s: exact once all of it has been read or scanned, and before that the mean so
    /// far; nil if it is unknown.
    public var bitRate: Estimate<Int>?
    /// The level of the audio that is heard: root mean square in dBFS, at least −100.
    public var level: Float = -100
    public var isLive = false
    /// The range of positions that can be sought in a live stream, up to its live edge; nil if it cannot be sought, or is
    /// not live.
    public var window: Range<Duration>?
    /// The total duration of audio played since the player was created, in output time. Pauses and buffering do not
    /// count.
    public var played = Duration.zero
    /// The number of attempts to restore a broken connection; nil while the connection works.
    public var reconnections: Int?

    public init() {}

    /// Keeps the position within the item. If the duration is an estimate, the item is at least as long as its position.
    package mutating func limitPosition() {
        guard let whole = duration, position.value > whole.value else { return }
        if whole.isExact { position.value = whole.value } else { duration?.value = position.value }
    }
}

/// An event of a player.
public enum StreamEvent: Equatable, Sendable {
    case state(StreamState)
    /// Sent ten times a second while the player plays or buffers.
    case progress(StreamProgress)
    /// Another item of the queue is heard now. The values are its index and its track.
    case item(Int, Track)
    /// The title changed, as for the next song of a radio station. Control characters are replaced.
    case title(String)
    /// An item could not be played, or not to its end. The values are its index and the reason.
    case skipped(Int, StreamError)
    /// The queue, its order or its repetition changed: indices of items seen so far may now stand for others.
    case queue
    /// A part of a folder was left out: a sentence with its remedy, safe to show.
    case notice(String)
    /// A seek was impossible. Playback continues where it was, or from the start if it had not begun.
    case seekRefused(StreamError)
}

/// The reason why nothing is played.
public enum StreamError: Error, Equatable, Sendable {
    case read(ReaderError)
    /// An address, output or setting cannot be used. The string is a sentence that states the problem and its remedy.
    case unusable(String, kind: MediaErrorKind = .other)
}

extension StreamError: CustomStringConvertible {
    /// A sentence for people that includes the remedy.
    public var description: String {
        switch self {
        case .read(let error): error.description
        case .unusable(let sentence, _): sentence
        }
    }

    /// The sentence with `name` before it, unless it contains the name.
    package func sentence(about name: String) -> String {
        description.contains(name) ? description : "\(name): \(description)"
    }
}
