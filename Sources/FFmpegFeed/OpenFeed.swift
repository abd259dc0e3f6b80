public import Feed
public import Sound

/// Everything that this package plays: Ogg Opus and WAV without FFmpeg, the rest with it. `format` is of what is read.
///
/// Waits for the first sound. One thread at a time, from here on.
public func openFFmpegFeed(_ download: any Downloading, format: LPCMFormat) throws(ReadError) -> any Reading {
    var window = ByteWindow(of: download)
    let tag: ID3Tag
    let container: Container
    do {
        tag = try ID3Tag(&window)
        try window.load(at: tag.byteCount, count: Container.sniffedByteCount)
        container = Container(sniffing: window.bytes)
    } catch { throw .parse(.download(error)) }
    if let refusal = container.refusal { throw .parse(.malformed(refusal)) }
    if isOwn(container, &window) { return try openOwnFeed(window, container, format: format) }
    let source: any PacketSource
    switch container {
    case .elementary: source = try FrameParser(window, tag: tag)
    default:
        guard let stream = ByteStream(window, from: tag.byteCount) else { throw .undecodable("out of memory") }
        source = try FFmpegParser(stream, container, tag: tag)
    }
    return try FFmpegReader(source, format: format)
}
