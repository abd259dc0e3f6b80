#if FFmpeg
    public import TenfourMediaSource
    public import TenfourAudioCore

    /// Opens a reader for every format that this package plays: Ogg Opus and WAV without FFmpeg, all others with
    /// FFmpeg. `format` is the format of the decoded audio; nil keeps the format of the recording. `hint` is the
    /// container format, which is detected if it is nil.
    ///
    /// Blocks until the first audio is decoded. Throws if FFmpeg is needed and not installed. The reader is for one
    /// thread at a time.
    public func openFFmpegReader(
        _ byteSource: any ByteSource, format: LPCMFormat?, as hint: ContainerFormat? = nil
    ) throws(ReaderError) -> any MediaReader {
        var window = ByteWindow(of: byteSource)
        let tag: ID3Tag
        let container: ContainerFormat
        do {
            tag = try ID3Tag(&window)
            try window.load(at: tag.byteCount, count: ContainerFormat.sniffedByteCount)
            let sniffed = ContainerFormat(sniffing: window.bytes)
            // Both versions of Musepack have the same ending.
            container = hint == .musepack8 && sniffed == .musepack7 ? sniffed : hint ?? sniffed
        } catch { throw .demuxer(.byteSource(error)) }
        try container.check()
        if isBuiltIn(container, &window) { return try openBuiltInReader(window, container, format: format) }
        try loadFFmpeg()
        let source: any FFmpegPacketSource
        switch container {
        case .elementary: source = try FrameParser(window, tag: tag)
        default:
            let isHeld = if container == .mp4 { try hasIndexBehindAudio(&window) } else { false }
            if isHeld { window.byteSource.holdAll() }
            guard let stream = ByteStream(window, from: tag.byteCount, isHeld: isHeld) else {
                throw .undecodable("there is not enough memory: end other programs", kind: .resourcesExhausted)
            }
            source = try FFmpegDemuxer(stream, container, tag: tag)
        }
        return try FFmpegReader(source, format: format)
    }

    /// Returns whether `window` begins an MP4 whose index follows its audio, from a source that cannot seek.
    private func hasIndexBehindAudio(_ window: inout ByteWindow) throws(ReaderError) -> Bool {
        guard !window.byteSource.state.isSeekable else { return false }
        var offset = 0
        // Examines at most 16 boxes of less than 64 KiB, since only a few small boxes precede the index and the audio.
        for _ in 0..<16 {
            do { try window.load(at: offset, count: 8) } catch { throw .demuxer(.byteSource(error)) }
            guard window.bytes.count == 8, !window.bytes.holds("moov", at: 4) else { return false }
            if window.bytes.holds("mdat", at: 4) { return true }
            let size = Int(window.bytes.bigEndian32(at: 0))
            guard 8..<65_536 ~= size else { return false }
            offset += size
        }
        return false
    }
#endif
