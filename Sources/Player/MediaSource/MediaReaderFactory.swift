public import TenfourAudioCore

/// Opens a reader for the formats that this module decodes itself: Ogg Opus and WAV. `format` is the format of the
/// decoded audio; nil keeps the format of the recording.
///
/// Blocks until the first audio is decoded. The reader is for one thread at a time.
public func openReader(_ byteSource: any ByteSource, format: LPCMFormat?) throws(ReaderError) -> any MediaReader {
    var window = ByteWindow(of: byteSource)
    let container: ContainerFormat
    do {
        let tag = try ID3Tag(&window)
        try window.load(at: tag.byteCount, count: ContainerFormat.sniffedByteCount)
        container = tag.byteCount == 0 ? ContainerFormat(sniffing: window.bytes) : .elementary
    } catch { throw .demuxer(.byteSource(error)) }
    if let refusal = container.refusal { throw .demuxer(.malformed(refusal)) }
    return try openBuiltInReader(window, container, format: format)
}

/// Opens the container that `window` begins with.
package func openBuiltInReader(
    _ window: consuming ByteWindow, _ container: ContainerFormat, format: LPCMFormat?
) throws(ReaderError) -> PacketReader {
    switch container {
    case .oggOpus:
        try PacketReader(OggOpusDemuxer(window, channelCount: format?.channelCount), format: format)
    case .wav: try PacketReader(WAVDemuxer(window), format: format)
    default:
        throw .undecodable(
            "this program was built without FFmpeg and plays only Ogg Opus and WAV: build tenfour with `--traits FFmpeg`"
        )
    }
}

/// Returns whether this module decodes the container that `window` begins with, and downmixes it as well as FFmpeg
/// does.
package func isBuiltIn(_ container: ContainerFormat, _ window: inout ByteWindow) -> Bool {
    switch container {
    case .oggOpus: true
    case .wav:
        if let wav = try? WAVStream(&window) { wav.coding != nil && wav.channelCount <= 2 } else { false }
    default: false
    }
}
