public import TenfourAudioCore

/// One call that a jitter buffer asks its decoder for.
@usableFromInline
struct DecoderCall: BitwiseCopyable, Sendable {
    @usableFromInline
    enum Kind: BitwiseCopyable, Sendable {
        case decode, recover, conceal
    }

    @usableFromInline let kind: Kind
    /// The packet to decode, or to recover from; meaningless for `conceal`.
    @usableFromInline let packet: PacketQueue.Entry
    /// The number of frames that are wanted.
    @usableFromInline let frameCount: FrameCount
    /// The first frames of the packet, which were concealed already.
    let skipping: FrameCount
    /// The frames before the packet that it takes the place of.
    let replaced: Int
    /// Where in the sync buffer the decoder writes to.
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

    /// The result of a call.
    @usableFromInline
    struct Result: BitwiseCopyable, Sendable {
        /// The number of frames that were written; nil where the decoder refused.
        let frames: FrameCount?
        /// Whether a neural network concealed.
        let isByModel: Bool

        @usableFromInline @_noAllocation @_noLocks
        init(frames: FrameCount?, isByModel: Bool = false) {
            self.frames = frames
            self.isByModel = isByModel
        }
    }
}
