private import CAV

/// What FFmpeg says to an error number of its own, as the end of a sentence. The C function is `av_strerror`.
func said(by code: Int32) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { text in
        guard unsafe av_strerror(code, text.baseAddress, text.count) == 0 else { return "error \(code)" }
        return unsafe String(cString: text.baseAddress!)
    }
}

/// Once in a process: FFmpeg says nothing on the terminal, and takes no more than 256 MB in one piece, whatever a file claims
/// to hold (a day of an M4A's index is 90 MB).
let quietFFmpeg: Void = {
    av_log_set_level(AV_LOG_QUIET)
    av_max_alloc(1 << 28)
}()
