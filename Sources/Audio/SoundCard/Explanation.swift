import CALSA

/// What alsa-lib has to say about a failure beyond its number. The only file that touches the shim's thread-local text.
enum Explanation {
    /// Keeps alsa-lib's chatter about the calling thread off stderr, from now on. Any thread.
    @_semantics("no_performance_analysis")
    static func keepOffTheTerminal() { calsa_keep_explanations() }

    /// The last words of alsa-lib on this thread since `keepOffTheTerminal`, in one line; empty when there were none.
    static var last: String {
        let words = unsafe calsa_explanation().map { unsafe String(cString: $0) } ?? ""
        return words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// What an ALSA return code says, as `snd_strerror` puts it.
    static func text(_ code: Int32) -> String {
        unsafe snd_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}
