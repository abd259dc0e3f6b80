/// The offset, size and duration of one encoded packet, like Core Audio's `AudioStreamPacketDescription`.
public struct PacketDescription: Hashable, BitwiseCopyable, Sendable {
    /// The packet's offset, in bytes, from the start of the file, stream or RTP payload that contains it.
    public var offset: Int
    /// The packet's size in bytes.
    public var byteCount: Int
    /// The packet's duration in frames, at 48 000 Hz unless stated otherwise.
    public var frameCount: FrameCount

    @inlinable public init(offset: Int, byteCount: Int, frameCount: FrameCount) {
        self.offset = offset
        self.byteCount = byteCount
        self.frameCount = frameCount
    }
}
