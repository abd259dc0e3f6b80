public import TenfourAudioCore
public import TenfourAudioFile
public import TenfourChannelKeys
public import TenfourFloor
internal import TenfourOpusCodec
public import TenfourSession
public import TenfourVoiceProcessing

/// The configuration of a session: source and destination of audio, peers, and settings.
///
/// `sending`, `receiving` and `talking` create one from an address; change other settings before the session is
/// created.
public struct RadioConfiguration: Sendable {
    /// The address and port to receive on; with port 0 the system chooses one.
    public var local: Endpoint
    /// The peers, and the description of ourselves that they receive.
    public var rtpSession: RTPSessionConfiguration
    /// Settings for a multicast group that we receive or send to; nil for unicast.
    public var multicast: Multicast?
    /// The peer, if it was given by host name. While nothing arrives from it, the name is looked up again, and a new
    /// address replaces the old one. nil: the addresses of `rtpSession` stay in use.
    var partner: Partner?
    /// The protection of media and reports, in both directions.
    public var protection = Protection.none
    /// Call signalling on the media's port; nil if there is none.
    public var signalling: (any CallSignalling)?
    /// The audio to send; nil if no audio is sent. A session that only sends ends with its input; a session that also
    /// receives continues.
    public var input: Input?
    /// The output for received audio; nil if no audio is played.
    public var output: Output?
    /// The destination of a recording of received audio; nil if there is none.
    public var recording: Recording?
    /// Gets each received packet of audio; nil if nothing does.
    public var packetTap: (any PacketTap)?
    /// Whether the packets of the last ten minutes stay in memory, 4 MB of it, so that `RadioSession.replay` can play them
    /// on the output's card.
    public var keepsHistory = false
    /// The settings for encoding audio into packets.
    public var coding = CodingSettings()
    /// The settings for playing received packets.
    public var playout = PlayoutSettings()
    /// What is done to the microphone's audio before it is encoded. Echo is cancelled only if both input and output are
    /// cards and both ends are heard at once.
    public var voice = VoiceSettings()
    /// Whether the microphone is open at the start.
    public var beginsOpen = true
    /// Whether the capture card is closed while the microphone is. Opening it takes as long as the card or the sound server
    /// needs, and there is no pre-roll. At the start it is opened for a moment.
    public var closesCaptureCard = false
    /// Whether received audio is heard while the microphone is open.
    public var duplex = Duplex.full
    /// Whether the session requests the floor before it talks. Outside a channel this needs exactly one partner.
    public var floor = FloorUse.none
    /// Who arbitrates the floor between this station and its only partner: the one that answered the call.
    public var callRole = CallFloor.Role.bothCalled
    /// The time after which the session ends; nil if there is no limit.
    public var duration: Duration?
    /// Whether the session ends when all talkers have left.
    public var endsWithLastSource = false

    /// The peer of a call, by name.
    struct Partner: Sendable {
        var address: StreamAddress
        /// The time without a datagram after which the name is looked up again.
        var interval = PartnerTracker.interval
        var resolve = HostTracker.system
    }

    /// Whether received audio is heard while the microphone is open.
    public enum Duplex: Hashable, Sendable {
        /// Both ends are heard at once.
        case full
        /// The loudspeaker is muted while the microphone is open, so that it makes no echo.
        case half
    }

    /// The settings for reaching a multicast group.
    public struct Multicast: Hashable, Sendable {
        /// The group to join; nil for a session that only sends.
        public var group: IPAddress?
        /// The name of the interface, such as `eth0`; nil if the routing table decides.
        public var interface: String?
        /// The time to live: the number of routers that packets may pass, plus one.
        public var timeToLive: UInt8

        public init(group: IPAddress?, interface: String? = nil, timeToLive: UInt8 = 1) {
            self.group = group
            self.interface = interface
            self.timeToLive = timeToLive
        }
    }

