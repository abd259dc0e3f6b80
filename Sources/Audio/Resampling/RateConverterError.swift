private import CSpeexDSP

/// An error of speexdsp's resampler. Only `init` throws it.
public struct RateConverterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error code, one of the `RESAMPLER_ERR_` constants of speex_resampler.h.
    public var code: Int32

    /// A sentence with the text of `speex_resampler_strerror`.
    public var description: String {
        let text = unsafe speex_resampler_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return "the sample rate cannot be converted: \(text)"
    }
}
