// The C functions called on audio threads. The compiler cannot check these functions for allocations and locks, so
// reviewers must. libopus 1.3.1 and 1.5.2, including the neural models, use only the stack and the memory that the
// create functions allocated.

private import COpus
internal import TenfourAudioCore

/// Calls `opus_encode_float`. Returns the number of bytes written, or an error code below zero.
@_semantics("no_performance_analysis")
internal func callEncode(
    _ state: OpaquePointer, _ samples: Span<Float>, _ channelCount: Int, _ packet: inout MutableSpan<UInt8>
) -> Int32 {
    let frameCount = Int32(clamping: samples.count / channelCount)
    return unsafe samples.withUnsafeBufferPointer { sound in
        unsafe packet.withUnsafeMutableBufferPointer { bytes in
            guard let first = sound.baseAddress, let firstByte = bytes.baseAddress else { return OPUS_BAD_ARG }
            return unsafe opus_encode_float(state, first, frameCount, firstByte, Int32(clamping: bytes.count))
        }
    }
}

/// Calls `opus_encoder_ctl` for a setting. Returns zero, or an error code below zero.
@_semantics("no_performance_analysis")
internal func callSet(_ state: OpaquePointer, _ setting: OpusError.Function, _ value: Int32) -> Int32 {
    switch setting {
    case .bitRate: unsafe tenfour_opus_set_bitrate(state, value)
    case .complexity: unsafe tenfour_opus_set_complexity(state, value)
    case .rateControl: unsafe tenfour_opus_set_vbr(state, value)
    case .rateConstraint: unsafe tenfour_opus_set_vbr_constraint(state, value)
    case .inBandFEC: unsafe tenfour_opus_set_inband_fec(state, value)
    case .expectedLoss: unsafe tenfour_opus_set_packet_loss_perc(state, value)
    case .signal: unsafe tenfour_opus_set_signal(state, value)
    case .maximumBandwidth: unsafe tenfour_opus_set_max_bandwidth(state, value)
    case .discontinuousTransmission: unsafe tenfour_opus_set_dtx(state, value)
    case .createEncoder, .createDecoder, .encode, .decode, .decoderComplexity: OPUS_UNIMPLEMENTED
    }
}

/// Calls `opus_decoder_ctl` for the complexity. Returns zero, or an error code below zero.
@_semantics("no_performance_analysis")
internal func callSetComplexity(_ decoder: OpaquePointer, _ complexity: Int32) -> Int32 {
    unsafe tenfour_opus_set_decoder_complexity(decoder, complexity)
}

/// Calls `opus_decode_float` to decode `packet` or, if `previous` is true, to recover the `frameCount` frames before
/// it. Returns the number of frames written, or an error code below zero. The caller has checked that the frames fit
/// into `samples`.
@_semantics("no_performance_analysis")
internal func callDecode(
    _ state: OpaquePointer, _ packet: Span<UInt8>, _ samples: inout MutableSpan<Float>, frameCount: Int, previous: Bool
) -> Int32 {
    unsafe packet.withUnsafeBufferPointer { bytes in
        unsafe samples.withUnsafeMutableBufferPointer { sound in
            guard let first = sound.baseAddress else { return OPUS_BUFFER_TOO_SMALL }
            return unsafe opus_decode_float(
                state, bytes.baseAddress, Int32(clamping: bytes.count), first, Int32(clamping: frameCount),
                previous ? 1 : 0)
        }
    }
}

/// Calls `opus_decode_float` to decode an `EncodedPacket` or, if `previous` is true, to recover the `frameCount` frames
/// before it. Returns the number of frames written, or an error code below zero. The caller has checked that the frames
/// fit into `samples`.
@_semantics("no_performance_analysis")
internal func callDecode(
    _ state: OpaquePointer, _ packet: borrowing EncodedPacket, _ samples: inout MutableSpan<Float>, frameCount: Int,
    previous: Bool
) -> Int32 {
    unsafe callDecode(state, packet.bytes, &samples, frameCount: frameCount, previous: previous)
}

/// Calls `opus_decode_float` without a packet, to conceal. Returns the number of frames written, or an error code below
/// zero. The caller has checked that the frames fit into `samples`.
@_semantics("no_performance_analysis")
internal func callConceal(_ state: OpaquePointer, _ samples: inout MutableSpan<Float>, frameCount: Int) -> Int32 {
    unsafe samples.withUnsafeMutableBufferPointer { sound in
        guard let first = sound.baseAddress else { return OPUS_BUFFER_TOO_SMALL }
        return unsafe opus_decode_float(state, nil, 0, first, Int32(clamping: frameCount), 0)
    }
}

/// Calls `opus_decoder_ctl(OPUS_RESET_STATE)`, which cannot fail.
@_semantics("no_performance_analysis")
internal func callReset(_ state: OpaquePointer) { _ = unsafe tenfour_opus_reset_decoder(state) }

/// Calls `opus_decoder_ctl(OPUS_GET_LAST_PACKET_DURATION)`, which cannot fail. Returns a number of frames.
@_semantics("no_performance_analysis")
internal func callLastPacketDuration(_ state: OpaquePointer) -> Int32 {
    var frames: Int32 = 0
    _ = unsafe tenfour_opus_get_last_packet_duration(state, &frames)
    return frames
}

/// Calls `opus_packet_parse`. Returns the first byte of the first frame in `packet`; nil if the packet is malformed or
/// the frame has `byteCount` bytes or fewer.
@_semantics("no_performance_analysis")
internal func callFirstByteOfFrame(in packet: Span<UInt8>, longerThan byteCount: Int32) -> UInt8? {
    unsafe packet.withUnsafeBufferPointer { packet in
        var frame: UnsafePointer<UInt8>?
        var frameByteCount: Int32 = 0
        let count = unsafe tenfour_opus_first_frame(
            packet.baseAddress, Int32(clamping: packet.count), &frame, &frameByteCount)
        guard count > 0, frameByteCount > byteCount, let frame = unsafe frame else { return nil }
        return unsafe frame[0]
    }
}