    /// The source of the audio to send.
    public enum Input: Sendable {
        /// A capture PCM, by its ALSA name.
        case card(String)
        /// An audio file of any format that `openReader` of the module MediaSource opens, or a pipe; `-` is standard
        /// input. WAV and raw samples in a pipe are sent as they arrive, other formats after their end. `raw` is the
        /// format of audio without a header; if it is nil, such audio is refused.
        case file(String, raw: RawFormat?)
        case sound(AudioInput)
    }

    /// The protection of a session, which determines who can listen and talk.
    public enum Protection: Sendable {
        /// Plain RTP: everybody on the path can hear and speak.
        case none
        /// SRTP with this key, which the other end has received beforehand.
        case srtp(SRTPMasterKey)
        /// A channel: only its members can hear us and be heard.
        case channel(ChannelSettings)

        /// SRTP with `key`, or plain RTP for nil.
        public init(srtp key: SRTPMasterKey?) { self = key.map { .srtp($0) } ?? .none }

        var srtpKey: SRTPMasterKey? { if case .srtp(let key) = self { key } else { nil } }
    }

    /// The card or clock at whose pace received audio is pulled.
    public enum Output: Sendable {
        /// A playback PCM, by its ALSA name.
        case card(String)
        /// No card: audio is requested at the pace of the clock.
        case clock
    }

    /// The destination of received audio in addition to a card.
    public enum Recording: Sendable {
        /// A WAV file, or `-` for raw 16-bit LPCM on standard output.
        case file(String)
        /// A closure that receives the audio. It is called on a thread of the session's own, one call at a time and
        /// about fifty times a second. It gets the audio since the last call: interleaved samples, full scale at ±1, in
        /// the format of `output` (48 000 Hz without a card). It may block: audio that waits longer than a second is
        /// dropped and counted. It must not wait for the session.
        case closure(@Sendable ([Float], LPCMFormat) -> Void)
    }

    /// The configuration of the RTP session, with the payload type, bit rate and loss protection that `coding` and
    /// `playout` need.
    var rtpSessionAsCoded: RTPSessionConfiguration {
        var rtpSession = rtpSession
        // A description may have assigned a dynamic payload type to G.711, which then stays.
        if let payloadType = coding.encoding.staticPayloadType,
            rtpSession.acceptedPayloadTypes[rtpSession.payloadType] != coding.encoding
        {
            rtpSession.payloadType = payloadType
            // Accepts the payload type that we send. If it were not accepted, our own packets would be discarded when
            // they are looped back, and a collision of SSRCs would not be noticed.
            rtpSession.acceptedPayloadTypes[payloadType] = coding.encoding
        }
        rtpSession.lossProtection.bitRate = coding.payloadBitRate
        rtpSession.lossProtection.frameCount = FrameCount(coding.frame)
        rtpSession.lossProtection.hasInBandFEC = coding.fec != .off && coding.application == .voip
        rtpSession.lossProtection.maximumDelay = min(playout.maximumRecoveryDelay, playout.maximumDelay)
        rtpSession.lossProtection.followsRoundTrip = playout.followsRoundTrip
        return rtpSession
    }

    /// Whether the session can replay what it hears: it keeps a history, and has a card.
    var canReplay: Bool {
        guard keepsHistory, case .card = output else { return false }
        return true
    }

    /// `coding`, with discontinuous transmission only if the stream is not encrypted.
    var codingAsProtected: CodingSettings {
        var coding = coding
        if case .none = protection { return coding }
        coding.isDiscontinuous = false
        return coding
    }

    /// Creates a configuration without input, output and recording: set at least one.
    public init(local: Endpoint, rtpSession: RTPSessionConfiguration) {
        self.local = local
        self.rtpSession = rtpSession
    }
}

