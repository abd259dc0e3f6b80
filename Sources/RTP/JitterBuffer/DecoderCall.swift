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

extension JitterBuffer {
    /// Calls the decoder. The only step of a pull that depends on the codec.
    @inlinable
    static func perform<Decoder: AudioDecoder & ~Copyable>(
        _ call: DecoderCall, of controller: borrowing PlayoutController, into buffer: inout SyncBuffer,
        with decoder: inout Decoder
    ) -> DecoderCall.Result {
        var space = buffer.space
        switch call.kind {
        case .decode:
            return .init(frames: decoder.decode(controller.packet(call.packet), into: &space))
        case .recover:
            let isDone = decoder.recover(call.frameCount, from: controller.packet(call.packet), into: &space)
            return .init(frames: isDone ? call.frameCount : nil)
        case .conceal:
            switch decoder.conceal(call.frameCount, into: &space) {
            case .plain: return .init(frames: call.frameCount)
            case .neural: return .init(frames: call.frameCount, isByModel: true)
            case nil: return .init(frames: nil)
            }
        }
    }
}
