public import TenfourAudioCore

/// What a card granted when it was opened, read back from it. Frames are counted at `format.rate`.
public struct NegotiatedFormat: Hashable, Sendable {
    /// The name it was opened by.
    public let device: String
    /// What the driver calls itself; empty when it does not say.
    public let cardName: String
    /// Of the samples between the card and its caller: the rate is the card's, the channel count the one asked for.
    public let format: LPCMFormat
    /// How samples go to the card, in ALSA's words: `S16_LE`.
    public let sampleFormat: String
    /// Of the card; sound is mixed up or down where it differs from `format`'s.
    public let cardChannelCount: Int
    /// How much sound passes from one interrupt of the card to the next.
    public let period: FrameCount
    /// The most that the card's queue holds.
    public let buffer: FrameCount

    /// In the buffer, counting a broken one.
    public var periodCount: Int { (buffer.rawValue + period.rawValue - 1) / period.rawValue }
}
