public import TenfourAudioCore
public import TenfourMediaSource

/// The sound of an address or a path, read as fast as it comes instead of played.
///
/// One thread at a time; `read` waits for the network, and nothing longer than the time-out of `download`.
public struct ReaderSource: ~Copyable, AudioSource {
    public var format: LPCMFormat { reading.format }
    private let reading: any MediaReader
    private let download: any ByteSource
    private let opening: MediaOpening
    /// Which entry of a playlist is read, for people, and how many it has; nil where the address is no playlist.
    public let entry: (name: String, count: Int)?

    /// `address` is as for `Streamer.open`; of a playlist, the first entry is read. Without a `format` it is read as it
    /// was recorded. Throws a sentence with its remedy.
    public init(
        _ address: String, format: LPCMFormat? = nil, download settings: DownloadSettings = DownloadSettings()
    ) throws(StreamError) {
        let opening = try MediaOpening(settings)
        (reading, download, entry) = try Self.open(QueueItem(address), format, opening)
        self.opening = opening
    }

    private static func open(
        _ item: QueueItem, _ format: LPCMFormat?, _ opening: MediaOpening
    ) throws(StreamError) -> (any MediaReader, any ByteSource, (name: String, count: Int)?) {
        let download = try opening.begin(item)
        do throws(StreamError) {
            switch try opening.open(download, of: item, as: format) {
            case .sound(let reading): return (reading, download, nil)
            case .playlist(let items):
                guard let first = items.first else { throw .unusable("the playlist names nothing to play") }
                download.stop()
                let (reading, source, inner) = try open(first, format, opening)
                return (reading, source, (inner?.name ?? first.name, items.count))
            }
        } catch {
            download.stop()
            throw error
        }
    }

    deinit { download.stop() }

    /// How long it is, of `format`; nil where the other side knows no end.
    public var frameCount: Estimate<FrameCount>? {
        reading.parser.duration.map { Estimate(FrameCount($0.value, at: format.rate), isExact: $0.isExact) }
    }

    public mutating func read(into samples: inout MutableSpan<Float>) throws(StreamError) -> FrameCount {
        do throws(ReaderError) { return try reading.read(into: &samples) } catch { throw .read(error) }
    }
}
