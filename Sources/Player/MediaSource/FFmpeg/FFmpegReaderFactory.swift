#if FFmpeg
    internal import TenfourAudioCore

    /// Opens the container that `window` begins with, after `tag`. `isNamed` tells that the user named the container. `choice`
    /// is the audio track; nil: the one that the file marks. Throws if FFmpeg is not installed.
    func openFFmpegReader(
        _ given: consuming ByteWindow, _ container: ContainerFormat, after tag: ID3Tag, isNamed: Bool,
        format: LPCMFormat?, track choice: AudioTrackChoice?
    ) throws(ReaderError) -> FFmpegReader {
        var window = given
        try loadFFmpeg()
        let source: any FFmpegPacketSource
        switch container {
        case .elementary:
            let first: FrameStream.Found?
            do {
                first = try FrameSearch.first(in: &window, from: tag.byteCount, isNamed: isNamed)
            } catch { throw .demuxer(error) }
            if let first {
                source = try FrameParser(window, from: first, tag: tag)
                try AudioTrackChoice.check(choice, codec: source.track.codec)
            } else if !isNamed, let format = try probe(&window, after: tag) {
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

    /// Recognises the bytes after `tag`. Of a source that cannot be read again, such as endless zeros, they may be gone.
    private func probe(
        _ window: inout ByteWindow, after tag: ID3Tag
    ) throws(ReaderError) -> InputFormat? {
        do { return try InputFormat(of: &window, after: tag) } catch {
            if error.kind == .notSeekable { return nil }
            throw error
        }
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
