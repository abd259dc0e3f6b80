/// The settings of an `OpusEncoder`, all of which may be changed between two frames.
///
/// libopus checks the ranges. A refused value causes an `OpusError` that names the setting.
public struct OpusEncoderSettings: Hashable, Sendable {
    /// The bit rate of the packets in bit/s, 6 000…510 000, without the headers of RTP, UDP and IP (another 16 000 with
    /// 20 ms frames over IPv4). libopus limits other positive values to its range, and refuses zero and negative
    /// values.
    public var bitRate = 32_000

    /// The complexity of encoding, 0…10: higher values take more processor time and give better quality.
    public var complexity = 10

    public var rateControl = RateControl.constrained

    /// Whether a packet may carry a coarser copy of the frame before it (LBRR, RFC 6716 section 2.1.7).
    ///
    /// libopus 1.3.1 sends copies only if `expectedLoss` is high enough for the bit rate: at least 1 % at 32 kbit/s and
    /// 7 % at 24 kbit/s; at 16 kbit/s it never sends them (measured on speech). The bits of the copy are part of
    /// `bitRate`.
    public var inBandFEC = false

    /// The expected packet loss in percent, 0…100. With in-band FEC it determines the part of the bit rate that is
    /// spent on the copy. Values far above the thresholds at `inBandFEC` reduce quality more than the recovered frames
    /// improve it.
    public var expectedLoss = 0

    public var signal = Signal.automatic

    /// The widest audio bandwidth that is encoded.
    public var maximumBandwidth = Bandwidth.full

    /// Whether silence is encoded in packets of two bytes or fewer, which need not be sent (`OPUS_SET_DTX`).
    public var discontinuousTransmission = false

    public init() {}

    public enum RateControl: Hashable, Sendable {
        /// The size of a packet depends on its audio.
        case variable
        /// The size of a packet depends on its audio, but the surplus over the bit rate is at most one frame's bits.
        /// The default of libopus.
        case constrained
        /// All packets have the same size. So the sizes reveal the least about encrypted speech (RFC 6562).
        case constant
    }

    /// The kind of audio for which the encoder is tuned. With `automatic` the encoder detects it.
    public enum Signal: Hashable, Sendable { case automatic, speech, music }

    /// An audio bandwidth: up to 4, 6, 8, 12 and 20 kHz, in this order (RFC 6716 table 1).
    public enum Bandwidth: Hashable, Sendable { case narrow, medium, wide, superWide, full }
}
