import CALSA

/// alsa-lib's messages about a failure. No other file uses the thread-local text of the C shim.
enum ALSAMessages {
    /// Makes alsa-lib keep its messages on the calling thread instead of writing them to stderr. Any thread may call
    /// it.
    @_semantics("no_performance_analysis")
    static func divertFromTerminal() { calsa_keep_explanations() }

    /// alsa-lib's last message on this thread, in one line; empty if there is none.
    static var last: String {
        let words = unsafe calsa_explanation().map { unsafe String(cString: $0) } ?? ""
        return words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The text of an ALSA return code, by `snd_strerror`.
    static func text(_ code: Int32) -> String {
        unsafe snd_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}
