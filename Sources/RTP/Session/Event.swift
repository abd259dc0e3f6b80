public import TenfourAudioCore
public import TenfourPackets

/// An event of an RTP session.
public enum Event: Equatable, Sendable {
    /// The first packet of a source has arrived.
    case sourceAppeared(SSRC, from: Endpoint)
    /// A source has stated its name, which is safe to display.
    case sourceNamed(SSRC, String)
    /// The first report of a participant that sends no audio has arrived, with the name that it states.
    case reporterAppeared(SSRC, String?, from: Endpoint)
    /// A participant that sends no audio has left: by BYE with `reason`, or by time-out (nil).
    case reporterLeft(SSRC, reason: String?)
    /// A source has left: by BYE with `reason`, or by time-out (nil).
    case sourceLeft(SSRC, reason: String?)
    /// The payloads of a source look encrypted and not like Opus, and are discarded. Posted once.
    case sourceLooksEncrypted(SSRC)
    /// The packets of a payload type that nobody has named are those of Opus. From now on, they are played. Posted once for
    /// each source and type.
    case opusRecognised(SSRC, payloadType: UInt8, from: Endpoint)
    /// The packets of this payload type are not played, because no codec is named for it, or because it is the type of another
    /// codec than Opus and G.711 (RFC 3551 table 4). Posted once for each sender and type.
    case payloadTypeUnknown(SSRC, payloadType: UInt8, from: Endpoint)
    /// The timestamps of an Opus source count at this rate and not at 48 000 Hz (RFC 7587 section 4.1). Its packets are
    /// placed by their sequence numbers and durations. Posted once.
    case sourceClockIsWrong(SSRC, SampleRate)
    /// Two senders use one SSRC (RFC 3550 section 8.2). Packets from `other` are discarded while `kept` sends. Posted once.
    case sourcesCollide(SSRC, kept: Endpoint, other: Endpoint)
    /// A source sends its audio faster than real time, and what is more than a second ahead is dropped. It should send
    /// one packet in each `interval`. Posted once.
    case sourceSendsTooFast(SSRC, interval: Duration)
    /// A source has sent a telephone event: its user has pressed a key. Posted once for each press.
    case keyPressed(SSRC, TelephoneEvent)
    /// A participant says that it transmits, and nothing has arrived from it for 1.8 s, or for 3 s
    /// where its packets were lost lately.
    case mediaMissing(SSRC)
    /// The audio of such a participant arrives again, or the participant transmits no more.
    case mediaReturned(SSRC, isArriving: Bool)
    /// A partner begins to hear us, or hears us no more.
    case hearingChanged(Hearing)
    /// A receiver has reported on our stream.
    case receiverReported(SSRC, ReceiverView)
    /// Another participant used our SSRC, so our stream continues under this new one.
    case identityChanged(SSRC)
    /// The partner's host name resolves to a new address; our stream now goes to this endpoint.
    case partnerMoved(to: Endpoint)
}

/// A receiver's view of our stream, from its report block (RFC 3550 section 6.4.1) and extended reports (RFC 3611).
public struct ReceiverView: Hashable, Sendable {
    /// The share of our packets that the receiver lost since its previous report, 0…1; a retransmitted packet that
    /// arrived is not lost.
    public var lossShare: Double
    /// The number of our packets that the receiver has lost since it began to receive.
    public var lostCount: Int
    /// The interarrival jitter that the receiver measured.
    public var jitter: Duration
    /// The round trip; nil until a report of the receiver refers to one of our sender reports.
    public var roundTrip: Duration?
    /// The share of the packets of the last seconds that the network lost, 0…1, including packets that were recovered
    /// later; nil if not reported.
    public var networkLossShare: Double?
    /// The mean number of packets lost in a row over the last seconds; nil if not reported.
    public var burstLength: Double?
    /// The share of the audio of the last seconds that arrived but was not played, 0…1; nil if not reported. Audio is
    /// not played if, for example, the receiver's card skips.
    public var discardShare: Double?
    /// The receiver's concealment of lost packets, from its capabilities; `.plain` if unknown.
    public var concealment = PacketLossConcealment.plain
}
