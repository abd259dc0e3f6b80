#if FFmpeg
    public import TenfourMediaSource
    public import TenfourAudioCore

    /// Opens a reader for every format that this package plays: Ogg Opus and WAV without FFmpeg, all others with
    /// FFmpeg. `format` is the format of the decoded audio; nil keeps the format of the recording. `hint` is the
    /// container format, which is detected if it is nil. `choice` is the audio track; nil: the one that the file marks.
    ///
    /// Blocks until the first audio is decoded. Throws if FFmpeg is needed and not installed. The reader is for one
    /// thread at a time.
    public func openFFmpegReader(
        _ byteSource: any ByteSource, format: LPCMFormat?, as hint: ContainerFormat? = nil,
        track choice: AudioTrackChoice? = nil
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
        if container == .oggOpus || container == .ogg,
            let chain = try OggChainReader.open(
                byteSource, container, after: window.held, format: format,
                opening: { link, format throws(ReaderError) in
                    try openFFmpegReader(link, format: format, track: choice)
                })
        {
            return chain
        }
        if isBuiltIn(container, &window) { return try openBuiltInReader(window, container, format: format) }
        try loadFFmpeg()
        let source: any FFmpegPacketSource
        switch container {
        case .elementary:
            let first: FrameStream.Found?
            do {
                first = try FrameSearch.first(in: &window, from: tag.byteCount, isNamed: hint != nil)
            } catch { throw .demuxer(error) }
            if let first {
                source = try FrameParser(window, from: first, tag: tag)
            } else if hint == nil, let format = try InputFormat(of: &window, after: tag) {
                source = try openProbed(format, window, tag, choice)
            } else {
                throw .demuxer(FrameStream.unknownFormat)
            }
        case .other:
            guard let format = try InputFormat(of: &window, after: tag) else {
                throw .demuxer(FrameStream.unknownFormat)
            }
            source = try openProbed(format, window, tag, choice)
        default:
            let isHeld = try hasIndexBehindAudio(&window, container)
            if isHeld { window.byteSource.holdAll() }
            guard let stream = ByteStream(window, from: tag.byteCount, isHeld: isHeld) else {
                throw .undecodable("there is not enough memory: end other programs", kind: .resourcesExhausted)
            }
            source = try FFmpegDemuxer(stream, container, tag: tag, track: choice)
        }
        return try FFmpegReader(source, format: format)
    }

    /// Opens a container that libavformat has recognised.
    private func openProbed(
        _ format: InputFormat, _ window: borrowing ByteWindow, _ tag: ID3Tag, _ choice: AudioTrackChoice?
    ) throws(ReaderError) -> any FFmpegPacketSource {
        guard let stream = ByteStream(window, from: tag.byteCount, isHeld: false) else {
            throw .undecodable("there is not enough memory: end other programs", kind: .resourcesExhausted)
        }
        return try FFmpegDemuxer(stream, .other, tag: tag, probed: format, track: choice)
    }

    /// Returns whether `window` begins an MP4, or a CAF of packets that vary in size, whose index follows its audio, from a
    /// source that cannot seek.
    private func hasIndexBehindAudio(
        _ window: inout ByteWindow, _ container: ContainerFormat
    ) throws(ReaderError) -> Bool {
        guard container == .mp4 || container == .caf, !window.byteSource.state.isSeekable else { return false }
        if container == .caf {
            // The number of bytes per packet in the first chunk, which is the description.
            do { try window.load(at: 36, count: 4) } catch { throw .demuxer(.byteSource(error)) }
            return window.bytes.count == 4 && window.bytes.bigEndian32(at: 0) == 0
        }
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
