#if FFmpeg
    internal import CAV

    /// FFmpeg's functions. An access traps before `loadFFmpeg` has returned.
    let av = try! opened.get()

    /// Loads FFmpeg's libraries on the first call. Throws if they are not installed.
    func loadFFmpeg() throws(ReaderError) { _ = try opened.get() }

    private let opened = Result { () throws(ReaderError) in
        try openFFmpeg("libavformat.so.\(LIBAVFORMAT_VERSION_MAJOR)")
    }

    /// Loads FFmpeg, silences its log and limits a single allocation to 256 MB, whatever a file claims (the index of a
    /// 24-hour M4A is 90 MB). The C function is `dlopen`.
    func openFFmpeg(_ file: String) throws(ReaderError) -> tenfour_av {
        var failure: UnsafePointer<CChar>?
        let av = unsafe tenfour_av_open(file, &failure)
        if let failure = unsafe failure {
            throw .undecodable(
                "this format needs FFmpeg, which cannot be loaded (\(unsafe String(cString: failure))): run `apt-get install libavformat\(LIBAVFORMAT_VERSION_MAJOR)`; if this system has another version of FFmpeg, rebuild tenfour against that version",
                kind: .libraryMissing)
        }
        av.av_log_set_level(AV_LOG_QUIET)
        av.av_max_alloc(1 << 28)
        return av
    }

    /// FFmpeg's text for an error number, as the end of a sentence. The C function is `av_strerror`.
    func ffmpegErrorText(_ code: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { text in
            guard unsafe av.av_strerror(code, text.baseAddress, text.count) == 0 else { return "error \(code)" }
            return unsafe String(cString: text.baseAddress!)
        }
    }
#endif
