public import TenfourAudioCore

/// What this module plays without further libraries: Opus in Ogg, and WAV. `format` is of what is read; nil: as it was recorded.
///
/// Waits for the first sound. One thread at a time, from here on.
public func openFeed(_ download: any ByteSource, format: LPCMFormat?) throws(ReaderError) -> any MediaReader {
    var window = ByteWindow(of: download)
    let container: ContainerFormat
    do {
        let tag = try ID3Tag(&window)
        try window.load(at: tag.byteCount, count: ContainerFormat.sniffedByteCount)
        container = tag.byteCount == 0 ? ContainerFormat(sniffing: window.bytes) : .elementary
    } catch { throw .parse(.download(error)) }
    if let refusal = container.refusal { throw .parse(.malformed(refusal)) }
    return try openOwnFeed(window, container, format: format)
}

/// Goes on with what `window` holds.
package func openOwnFeed(
    _ window: consuming ByteWindow, _ container: ContainerFormat, format: LPCMFormat?
) throws(ReaderError) -> PacketReader {
    switch container {
    case .oggOpus:
        try PacketReader(OggOpusDemuxer(window, channelCount: format?.channelCount), format: format)
    case .wav: try PacketReader(WAVDemuxer(window), format: format)
    default:
        throw .undecodable(
            "this was built without FFmpeg and plays Ogg Opus and WAV only: build it with the trait FFmpeg")
    }
}

/// Whether this module decodes what is in the container that `window` begins with, and mixes it as well as anybody.
package func isOwn(_ container: ContainerFormat, _ window: inout ByteWindow) -> Bool {
    switch container {
    case .oggOpus: true
    case .wav:
        if let header = try? WAVHeader(&window) { header.coding != nil && header.channelCount <= 2 } else { false }
    default: false
    }
}
