/// Where one coded packet lies in a run of bytes and how much sound it holds, as in Core Audio's
/// `AudioStreamPacketDescription`.
public struct PacketDescription: Hashable, BitwiseCopyable, Sendable {
    /// From the beginning of the bytes.
    public var offset: Int
    public var byteCount: Int
    /// At 48 000 Hz where no other rate is said.
    public var frameCount: FrameCount

    @inlinable public init(offset: Int, byteCount: Int, frameCount: FrameCount) {
        self.offset = offset
        self.byteCount = byteCount
        self.frameCount = frameCount
    }
}
