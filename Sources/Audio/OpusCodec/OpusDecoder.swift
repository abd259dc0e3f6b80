private import COpus
public import TenfourAudioCodec
public import TenfourAudioCore

/// An Opus decoder of one stream, at 48 kHz. The C functions are `opus_decoder_create` and `_destroy`.
///
/// Belongs to one thread at a time, which may be a playback thread: after `init` nothing here allocates or locks. Bytes
/// that are not Opus give an error or sound, never a trap. Sound is not clipped and may pass ±1.
@safe
public struct OpusDecoder: ~Copyable, @unchecked Sendable {
    private let state: OpaquePointer
    private let channelCount: Int

    /// Of the sound it gives, whatever the packets hold: mono is doubled, stereo is mixed down.
    public var format: LPCMFormat { LPCMFormat(channelCount: channelCount) }

    /// The longest packet: 120 ms (RFC 6716 section 3.2.5). A buffer of this length holds any packet.
    public static let maximumPacketDuration = FrameCount(5_760)

    /// 1 or 2 channels.
    public init(channelCount: Int = 1) throws(OpusError) {
        var result: Int32 = 0
        let rate = Int32(SampleRate.opus.hertz)
        guard let state = unsafe opus_decoder_create(rate, Int32(clamping: channelCount), &result)
        else { throw OpusError(result, in: .createDecoder) }
        unsafe self.state = state
        self.channelCount = channelCount
    }

    deinit { unsafe opus_decoder_destroy(state) }

    /// Playback thread. Decodes one packet into the front of `samples` and returns how many frames it held:
    /// `.bufferTooSmall` when they do not fit, `.invalidPacket` for bytes that are no packet, none included.
    /// The C function is `opus_decode_float`.
    @_noAllocation @_noLocks
    public mutating func decode(
        _ packet: Span<UInt8>, into samples: inout MutableSpan<Float>
    ) throws(OpusError) -> FrameCount {
        // To libopus no bytes mean a lost packet, and all of `samples` would be concealed.
        guard !packet.isEmpty else { throw OpusError(.invalidPacket, in: .decode) }
        let frames = samples.count / channelCount
        let result = unsafe callDecode(state, packet, &samples, frameCount: frames, previous: false)
        guard result >= 0 else { throw OpusError(result, in: .decode) }
        return FrameCount(Int(result))
    }

    /// Playback thread. Fills the last `frameCount` frames before `nextPacket`, which were lost: from the copy within
    /// `nextPacket` where it has one (`hasInBandFEC`), concealing what lies before the copy or is not there. The packet
    /// itself is decoded afterwards as ever. `frameCount` is a multiple of 2.5 ms, otherwise `.badArgument`.
    ///
    /// After CELT-only sound libopus has no use for the copy and conceals. It is `opus_decode_float` with `decode_fec`.
    @_noAllocation @_noLocks
    public mutating func recover(
        _ frameCount: FrameCount, from nextPacket: Span<UInt8>, into samples: inout MutableSpan<Float>
    ) throws(OpusError) {
        guard !nextPacket.isEmpty else { throw OpusError(.invalidPacket, in: .decode) }
        try checkRoom(for: frameCount, in: samples.count)
        let result = unsafe callDecode(state, nextPacket, &samples, frameCount: frameCount.rawValue, previous: true)
        guard result >= 0 else { throw OpusError(result, in: .decode) }
    }

    /// Playback thread. Fills `frameCount` frames with what the sound so far makes likely, fading to nothing as they add
    /// up. `frameCount` is a multiple of 2.5 ms, otherwise `.badArgument`. It is `opus_decode_float` without a packet.
    @_noAllocation @_noLocks
    public mutating func conceal(
        _ frameCount: FrameCount, into samples: inout MutableSpan<Float>
    ) throws(OpusError) {
        try checkRoom(for: frameCount, in: samples.count)
        let result = unsafe callConceal(state, &samples, frameCount: frameCount.rawValue)
        guard result >= 0 else { throw OpusError(result, in: .decode) }
    }

    /// Playback thread. How much of its neural models the decoder uses from the next packet on; `.plain` at first. libopus before
    /// 1.5 has no such setting: `.unimplemented`. It is `OPUS_SET_COMPLEXITY`.
    @_noAllocation @_noLocks
    public mutating func setComplexity(_ complexity: DecoderComplexity) throws(OpusError) {
        let result = unsafe callSetComplexity(state, complexity.setting)
        guard result >= 0 else { throw OpusError(result, in: .decoderComplexity) }
    }

    /// Playback thread. Forgets the sound so far, as between two talkers (`OPUS_RESET_STATE`).
    @_noAllocation @_noLocks
    public mutating func reset() { unsafe callReset(state) }

    /// What is loaded, such as `libopus 1.5.2` (`opus_get_version_string`).
    public static var library: String { unsafe String(cString: opus_get_version_string()) }

    /// Of what was last decoded, recovered or concealed (`OPUS_GET_LAST_PACKET_DURATION`); zero before the first.
    public var lastPacketDuration: FrameCount {
        @_noAllocation @_noLocks
        get { FrameCount(Int(unsafe callLastPacketDuration(state))) }
    }

    /// As `decode` of a span, for a jitter buffer.
    @_noAllocation @_noLocks
    public mutating func decode(
        _ packet: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
    ) throws(OpusError) -> FrameCount {
        guard !packet.isEmpty else { throw OpusError(.invalidPacket, in: .decode) }
        let frames = samples.count / channelCount
        let result = unsafe callDecode(state, packet, &samples, frameCount: frames, previous: false)
        guard result >= 0 else { throw OpusError(result, in: .decode) }
        return FrameCount(Int(result))
    }

    /// As `recover` from a span, for a jitter buffer.
    @_noAllocation @_noLocks
    public mutating func recover(
        _ frameCount: FrameCount, from nextPacket: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
    ) throws(OpusError) {
        guard !nextPacket.isEmpty else { throw OpusError(.invalidPacket, in: .decode) }
        try checkRoom(for: frameCount, in: samples.count)
        let result = unsafe callDecode(state, nextPacket, &samples, frameCount: frameCount.rawValue, previous: true)
        guard result >= 0 else { throw OpusError(result, in: .decode) }
    }

    @_noAllocation @_noLocks
    private func checkRoom(for frameCount: FrameCount, in sampleCount: Int) throws(OpusError) {
        guard frameCount.rawValue <= sampleCount / channelCount
        else { throw OpusError(.bufferTooSmall, in: .decode) }
    }
}
