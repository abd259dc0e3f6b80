public import TenfourAudioCore

/// An Opus packet of a live stream. Each packet begins where the one before it ends.
public struct LivePacket: Equatable, Sendable {
    public enum Content: Equatable, Sendable {
        /// A talker's packet, byte for byte.
        case audio
        /// A packet without audio in the place of a talker's packet that did not arrive. A decoder conceals it.
        case concealment
        /// Encoded silence.
        case silence
    }

    /// The position at which the packet begins, counted from the beginning of the stream.
    public var start: FrameCount
    public var frameCount: FrameCount
    public var payload: [UInt8]
    public var content: Content

    /// The position at which the packet ends and the next one begins.
    public var end: FrameCount { start + frameCount }

    public init(start: FrameCount, frameCount: FrameCount, payload: [UInt8], content: Content) {
        self.start = start
        self.frameCount = frameCount
        self.payload = payload
        self.content = content
    }
}
