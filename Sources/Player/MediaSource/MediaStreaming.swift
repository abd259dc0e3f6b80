/// The fourth step: sound that is read goes to an output, at a rate and a pitch of its own choosing.
///
/// Any thread may call any of this, and none of it waits: what is asked for is under way when it returns, and `state` and `events`
/// tell what has become of it.
public protocol MediaStreaming: AnyObject, Sendable {
    /// As it is at this moment: never behind what was asked for.
    var state: StreamState { get }
    var progress: StreamProgress { get }

    /// The state as it is, then what happens from now on, for one who listens; each call is for another. Ends with the stream:
    /// where that is closed already, after the state.
    var events: AsyncStream<StreamEvent> { get }

    func play()
    func pause()
    /// For good or until `play()`, which begins again.
    func stop()

    /// Within what sounds now; before its beginning is the beginning, beyond its end is its end. After a stop or a failure the
    /// next `play()` begins there; after the end it is paused there.
    func seek(to position: Duration)
    /// From where it is now, or where an earlier seek is still on its way to.
    func seek(by distance: Duration)

    /// How much faster than it was recorded: 0.25…4 without a change of pitch that is heard, to 32 to skim through. 1 at first.
    var rate: Double { get set }
    /// In cents, −2400…2400, apart from the rate.
    var pitch: Double { get set }
    /// 0…1, of the amplitude.
    var volume: Double { get set }
}

/// What a stream does.
public enum StreamState: Equatable, Sendable {
    /// Nothing was opened.
    case idle
    /// It would play, but the sound is not here yet: it is being opened, or sought, or came more slowly than it was played.
    case buffering
    case playing
    case paused
    case ended(EndReason)
    case failed(StreamError)

    public enum EndReason: Equatable, Sendable {
        /// All of it has sounded.
        case finished
        case stopped
    }

    /// Whether nothing more comes by itself.
    public var isOver: Bool {
        switch self {
        case .ended, .failed: true
        case .idle, .buffering, .playing, .paused: false
        }
    }
}

/// How far a stream has come.
public struct StreamProgress: Equatable, Sendable {
    /// Which of the queue sounds, from 0.
    public var item = 0
    /// Of what is heard at this moment, not of what was handed to the card.
    public var position = Estimate(Duration.zero, isExact: true)
    /// nil where it has none, or none that is known.
    public var duration: Estimate<Duration>?
    /// Which part of the whole is here, 0…1; nil where the whole is not known.
    public var downloaded: Range<Double>?
    /// How long it can go on with what is here, at the present rate; nil until the bit rate is known.
    public var buffered: Duration?
    /// Bits a second.
    public var bitRate: Int?
    /// Of what is heard, as the root of the mean square in decibels below full scale, −100 at least.
    public var level: Float = -100
    public var isLive = false
    /// How much was played since the stream was made, as the output has it: neither pauses nor waits count.
    public var played = Duration.zero
    /// How often a connection that broke was tried again since; nil while it holds.
    public var reconnections: Int?

    public init() {}
}

/// Something that happened to a stream.
public enum StreamEvent: Equatable, Sendable {
    case state(StreamState)
    /// Ten times a second while it plays.
    case progress(StreamProgress)
    /// Another of the queue sounds.
    case item(Int, Track)
    /// What sounds has another title: that of the next song of a radio station. Control characters are replaced.
    case title(String)
    /// One of the queue could not be played, or not to its end.
    case skipped(Int, StreamError)
    /// A seek leads nowhere: it plays on where it was, or from the beginning where it had not begun.
    case seekRefused(StreamError)
}

/// Why a stream does not play.
public enum StreamError: Error, Equatable, Sendable {
    case read(ReaderError)
    /// There is no such address, output or setting: a sentence with its remedy.
    case unusable(String)
}

extension StreamError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .unusable(let sentence), .read(.undecodable(let sentence)), .read(.parse(.malformed(let sentence))),
            .read(.parse(.download(.failed(let sentence)))):
            sentence
        case .read(.parse(.download(.interrupted))): "it was interrupted"
        }
    }
}
