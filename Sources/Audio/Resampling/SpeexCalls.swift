// The C functions called on audio threads. The compiler cannot check these functions for allocations and locks, so
// reviewers must. speexdsp 1.2.1 allocates only when a filter becomes longer than all filters before, and
// `RateConverter.init` has already set the longest filter.

private import CSpeexDSP

/// Calls `speex_resampler_set_rate_frac`. Returns zero or an error code. The last two arguments of the C function are
/// the rates in hertz. speexdsp only stores them, so the terms of the ratio are passed instead.
@_semantics("no_performance_analysis")
internal func callSetRatio(_ state: OpaquePointer, _ ratio: Ratio) -> Int32 {
    unsafe speex_resampler_set_rate_frac(state, ratio.input, ratio.output, ratio.input, ratio.output)
}

/// Calls `speex_resampler_process_interleaved_float`, which cannot fail after a successful `init`. Returns the numbers
/// of frames read and written.
@_semantics("no_performance_analysis")
internal func callProcess(
    _ state: OpaquePointer, _ input: Span<Float>, _ output: inout MutableSpan<Float>, channelCount: Int
) -> (consumed: Int, produced: Int) {
    var consumed = UInt32(clamping: input.count / channelCount)
    var produced = UInt32(clamping: output.count / channelCount)
    // Returns before the call if a buffer is empty: its address may be null, and speexdsp treats a null pointer as
    // silence.
    guard consumed > 0, produced > 0 else { return (0, 0) }
    unsafe input.withUnsafeBufferPointer { given in
        unsafe output.withUnsafeMutableBufferPointer { taken in
            _ = unsafe speex_resampler_process_interleaved_float(
                state, given.baseAddress, &consumed, taken.baseAddress, &produced)
        }
    }
    return (Int(consumed), Int(produced))
}
