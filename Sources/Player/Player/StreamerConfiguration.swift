public import TenfourAudioCore

/// What a streamer is to be like from the start. What can change while it plays is set on the streamer.
public struct StreamerConfiguration: Sendable {
    public enum Output: Equatable, Sendable {
        /// A sound card by its ALSA name.
        case card(String)
        /// Nothing is heard, at the pace of the clock.
        case clock
        /// A WAV file, or raw samples on standard output for `-`: written as fast as it can be read.
        case file(String)
        /// Whoever reads the streamer's `source`, at 48 000 Hz.
        case source
    }

    public var output = Output.card("default")
    /// 1 or 2; nil: those of the sound, as far as that is known when the streamer is made, else 2.
    public var channelCount: Int? = 2
    /// The rate of a file that is written; nil: that of the sound where it is known then, else 48 000 Hz. A card has
    /// its own rate, and other outputs have 48 000 Hz.
    public var sampleRate: SampleRate?
    /// In hertz.
    public static let sampleRates = 8_000...192_000

    /// How much the output is given at a time.
    public var period = Duration.milliseconds(20)
    /// How much it is given ahead, at least one and a half periods.
    public var queue = Duration.milliseconds(60)

    /// How much sound is to be here before it begins, in the ring and in bytes as far as their bit rate is known; all that is
    /// left, where that is less. Never less than 80 ms. A file waits for nothing.
    public var startAfter = Duration.zero
    /// How much is to be here before it goes on after it ran out.
    public var resumeAfter = Duration.seconds(1)

    /// How much of it is written, of output to a file; nil for all.
    public var duration: Duration?

    public var download = DownloadSettings()

    /// Whether the queue begins again at its end.
    public var loops = false

    public init() {}
}

/// How bytes are fetched.
public struct DownloadSettings: Equatable, Sendable {
    /// How much sound may be here ahead of what is heard.
    public var bufferedDuration = Duration.seconds(30)
    /// And how many bytes; nil for as many as that much sound takes.
    public var bufferedByteCount: Int?
    /// Fetches all of it as fast as it comes, onto the disk.
    public var buffersAll = false
    /// Above zero: how long a connection, or the next bytes on it, are waited for before they are asked for again, and in the
    /// end given up with a sentence. Time in a pause does not count.
    public var timeout = Duration.seconds(10)
    /// How long a connection that broke is tried again before that ends the sound with a sentence; nil: for ever. A connection
    /// that never came about is not tried again.
    public var giveUpAfter: Duration? = .seconds(60)
    /// The same for what is live, such as a station.
    public var giveUpLiveAfter: Duration?
    /// `http://…`, `socks5h://…`; nil for what the environment says.
    public var proxy: String?
    /// Lines like `Authorization: Bearer …` that go with every request to the scheme, host and port of the address that was
    /// opened, and to no other that a playlist or a server leads to.
    public var headers: [String] = []
    /// Follows a server from https to http, which is otherwise refused.
    public var allowsDowngrade = false

    public init() {}
}
