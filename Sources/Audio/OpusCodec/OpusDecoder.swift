private import COpus
public import TenfourAudioCore

/// An Opus decoder of one stream, at 48 kHz. The C functions are `opus_decoder_create` and `_destroy`.
///
/// Belongs to one thread at a time, which may be a playback thread: after `init` no function allocates or locks. Bytes
/// that are not Opus cause an error or noise, never a trap. Samples are not clipped and may exceed ±1.
@safe
public struct OpusDecoder: ~Copyable, @unchecked Sendable {
    private let state: OpaquePointer
    private let channelCount: Int

    /// The format of the decoded samples, whatever the packets contain: mono packets are copied to both channels,
    /// stereo packets are mixed down.
    public var format: LPCMFormat { LPCMFormat(channelCount: channelCount) }

    /// The longest packet: 120 ms (RFC 6716 section 3.2.5). A buffer of this length holds any packet.
    public static let maximumPacketDuration = FrameCount(5_760)

    /// Creates a decoder with 1 or 2 output channels.
    public init(channelCount: Int = 1) throws(OpusError) {
        var result: Int32 = 0
        let rate = Int32(SampleRate.opus.hertz)
        guard let state = unsafe opus_decoder_create(rate, Int32(clamping: channelCount), &result)
        else { throw OpusError(result, in: .createDecoder) }
        unsafe self.state = state
        self.channelCount = channelCount
    }

    deinit { unsafe opus_decoder_destroy(state) }

    /// Playback thread. Decodes one packet into the front of `samples` and returns the number of frames. Throws
    /// `.bufferTooSmall` if the frames do not fit, `.invalidPacket` if the bytes are no Opus packet or there are none.
    /// The C function is `opus_decode_float`.
    @_noAllocation @_noLocks
    public mutating func decode(
        _ packet: Span<UInt8>, into samples: inout MutableSpan<Float>
    ) throws(OpusError) -> FrameCount {
        // Refuses an empty packet: libopus would treat it as a lost packet, and conceal all of `samples`.
        guard !packet.isEmpty else { throw OpusError(.invalidPacket, in: .decode) }
        let frames = samples.count / channelCount
        let result = unsafe callDecode(state, packet, &samples, frameCount: frames, previous: false)
        guard result >= 0 else { throw OpusError(result, in: .decode) }
        return FrameCount(Int(result))
    }

    /// Playback thread. Recovers lost frames, the last `frameCount` frames before `nextPacket`, from the copy within
    /// `nextPacket` (`hasInBandFEC`). Frames that the copy does not cover are concealed. Afterwards the packet itself
    /// must be decoded as usual. Throws `.badArgument` unless `frameCount` is a multiple of 2.5 ms.
    ///
    /// After a CELT-only packet libopus does not use the copy but conceals. The C function is `opus_decode_float` with
    /// `decode_fec`.
    @_noAllocation @_noLocks
    public mutating func recover(
        _ frameCount: FrameCount, from nextPacket: Span<UInt8>, into samples: inout MutableSpan<Float>
    ) throws(OpusError) {
        guard !nextPacket.isEmpty else { throw OpusError(.invalidPacket, in: .decode) }
        try checkRoom(for: frameCount, in: samples.count)
        let result = unsafe callDecode(state, nextPacket, &samples, frameCount: frameCount.rawValue, previous: true)
        guard result >= 0 else { throw OpusError(result, in: .decode) }
    }

    /// Playback thread. Fills `frameCount` frames by extrapolation of the audio decoded so far (packet loss
    /// concealment). The audio fades to silence during a long loss. Throws `.badArgument` unless `frameCount` is a
    /// multiple of 2.5 ms. The C function is `opus_decode_float` without a packet.
    @_noAllocation @_noLocks
    public mutating func conceal(
        _ frameCount: FrameCount, into samples: inout MutableSpan<Float>
    ) throws(OpusError) {
        try checkRoom(for: frameCount, in: samples.count)
        let result = unsafe callConceal(state, &samples, frameCount: frameCount.rawValue)
        guard result >= 0 else { throw OpusError(result, in: .decode) }
    }

    /// Playback thread. Sets the neural models that the decoder uses from the next packet on; initially `.plain`.
    /// Throws `.unimplemented` with libopus before 1.5, which lacks this setting (`OPUS_SET_COMPLEXITY`).
    @_noAllocation @_noLocks
    public mutating func setComplexity(_ complexity: DecoderComplexity) throws(OpusError) {
        let result = unsafe callSetComplexity(state, complexity.setting)
        guard result >= 0 else { throw OpusError(result, in: .decoderComplexity) }
    }

    /// Playback thread. Resets the decoder to its initial state, for example for another talker (`OPUS_RESET_STATE`).
    @_noAllocation @_noLocks
    public mutating func reset() { unsafe callReset(state) }

    /// The name and version of the loaded library, such as `libopus 1.5.2` (`opus_get_version_string`).
    public static var library: String { unsafe String(cString: opus_get_version_string()) }

    /// The duration of the last packet or of the last recovered or concealed audio (`OPUS_GET_LAST_PACKET_DURATION`);
    /// zero before the first call.
    public var lastPacketDuration: FrameCount {
        @_noAllocation @_noLocks
        get { FrameCount(Int(unsafe callLastPacketDuration(state))) }
    }

    /// Playback thread. Decodes an `EncodedPacket` for a jitter buffer. The results are those of `decode` with a span.
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

    /// Playback thread. Recovers lost frames from an `EncodedPacket` for a jitter buffer. The results are those of
    /// `recover` with a span.
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
