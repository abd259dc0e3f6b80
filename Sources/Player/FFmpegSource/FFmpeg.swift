#if FFmpeg
    internal import CAV
    internal import TenfourMediaSource

    /// FFmpeg's functions, once `needFFmpeg` has returned: before that it is a mistake of ours to look at them, and traps.
    let av = try! opened.get()

    /// Opens FFmpeg's libraries, the first time. Throws where they are not on this machine.
    func needFFmpeg() throws(ReaderError) { _ = try opened.get() }

    private let opened = Result { () throws(ReaderError) in
        try openFFmpeg("libavformat.so.\(LIBAVFORMAT_VERSION_MAJOR)")
    }

    /// The C function is `dlopen`. From then on FFmpeg says nothing on the terminal, and takes no more than 256 MB in one
    /// piece, whatever a file claims to hold (a day of an M4A's index is 90 MB).
    func openFFmpeg(_ file: String) throws(ReaderError) -> tenfour_av {
        var failure: UnsafePointer<CChar>?
        let av = unsafe tenfour_av_open(file, &failure)
        if let failure = unsafe failure {
            throw .undecodable(
                "this is played by FFmpeg, which cannot be opened; apt-get install libavformat\(LIBAVFORMAT_VERSION_MAJOR), or build tenfour again where Debian has another version (\(unsafe String(cString: failure)))"
            )
        }
        av.av_log_set_level(AV_LOG_QUIET)
        av.av_max_alloc(1 << 28)
        return av
    }

    /// What FFmpeg says to an error number of its own, as the end of a sentence. The C function is `av_strerror`.
    func said(by code: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { text in
            guard unsafe av.av_strerror(code, text.baseAddress, text.count) == 0 else { return "error \(code)" }
            return unsafe String(cString: text.baseAddress!)
        }
    }
#endif
