public import TenfourAudioCore

/// The initial settings of a player. Settings that can change during playback are properties of `Streamer`.
public struct StreamerConfiguration: Sendable {
    public enum Output: Equatable, Sendable {
        /// A sound card by its ALSA name.
        case card(String)
        /// No output; the monotonic clock sets the pace.
        case clock
        /// A WAV file, or for `-` raw samples on standard output. Written faster than real time if the audio can be
        /// read faster.
        case file(String)
        /// `Streamer.source`, at 48 000 Hz.
        case source
    }

    public var output = Output.card("default")
    /// The number of output channels, 1 or 2. nil: the audio's own number if it is known when the player is created,
    /// and 2 if it is not.
    public var channelCount: Int? = 2
    /// The rate of an output file; nil: the audio's own rate if it is known when the player is created, and 48 kHz if
    /// it is not. A card has its own rate, and other outputs have 48 kHz.
    public var sampleRate: SampleRate?
    /// The permitted rates, in hertz.
    public static let sampleRates = 8_000...192_000

    /// The duration of the audio that the output requests at a time.
    public var period = Duration.milliseconds(20)
    /// The maximum duration of the audio queued in the output, at least one and a half periods.
    public var queue = Duration.milliseconds(60)

    /// The duration of audio to buffer before playback starts, at least 80 ms; less if the item is shorter. It includes
    /// the audio in the ring and, if the bit rate is known, the bytes not decoded yet. Not used for a file output.
    public var startAfter = Duration.zero
    /// The duration of audio to buffer before playback resumes after an underrun.
    public var resumeAfter = Duration.seconds(1)

    /// The maximum duration of an output file; nil: unlimited.
    public var duration: Duration?

    public var download = DownloadSettings()

    /// Whether the queue starts again at its end.
    public var loops = false

    public init() {}
}

/// The settings for fetching bytes.
public struct DownloadSettings: Equatable, Sendable {
    /// The duration of audio to buffer ahead of playback.
    public var bufferedDuration = Duration.seconds(30)
    /// The number of bytes to buffer ahead of playback; nil: the number that `bufferedDuration` requires at the bit
    /// rate.
    public var bufferedByteCount: Int?
    /// Whether items are downloaded completely, as fast as possible, to disk.
    public var buffersAll = false
    /// The time to wait for a connection, or for the next byte, before a retry or an error. Above zero. Pauses are not
    /// included.
    public var timeout = Duration.seconds(10)
    /// The time for which a broken connection is retried before playback fails; nil: without limit. A first connection
    /// that fails is not retried.
    public var giveUpAfter: Duration? = .seconds(60)
    /// The value of `giveUpAfter` for live streams, such as radio stations.
    public var giveUpLiveAfter: Duration?
    /// The proxy, such as `http://…` or `socks5h://…`; nil: the proxy from the environment.
    public var proxy: String?
    /// Header lines such as `Authorization: Bearer …`, sent with every request to the scheme, host and port of the
    /// opened address and to no other origin that a playlist or redirect leads to.
    public var headers: [String] = []
    /// Whether to follow redirects from https to http.
    public var allowsDowngrade = false

    public init() {}
}
