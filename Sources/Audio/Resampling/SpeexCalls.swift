// The C calls made on audio threads. The compiler looks for allocations and locks everywhere but in here: these are the
// functions that a reviewer must believe. speexdsp 1.2.1 allocates when a filter grows past its longest so far, which
// `RateConverter.init` has brought about before, and nowhere else.

private import CSpeexDSP

/// `speex_resampler_set_rate_frac`: zero, or an error. The rates themselves it only remembers.
@_semantics("no_performance_analysis")
internal func callSetRatio(_ state: OpaquePointer, _ ratio: Ratio) -> Int32 {
    unsafe speex_resampler_set_rate_frac(state, ratio.input, ratio.output, ratio.input, ratio.output)
}

/// `speex_resampler_process_interleaved_float`, which after a successful `init` cannot fail.
@_semantics("no_performance_analysis")
internal func callProcess(
    _ state: OpaquePointer, _ input: Span<Float>, _ output: inout MutableSpan<Float>, channelCount: Int
) -> (consumed: Int, produced: Int) {
    var consumed = UInt32(clamping: input.count / channelCount)
    var produced = UInt32(clamping: output.count / channelCount)
    // To speexdsp a null pointer is silence, so many frames of it.
    guard consumed > 0, produced > 0 else { return (0, 0) }
    unsafe input.withUnsafeBufferPointer { given in
        unsafe output.withUnsafeMutableBufferPointer { taken in
            _ = unsafe speex_resampler_process_interleaved_float(
                state, given.baseAddress, &consumed, taken.baseAddress, &produced)
        }
    }
    return (Int(consumed), Int(produced))
}
