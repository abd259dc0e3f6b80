public import TenfourAudioCore
public import TenfourEffects
public import TenfourMediaSource

/// The initial settings of a player. Settings that can change during playback are properties of `Streamer`.
public struct StreamerConfiguration: Sendable {
    public enum Output: Equatable, Sendable {
        /// A sound card by its ALSA name.
        case card(String)
        /// No output; the monotonic clock sets the pace.
        case clock
        /// A file: WAV, FLAC (`.flac`) or Ogg Opus (`.opus`, `.ogg`) by its name, or for `-` raw samples on standard
        /// output. Written faster than real time if the audio can be read faster. A file that exists is replaced when the
        /// first audio is there. If the only item of the queue has tags, FLAC and Ogg Opus have them, too.
        case file(String)
        /// `Streamer.source`, at 48 000 Hz.
        case source
    }

    public var output = Output.card("default")
    /// The number of output channels: 1 or 2, and up to 8 in a file with `keepsFormat`. nil takes the number of the
    /// audio if it is known when the player is created, and 2 otherwise.
    public var channelCount: Int? = 2
    /// The rate of an output file, or the rate that a card is asked for. nil takes the rate of the audio if it is known
    /// when the player is created, and 48 kHz otherwise. A card that lacks the rate runs at the nearest one, which
    /// `Streamer.outputFormat` has. Other outputs run at 48 kHz.
    public var sampleRate: SampleRate?
    /// Whether an output file has the rate, the channels and the sample width of the audio, if these are known when the
    /// player is created. Its samples are those of a lossless recording, unless they are integers of more than 24 bits,
    /// or the volume, rate, pitch or an effect changes them. Without it, samples have the width of `sampleWidth`.
    public var keepsFormat = false
    /// The width of the samples of an output file, as far as the file can have it; nil: 16 bits, or with `keepsFormat` that
    /// of the audio.
    public var sampleWidth: SampleWidth?
    /// The permitted rates, in hertz.
    public static let sampleRates = 8_000...192_000

    /// The duration of the audio that the output requests at a time.
    public var period = Duration.milliseconds(20)
    /// The maximum duration of the audio queued in the output, at least one and a half periods.
    public var queue = Duration.milliseconds(60)

    /// The duration of audio to buffer before playback starts, at least 80 ms; less if the item is shorter. Decoded
    /// audio counts, and bytes that are not decoded yet if the bit rate is known. Not used for a file output.
    public var startAfter = Duration.zero
    /// The duration of audio to buffer before playback resumes after an underrun.
    public var resumeAfter = Duration.seconds(1)

    /// The maximum duration of an output file; nil: unlimited.
    public var duration: Duration?
    /// The duration over which the end of an output file fades out, up to 60 s.
    public var fadeOut = Duration.zero

    /// The container format of all items, such as `ContainerFormat(named: "mp3")`; nil: each is detected by its first
    /// bytes. Playlists are then not recognised.
    public var fileType: ContainerFormat?

    /// Which audio track of an item is played, such as `AudioTrackChoice("de")`, if it has several; nil: the one that the
    /// file marks as its default, or else the first. An item of a container whose tracks are
    /// others is refused; an item that can have only one track is played.
    public var track: AudioTrackChoice?

    /// Opens a reader of the program's own for the bytes of an item; returns nil if the player shall open one of its
    /// own. The reader must return samples in the given format; nil: any.
    public typealias ReaderMaker =
        @Sendable (any ByteSource, QueueItem, LPCMFormat?) throws(ReaderError) -> (any MediaReader)?

    /// Makes readers that replace the player's own, for some formats or for all; nil: the player's own are used.
    ///
    /// It is called for each item that is opened, on the thread that decodes or, before a crossfade, on one that opens the
    /// next item, but never on two threads at a time. It may block while bytes arrive. If it
    /// returns nil, it must have read no more than the first 64 KiB, which are read again. It is not called for the
    /// segments of HLS.
    public var makeReader: ReaderMaker?

