public import TenfourAudioCore
public import TenfourMediaSource

/// Reads the audio of an address or path as fast as it arrives, without playing it.
///
/// For one thread at a time. `read` blocks while it waits for the network, for at most the time-out of `download`.
public struct ReaderSource: ~Copyable, AudioSource {
    public var format: LPCMFormat { reader.format }
    private let reader: any MediaReader
    private let download: any ByteSource
    private let opener: ResourceOpener
    /// The name of the playlist entry that is read, for display, and the number of entries; nil if the address is no
    /// playlist.
    public let entry: (name: String, count: Int)?

    /// Opens `address`: a URL, a path, or `-` for standard input. If it is a playlist, its first entry is read. If
    /// `format` is nil, the recording's own format is kept. The error's description is a sentence that includes the
    /// remedy.
    public init(
        _ address: String, format: LPCMFormat? = nil, download settings: DownloadSettings = DownloadSettings()
    ) throws(StreamError) {
        let opener = try ResourceOpener(settings)
        (reader, download, entry) = try Self.open(QueueItem(address), format, opener)
        self.opener = opener
    }

    private static func open(
        _ item: QueueItem, _ format: LPCMFormat?, _ opener: ResourceOpener
    ) throws(StreamError) -> (any MediaReader, any ByteSource, (name: String, count: Int)?) {
        var download = try opener.begin(item)
        do throws(StreamError) {
            var opened = try opener.open(download, of: item, as: format)
            if case .segments(let stream) = opened {
                download.stop()
                download = stream
                opened = try opener.open(stream, of: item, as: format)
            }
            switch opened {
            case .media(let reader): return (reader, download, nil)
            case .segments: throw .nestedPlaylist
            case .playlist(let items, _):
                guard let first = items.first else {
                    throw .unusable("the playlist has no entries; check it in an editor", kind: .unplayableList)
                }
                download.stop()
                let (reader, source, inner) = try open(first, format, opener)
                return (reader, source, (inner?.name ?? first.name, items.count))
            }
        } catch {
            download.stop()
            throw error
        }
    }

    deinit { download.stop() }

    /// The number of frames at `format`'s rate; nil if the length is unknown.
    public var frameCount: Estimate<FrameCount>? {
        reader.demuxer.duration.map { Estimate(FrameCount($0.value, at: format.rate), isExact: $0.isExact) }
    }

    /// Skips up to `count` frames. Must be called before the first `read`. Seeks if the position that a seek reaches is
    /// exact, and reads the audio otherwise.
    public mutating func skip(_ count: FrameCount) throws(StreamError) -> FrameCount {
        let position = count.duration(at: format.rate)
        if let duration = reader.demuxer.duration, duration.isExact, position < duration.value,
            let reached = try? reader.seek(to: position)
        {
            if reached.isExact, FrameCount(reached.value, at: format.rate) == count { return count }
            do throws(ReaderError) { _ = try reader.seek(to: .zero) } catch { throw .read(error) }
        }
        return try skipByReading(count)
    }

    public mutating func read(into samples: inout MutableSpan<Float>) throws(StreamError) -> FrameCount {
        do throws(ReaderError) { return try reader.read(into: &samples) } catch { throw .read(error) }
    }
}

extension StreamError {
    /// The error of an HLS stream that leads to another HLS stream instead of audio.
    static var nestedPlaylist: Self {
        .unusable(
            "the HLS playlist leads to another playlist; play the address of that one directly", kind: .unplayableList)
    }
}
