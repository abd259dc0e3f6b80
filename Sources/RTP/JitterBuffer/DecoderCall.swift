public import TenfourAudioCore

/// One call of the decoder, as a jitter buffer requests it.
@usableFromInline
struct DecoderCall: BitwiseCopyable, Sendable {
    @usableFromInline
    enum Kind: BitwiseCopyable, Sendable {
        case decode, recover, conceal
    }

    @usableFromInline let kind: Kind
    /// The packet to decode, or to recover from; meaningless for `conceal`.
    @usableFromInline let packet: PacketQueue.Entry
    /// The number of frames to decode or conceal.
    @usableFromInline let frameCount: FrameCount
    /// The number of frames at the start of the packet that were concealed already.
    let skipping: FrameCount
    /// The number of concealed frames, at the end of the waiting audio, that are removed because the packet replaces
    /// them.
    let replaced: Int
    /// The index in the sync buffer, in frames, at which the decoder writes.
    let place: Int

    @_noAllocation @_noLocks
    init(
        _ kind: Kind, _ packet: PacketQueue.Entry, _ frameCount: FrameCount, skipping: FrameCount = .zero,
        replaced: Int, place: Int
    ) {
        self.kind = kind
        self.packet = packet
        self.frameCount = frameCount
        self.skipping = skipping
        self.replaced = replaced
        self.place = place
    }

    /// The result of a call of the decoder.
    @usableFromInline
    struct Result: BitwiseCopyable, Sendable {
        /// The number of frames that the decoder wrote; nil if the decoder rejected the packet as invalid.
        let frames: FrameCount?
        /// Whether a neural network generated the concealment (deep PLC).
        let isByModel: Bool

        @usableFromInline @_noAllocation @_noLocks
        init(frames: FrameCount?, isByModel: Bool = false) {
            self.frames = frames
            self.isByModel = isByModel
        }
    }
}