/// The settings for encoding audio into packets.
public struct CodingSettings: Hashable, Sendable {
    /// The codec. G.711 has one channel, a fixed bit rate and no in-band FEC, and cannot be used in channels.
    public var encoding = AudioEncoding.opus
    /// The bit rate of Opus, in bit/s: 6 000…510 000.
    public var bitRate = 32_000
    /// The duration of a packet: 2.5, 5, 10, 20, 40 or 60 ms.
    public var frame = Duration.milliseconds(20)
    /// The kind of audio for which the codec is tuned.
    public var content = Content.speech
    /// Whether each packet also carries a low-quality copy of the packet before it (in-band FEC).
    public var fec = FEC.automatic
    /// The packet loss in percent, 0…100, for which in-band FEC is dimensioned.
    public var expectedLoss = 0
    /// Whether Opus sends the background noise only every 600 ms while nobody talks (DTX). The receiver plays comfort
    /// noise. Encrypted streams send all packets, because the pauses between them would show when somebody talks.
    public var isDiscontinuous = false
    /// The number of audio channels, 1 or 2. A source with another number of channels is mixed, according to
    /// `captureChannel`.
    public var channelCount = 1
    /// The audio channels of a card, a file or another source that are sent.
    public var captureChannel = CaptureChannel.mix
    /// The complexity of the encoder, 0…10. A higher complexity needs more processor time and sounds better.
    public var complexity = 10
    /// The duration of the audio from before the microphone is opened with which a transmission begins, so that the
    /// first word is whole: up to 500 ms, rounded up to whole packets. Until then it stays in the memory of this
    /// process. Zero: none.
    public var preRoll = Duration.zero

    /// The kind of audio.
    public enum Content: Hashable, Sendable { case speech, music }
    /// In-band FEC; `automatic` sends it when `expectedLoss` is above zero.
    public enum FEC: Hashable, Sendable { case automatic, on, off }

    /// Creates settings for mono speech: 32 kbit/s in packets of 20 ms.
    public init() {}

    /// The permitted durations of a packet.
    public static let frames: [Duration] = [2_500, 5_000, 10_000, 20_000, 40_000, 60_000].map { .microseconds($0) }
}

/// The playback rate and pitch of a live stream.
public struct LiveTimePitchSettings: Hashable, Sendable {
    /// The playback rate, 0.25…32. Below 1 playback falls behind; above 1 it catches up, but never runs ahead of the
    /// stream.
    public var rate = 1.0
    /// The pitch shift in cents, ± 2400.
    public var pitch = 0.0
    /// The longest time by which playback may fall behind reception. At this lag, audio is played at rate 1.
    public var longestLag = Duration.seconds(30)

    public init(rate: Double = 1, pitch: Double = 0) {
        self.rate = rate
        self.pitch = pitch
    }
}

/// The settings for playing received packets.
public struct PlayoutSettings: Hashable, Sendable {
    /// A fixed playout delay, counted from the arrival of the fastest packet; nil if the delay adapts to the network.
    public var fixedDelay: Duration?
    /// The minimum of an adaptive playout delay, in addition to a period of the card.
    public var minimumDelay = Duration.zero
    /// The maximum playout delay.
    public var maximumDelay = Duration.seconds(1)
    /// The longest stall of the network of which nothing is lost. After it the playout delay is as long, and shrinks again.
    public var longestStall = Duration.seconds(5)
    /// The maximum to which the playout delay is raised in order to recover lost packets.
    public var maximumRecoveryDelay = Duration.milliseconds(100)
    /// Whether the playout delay for recovery is also limited to the time for four retransmission requests: 4 round
    /// trips and 40 ms. The lower of this limit and `maximumRecoveryDelay` applies.
    public var followsRoundTrip = false
    /// The period of the playback card: the duration of audio that it requests at a time.
    public var period = Duration.milliseconds(5)
    /// The capacity of the card's queue, in periods.
    public var queuedPeriods = 2.0
    /// The number of audio channels, 1 or 2. Received audio with another number of channels is mixed.
    public var channelCount = 1
    /// The neural models of libopus that are used, if the library has them.
    public var decoder = DecoderChoice.auto
    /// The initial playback rate and pitch. If it is set, both can be changed during the session, and playback is
    /// delayed by another tenth of a second. If it is nil, audio is played unchanged.
    public var timePitch: LiveTimePitchSettings?

    public init() {}
}
