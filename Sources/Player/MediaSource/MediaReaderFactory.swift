public import TenfourAudioCore

/// Opens a reader for the formats that this module decodes itself: Ogg Opus and WAV. `format` is the format of the
/// decoded audio; nil keeps the format of the recording. `hint` is the container format, which is detected if it is nil.
///
/// Blocks until the first audio is decoded. The reader is for one thread at a time.
public func openReader(
    _ byteSource: any ByteSource, format: LPCMFormat?, as hint: ContainerFormat? = nil
) throws(ReaderError) -> any MediaReader {
    var window = ByteWindow(of: byteSource)
    let container: ContainerFormat
    do {
        let tag = try ID3Tag(&window)
        try window.load(at: tag.byteCount, count: ContainerFormat.sniffedByteCount)
        container = hint ?? (tag.byteCount == 0 ? ContainerFormat(sniffing: window.bytes) : .elementary)
    } catch { throw .demuxer(.byteSource(error)) }
    try container.check()
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
            "this program was built without FFmpeg and plays only Ogg Opus and WAV: build tenfour with `--traits FFmpeg`",
            kind: .libraryMissing)
    }
}

/// Returns whether this module decodes the container that `window` begins with, and downmixes it as well as FFmpeg
/// does.
package func isBuiltIn(_ container: ContainerFormat, _ window: inout ByteWindow) -> Bool {
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
