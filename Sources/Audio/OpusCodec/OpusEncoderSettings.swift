/// What an `OpusEncoder` is told, all of it changeable while sound flows.
///
/// libopus checks the ranges; what it refuses comes back as an `OpusError` that names the setting.
public struct OpusEncoderSettings: Hashable, Sendable {
    /// Bits per second of the packets alone, without RTP, UDP and IP (another 16 000 with 20 ms frames over IPv4).
    /// 6 000…510 000; libopus brings what lies outside into its range, and refuses zero and less.
    public var bitRate = 32_000

    /// How hard the encoder works, 0…10.
    public var complexity = 10

    public var rateControl = RateControl.constrained

    /// Whether a packet may carry a coarser copy of the frame before it (LBRR, RFC 6716 section 2.1.7).
    ///
    /// libopus 1.3.1 sends copies only when `expectedLoss` is high enough for the bit rate as well: 1 % at 32 kbit/s, 7 % at
    /// 24 kbit/s, and at no loss at 16 kbit/s, measured on speech. The copy is paid for out of `bitRate`.
    public var inBandFEC = false

    /// How many packets in a hundred are expected to be lost, 0…100. With in-band FEC it says how much of the bit rate the
    /// copy gets, and much above the values given there costs more than it recovers.
    public var expectedLoss = 0

    public var signal = Signal.automatic

    /// The widest band that is coded.
    public var maximumBandwidth = Bandwidth.full

    /// Whether silence is coded in packets of two bytes or less, which need not be sent (`OPUS_SET_DTX`).
    public var discontinuousTransmission = false

    public init() {}

    public enum RateControl: Hashable, Sendable {
        /// Bits go where the sound needs them.
        case variable
        /// The same with at most one frame's worth put off; libopus' own choice.
        case constrained
        /// Every packet of the same size: what an eavesdropper on encrypted speech learns least from (RFC 6562).
        case constant
    }

    /// What the encoder prepares for. `automatic` lets it listen.
    public enum Signal: Hashable, Sendable { case automatic, speech, music }

    /// Up to 4, 6, 8, 12 and 20 kHz (RFC 6716 table 1).
    public enum Bandwidth: Hashable, Sendable { case narrow, medium, wide, superWide, full }
}
