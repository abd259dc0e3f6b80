public import TenfourAudioCore

/// Opens a reader for every format that this package plays: Ogg Opus and WAV without FFmpeg, all others with FFmpeg.
/// `format` is the format of the decoded audio; nil keeps the format of the recording. `hint` is the container format,
/// which is detected if it is nil. `choice` is the audio track; nil: the one that the file marks.
///
/// Blocks until the first audio is decoded. Throws if FFmpeg is needed and not installed, or this package was built without it.
/// The reader is for one thread at a time.
public func openReader(
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
                try openReader(link, format: format, track: choice)
            })
    {
        return chain
    }
    #if FFmpeg
        if !isBuiltIn(container, &window) {
            return try openFFmpegReader(
                window, container, after: tag, isNamed: hint != nil, format: format, track: choice)
        }
    #endif
    let reader = try openBuiltInReader(window, container, format: format)
    try AudioTrackChoice.check(choice, codec: reader.demuxer.track.codec)
    return reader
}

extension OggChainReader {
    /// Opens the chain in `byteSource`, which begins with `container`; nil if it is one stream whose bytes are all here, or
    /// is read by `OggOpusDemuxer`, which also seeks in what has arrived of a radio station. `held` are the bytes that
    /// were read, which the source may not be able to repeat.
    package static func open(
        _ byteSource: any ByteSource, _ container: ContainerFormat, after held: (offset: Int, bytes: [UInt8]),
        format: LPCMFormat?, opening openLink: @escaping Opening
    ) throws(ReaderError) -> (any MediaReader)? {
        if byteSource is OggLink { return nil }
        guard byteSource.state.isSeekable, byteSource.state.byteCount != nil else {
            if container == .oggOpus { return nil }
            let kept = [OggLink.KeptBytes(offset: held.offset, bytes: held.bytes)]
            return try OggChainReader(byteSource, starts: [0], kept: kept, format: format, opening: openLink)
        }
        // A source that cannot reach its end, such as the kept part of a download, is read as one stream.
        guard let chain = try? OggChain(of: byteSource) else { return nil }
        if chain.starts.count > 1 {
            return try OggChainReader(
                byteSource, starts: chain.starts, kept: chain.kept, format: format, opening: openLink)
        }
        // The link reuses the bytes of the end that were fetched for the search.
        return byteSource.isHere ? nil : try openLink(OggLink(of: byteSource, from: 0, kept: chain.kept), format)
    }
}

/// Opens the container that `window` begins with.
private func openBuiltInReader(
    _ window: consuming ByteWindow, _ container: ContainerFormat, format: LPCMFormat?
) throws(ReaderError) -> PacketReader {
    switch container {
    case .oggOpus:
        try PacketReader(OggOpusDemuxer(window, channelCount: format?.channelCount), format: format)
    case .wav: try PacketReader(WAVDemuxer(window), format: format)
    default:
        throw .undecodable(
            "this program was built without FFmpeg and plays only Ogg Opus and WAV: build tenfour with `--traits FFmpeg`",
            kind: .libraryMissing)
    }
}

/// Returns whether this module decodes the container that `window` begins with, and downmixes it as well as FFmpeg
/// does.
private func isBuiltIn(_ container: ContainerFormat, _ window: inout ByteWindow) -> Bool {
    switch container {
    case .oggOpus: hasFewChannels(window.bytes)
    case .wav:
        if let wav = try? WAVStream(&window) { wav.coding != nil && wav.channelCount <= 2 } else { false }
    default: false
    }
}

/// Returns whether the Ogg page that `bytes` begin with states at most two channels (RFC 7845 section 5.1).
private func hasFewChannels(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > 26 else { return true }
    let place = 27 + Int(bytes[26]) + 9
    return place >= bytes.count || bytes[place] <= 2
}
