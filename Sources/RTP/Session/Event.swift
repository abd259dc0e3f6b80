public import TenfourPackets

/// An event of an RTP session.
public enum Event: Equatable, Sendable {
    /// The first packet of a source.
    case sourceAppeared(SSRC, from: Endpoint)
    /// The name that a source gives itself, fit to be shown.
    case sourceNamed(SSRC, String)
    /// The first report of one who sends no sound, with what it says it is called.
    case reporterAppeared(SSRC, String?, from: Endpoint)
    /// One who only reports said good-bye, with its reason, or has not been heard for a while (nil).
    case reporterLeft(SSRC, reason: String?)
    /// A source said good-bye, with its reason, or has not been heard for a while (nil).
    case sourceLeft(SSRC, reason: String?)
    /// What a source sends is no Opus but looks encrypted, and is not handed on. Told once.
    case sourceLooksEncrypted(SSRC)
    /// A receiver reported on our stream.
    case receiverReported(SSRC, ReceiverView)
    /// Another participant used our SSRC. This is ours from now on.
    case identityChanged(SSRC)
    /// The partner's name stands for another address now, and we send there.
    case partnerMoved(to: Endpoint)
}

/// How our stream looks from the other end (RFC 3550 section 6.4.1).
public struct ReceiverView: Hashable, Sendable {
    /// Of the packets since the last report, 0…1; what was sent again and came is not lost.
    public var lossShare: Double
    /// Packets since the beginning.
    public var lostCount: Int
    public var jitter: Duration
    /// There and back; nil until a report of ours has come back.
    public var roundTrip: Duration?
    /// The share of the packets of the last seconds that the network lost, 0…1, before any was recovered; nil where the
    /// report does not tell.
    public var networkLossShare: Double?
    /// Packets lost in a row, on average over the last seconds; nil where the report does not tell.
    public var burstLength: Double?
    /// The share of the sound of the last seconds that the receiver had and did not play, 0…1, for example because its
    /// card skips; nil where the report does not tell.
    public var discardShare: Double?
    /// How the receiver makes up what stays lost, as its abilities say; plain where they do not.
    public var concealment = PacketLossConcealment.plain
}
