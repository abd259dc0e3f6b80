public import TenfourAudioCore
public import TenfourAudioFile
public import TenfourChannelKeys
internal import TenfourOpusCodec
public import TenfourSession

/// What a session is to do: where sound comes from and goes to, with whom, and how.
///
/// `sending`, `receiving` and `talking` make one from an address; what is to be otherwise is set before the session is made.
public struct RadioConfiguration: Sendable {
    /// The address and port to receive on; port 0 leaves it to the system.
    public var local: Endpoint
    /// With whom, and what others see of us.
    public var rtpSession: RTPSessionConfiguration
    /// What `local` or the receivers being a group asks for; nil for one partner.
    public var multicast: Multicast?
    /// The partner of a call by name, who is followed where the address changes; nil keeps the addresses of `rtpSession`.
    var partner: Partner?
    /// What protects the stream and the reports, both ways.
    public var protection = Protection.none
    /// What is sent; nothing when nil. A session that only sends ends with its input; one that hears as well goes on.
    public var input: Input?
    /// What is heard on; nothing when nil.
    public var output: Output?
    /// Where what is heard is written as well.
    public var recording: Recording?
    /// How what is sent becomes packets.
    public var coding = CodingSettings()
    /// How packets become what is heard.
    public var playout = PlayoutSettings()
    /// Whether the microphone is open from the start.
    public var beginsOpen = true
    /// Ends by itself after so long.
    public var duration: Duration?
    /// Ends by itself when everybody who was heard has left.
    public var endsWithLastSource = false

    /// One to talk with, by name.
    struct Partner: Sendable {
        var address: StreamAddress
        /// How long nothing comes before the name is looked up again.
        var interval = PartnerTracker.interval
        var resolve = HostTracker.system
    }

    /// How a multicast group is reached.
    public struct Multicast: Hashable, Sendable {
        /// To be joined; nil for one who only sends.
        public var group: IPAddress?
        /// By name, `eth0`; nil leaves it to the routing table.
        public var interface: String?
        /// How many routers what is sent may pass, and one more.
        public var timeToLive: UInt8

        public init(group: IPAddress?, interface: String? = nil, timeToLive: UInt8 = 1) {
            self.group = group
            self.interface = interface
            self.timeToLive = timeToLive
        }
    }

    /// Where sound that is sent comes from.
    public enum Input: Sendable {
        /// A capturing PCM by its ALSA name.
        case card(String)
        /// A sound file, or `-` for standard input. `raw` says what sound without a header is; nil refuses it.
        case file(String, raw: RawFormat?)
        case sound(AudioInput)
    }

    /// Who can hear what is sent, and speak to us.
    public enum Protection: Sendable {
        /// Plain RTP: everybody on the way.
        case none
        /// Who has this key (SRTP): the other end was given it beforehand.
        case srtp(SRTPMasterKey)
        /// The members of a channel.
        case channel(ChannelSettings)

        /// Plain where there is no key.
        public init(srtp key: SRTPMasterKey?) { self = key.map { .srtp($0) } ?? .none }

        var srtpKey: SRTPMasterKey? { if case .srtp(let key) = self { key } else { nil } }
    }

    /// What asks for the sound that is heard.
    public enum Output: Sendable {
        /// A playing PCM by its ALSA name.
        case card(String)
        /// No card: sound is asked for at the pace of the clock.
        case clock
    }

    /// Where what is heard goes beside a card.
    public enum Recording: Sendable {
        /// A WAV file, or `-` for raw 16-bit LPCM on standard output.
        case file(String)
        /// Called on a thread of the session's own, one call at a time and some fifty times a second, with what has been
        /// heard since the last call: interleaved samples, full scale at ±1, in the format of `output` (48 000 Hz without
        /// a card). It may take its time: what waits longer than a second is left out and counted. It must not
        /// wait for the session.
        case closure(@Sendable ([Float], LPCMFormat) -> Void)
    }

