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
        let download = try opener.begin(item)
        do throws(StreamError) {
            switch try opener.open(download, of: item, as: format) {
            case .media(let reader): return (reader, download, nil)
            case .playlist(let items):
                guard let first = items.first else { throw .unusable("the playlist has no entries") }
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

    public mutating func read(into samples: inout MutableSpan<Float>) throws(StreamError) -> FrameCount {
        do throws(ReaderError) { return try reader.read(into: &samples) } catch { throw .read(error) }
    }
}
