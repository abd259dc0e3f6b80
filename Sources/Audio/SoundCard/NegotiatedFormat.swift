public import TenfourAudioCore

/// The parameters that a card granted when opened. Frames are counted at `format.rate`.
public struct NegotiatedFormat: Hashable, Sendable {
    /// The name by which the card was opened.
    public let device: String
    /// The driver's name for the card; may be empty.
    public let cardName: String
    /// The format between the card and its caller: the card's rate, the requested channel count.
    public let format: LPCMFormat
    /// The card's sample format by its ALSA name, such as `S16_LE`.
    public let sampleFormat: String
    /// The card's channel count; audio is mixed if it differs from `format`'s.
    public let cardChannelCount: Int
    /// The number of frames between two interrupts of the card.
    public let period: FrameCount
    /// The capacity of the card's buffer.
    public let buffer: FrameCount

    /// The number of periods in the buffer, including an incomplete one.
    public var periodCount: Int { (buffer.rawValue + period.rawValue - 1) / period.rawValue }
}

extension NegotiatedFormat {
    init(of device: borrowing PCMDevice, channelCount: Int) {
        let negotiated = device.negotiated
        self.init(
            device: device.name, cardName: device.cardName,
            format: LPCMFormat(rate: SampleRate(hertz: negotiated.rate), channelCount: channelCount),
            sampleFormat: negotiated.sampleFormat.name, cardChannelCount: negotiated.channelCount,
            period: FrameCount(negotiated.period), buffer: FrameCount(negotiated.buffer))
    }
}