    /// Makes an effect of the program's own; nil for none. It is called once, with the format of the output, on the
    /// thread that decodes; there the effect runs, after rate and pitch and before the equaliser. The effect must have
    /// that format. Its latency and rate count for the position. `AnyAudioEffect.followed(by:)` joins several, and
    /// `Streamer.replaceEffect(_:)` changes them during playback.
    public var makeEffect: (@Sendable (LPCMFormat) -> AnyAudioEffect)?

    /// Receives the audio that is heard, after all effects, volume and fades. Silence of pauses and buffering is left
    /// out. nil: the audio is only played.
    ///
    /// It is called on a thread of its own, block by block and in order. It may block: blocks that it misses are left
    /// out and counted in `TappedAudio.lost`, and playback is not disturbed. For a file output nothing is lost, since
    /// writing waits for it. It must not close or release the player. `Streamer.close` returns after its last call.
    public var tap: (@Sendable (TappedAudio) -> Void)?

    /// The gain of an item's tags to apply to it, from its first frame on: ReplayGain 2.0, or R128 of Ogg Opus. A peak
    /// in the tags limits the gain so that nothing is clipped. If the tags raise the level and state no peak, a limiter
    /// prevents clipping. With `EffectSettings.loudness`, the item begins with this gain and is then measured.
    public var gain = ReplayGain.Mode.track

    public var download = DownloadSettings()

    /// What is played again: nothing, one item, or the queue.
    public var repeats = RepeatMode.none

    /// Whether the queue starts again at its end: `repeats` is `.all`.
    public var loops: Bool {
        get { repeats == .all }
        set { repeats = newValue ? .all : .none }
    }

    /// Whether the items are played in a random order, each once per round.
    public var isShuffled = false
    /// The seed of the random order, which is the same for the same seed and queue; nil: another order each time.
    public var shuffleSeed: UInt64?

    /// The duration for which an item fades out while the next one fades in, up to 30 s. It is used where the length of
    /// an item is known exactly and the next one has arrived in time; the tracks of a CUE sheet follow each other as
    /// they were recorded. From the start of the crossfade on, the next item counts as the one that is heard.
    public var crossfade = Duration.zero

    /// The number of bars of `Streamer.waveform`, 1…65 536; nil: no waveform is made.
    public var waveformBarCount: Int?
    /// Keeps the waveforms of files; nil if none are kept.
    package var waveformStore: (any WaveformStore)?

    /// Returns the position at which an item of this duration starts if nobody asked for one; nil: its start. The
    /// duration is nil if it is unknown. It is called once per opened item, on the thread that decodes.
    package var startPosition: (@Sendable (MediaIdentity, Duration?) -> Duration?)?

    /// The width of the samples of the audio, if it is known when the player is created; nil for a lossy codec.
    var recordedWidth: SampleWidth?

    public init() {}
}

extension StreamerConfiguration {
    func makeOpener() throws(StreamError) -> ResourceOpener {
        try ResourceOpener(
            download, MediaFormats(fileType: fileType, track: track, makeReader: makeReader), output: output, gain: gain
        )
    }
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
    /// Whether a file ends where it ended when it was opened. If not, a file that is being written is followed as long as
    /// it grows faster than it is played.
    public var endsGrowingFiles = false
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
    /// A PEM file of certificates to trust instead of the system's; nil: the file and the folder that SSL_CERT_FILE and
    /// SSL_CERT_DIR name in the environment, or the system's.
    public var certificates: String?

    public init() {}
}

extension PlaybackController.Settings {
    /// The settings of a player whose output has `rate`.
    init(_ configuration: StreamerConfiguration, rate: SampleRate) {
        let hasClock = if case .file = configuration.output { false } else { true }
        self.init(
            rate: rate, hasClock: hasClock, startAfter: configuration.startAfter,
            resumeAfter: configuration.resumeAfter,
            order: PlaybackOrder(
                isShuffled: configuration.isShuffled, repeats: configuration.repeats,
                seed: configuration.shuffleSeed ?? .random(in: .min ... .max)))
    }
}
