#if FFmpeg
    public import TenfourMediaSource
    public import TenfourAudioCore

    /// Everything that this package plays: Ogg Opus and WAV without FFmpeg, the rest with it. `format` is of what is read; nil:
    /// as it was recorded.
    ///
    /// Waits for the first sound. Throws where FFmpeg is needed and not on this machine. One thread at a time, from here on.
    public func openFFmpegFeed(_ download: any ByteSource, format: LPCMFormat?) throws(ReaderError) -> any MediaReader {
        var window = ByteWindow(of: download)
        let tag: ID3Tag
        let container: ContainerFormat
        do {
            tag = try ID3Tag(&window)
            try window.load(at: tag.byteCount, count: ContainerFormat.sniffedByteCount)
            container = ContainerFormat(sniffing: window.bytes)
        } catch { throw .parse(.download(error)) }
        if let refusal = container.refusal { throw .parse(.malformed(refusal)) }
        if isOwn(container, &window) { return try openOwnFeed(window, container, format: format) }
        try needFFmpeg()
        let source: any PacketSource
        switch container {
        case .elementary: source = try FrameParser(window, tag: tag)
        default:
            let isHeld = if container == .mp4 { try mustHoldAll(&window) } else { false }
            if isHeld { window.download.holdAll() }
            guard let stream = ByteStream(window, from: tag.byteCount, isHeld: isHeld) else {
                throw .undecodable("out of memory")
            }
            source = try FFmpegDemuxer(stream, container, tag: tag)
        }
        return try FFmpegReader(source, format: format)
    }

    /// An MP4 file whose index lies behind its sound, of a side that cannot go there and back.
    private func mustHoldAll(_ window: inout ByteWindow) throws(ReaderError) -> Bool {
        guard !window.download.state.isSeekable else { return false }
        var offset = 0
        // Small boxes only: what follows them is either.
        for _ in 0..<16 {
            do { try window.load(at: offset, count: 8) } catch { throw .parse(.download(error)) }
            guard window.bytes.count == 8, !window.bytes.holds("moov", at: 4) else { return false }
            if window.bytes.holds("mdat", at: 4) { return true }
            let size = Int(window.bytes.bigEndian32(at: 0))
            guard 8..<65_536 ~= size else { return false }
            offset += size
        }
        return false
    }
#endif
