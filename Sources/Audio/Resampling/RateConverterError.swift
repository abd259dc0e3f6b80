private import CSpeexDSP

/// A refusal by speexdsp's resampler, at `init` only.
public struct RateConverterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A `RESAMPLER_ERR_` number of speex_resampler.h.
    public var code: Int32

    /// The C function and `speex_resampler_strerror`'s text.
    public var description: String {
        let text = unsafe speex_resampler_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return "speex_resampler_init: \(text)"
    }
}