    /// The configuration of the RTP session, with the payload type, bit rate and loss protection that coding and playout ask for.
    var rtpSessionAsCoded: RTPSessionConfiguration {
        var rtpSession = rtpSession
        if let payloadType = coding.encoding.staticPayloadType { rtpSession.payloadType = payloadType }
        rtpSession.lossProtection.bitRate = coding.payloadBitRate
        rtpSession.lossProtection.frameCount = FrameCount(coding.frame)
        rtpSession.lossProtection.hasInBandFEC =
            coding.encoding == .opus && coding.fec != .off && coding.application == .voip
        rtpSession.lossProtection.maximumDepth = min(playout.maximumRepairDepth, playout.maximumDepth)
        rtpSession.lossProtection.followsRoundTrip = playout.followsRoundTrip
        return rtpSession
    }

    /// Neither sends nor hears until it is given an input, an output or a recording.
    public init(local: Endpoint, rtpSession: RTPSessionConfiguration) {
        self.local = local
        self.rtpSession = rtpSession
    }
}

/// How sound becomes packets.
public struct CodingSettings: Hashable, Sendable {
    /// The codec. G.711 has one channel, a fixed bit rate and no in-band FEC, and is not spoken in channels.
    public var encoding = AudioEncoding.opus
    /// The bit rate of Opus, in bit/s: 6 000…510 000.
    public var bitRate = 32_000
    /// Of one packet: 2.5, 5, 10, 20, 40 or 60 ms.
    public var frame = Duration.milliseconds(20)
    /// What the codec is tuned for.
    public var content = Content.speech
    /// Whether each packet carries a rough copy of the one before.
    public var fec = FEC.automatic
    /// 0…100, in percent: what `fec` is made for.
    public var expectedLoss = 0
    /// 1 or 2: a source of other channels is mixed, as `captureChannel` says.
    public var channelCount = 1
    /// Which channels of a card, a file or other source are sent.
    public var captureChannel = CaptureChannel.mix
    /// Of the encoder, 0…10: more costs processor time and sounds better.
    public var complexity = 10

    /// What is coded.
    public enum Content: Hashable, Sendable { case speech, music }
    /// In-band FEC; `automatic` sends it when `expectedLoss` is above zero.
    public enum FEC: Hashable, Sendable { case automatic, on, off }

    /// Mono speech, 32 kbit/s in packets of 20 ms.
    public init() {}

    /// What a frame may last.
    public static let frames: [Duration] = [2_500, 5_000, 10_000, 20_000, 40_000, 60_000].map { .microseconds($0) }
}

/// How a live stream is bent before it is heard.
public struct LiveTimePitchSettings: Hashable, Sendable {
    /// 0.25…32. Below 1 what is heard falls behind; above, it catches up again, and is never faster than what comes.
    public var rate = 1.0
    /// In cents, ± 2400.
    public var pitch = 0.0
    /// How far it may fall behind.
    public var longestLag = Duration.seconds(30)

    public init(rate: Double = 1, pitch: Double = 0) {
        self.rate = rate
        self.pitch = pitch
    }
}

/// How packets become sound.
public struct PlayoutSettings: Hashable, Sendable {
    /// How far playout lies behind the fastest packet; nil lets the network decide.
    public var fixedDepth: Duration?
    /// The least an adaptive depth comes down to, beside what a period of the card needs.
    public var minimumDepth = Duration.zero
    /// The most it grows to.
    public var maximumDepth = Duration.seconds(1)
    /// The most it grows to so that lost packets can come back.
    public var maximumRepairDepth = Duration.milliseconds(100)
    /// Whether that is also no more than what asking four times takes: 4 round trips and 40 ms.
    public var followsRoundTrip = false
    /// Of the playing card: how much it asks for at a time.
    public var period = Duration.milliseconds(5)
    /// What the card's queue holds at the most, in periods.
    public var queuedPeriods = 2.0
    /// 1 or 2: what is received with others is mixed.
    public var channelCount = 1
    /// Which of libopus's neural models are used, where it has them.
    public var decoder = DecoderChoice.auto
    /// Whether what is heard may be slowed down and made higher or lower; nil plays it as it comes, a tenth of a second sooner.
    public var timePitch: LiveTimePitchSettings?

    public init() {}
}
