internal import TenfourAudioCore
internal import TenfourHTTPSource
internal import TenfourMediaSource
internal import TenfourRings

#if FFmpeg
    internal import TenfourFFmpegSource
#endif

/// The feeds of this package: HTTP, files and pipes; FFmpeg, or without it Ogg Opus and WAV.
struct MediaOpening: Opening {
    private let settings: DownloadSettings
    /// Those that follow one another use the same connections.
    private let loop: HTTPLoop
    private static let lookedThroughByteCount = 1 << 24
    /// Downloads that `format(of:)` has begun and `begin` has not taken yet.
    private let begun = Locked<[(item: QueueItem, download: any ByteSource)]>([])

    init(_ settings: DownloadSettings) throws(StreamError) {
        self.settings = settings
        do { loop = try HTTPLoop() } catch { throw StreamError(error) }
    }

    func begin(_ item: QueueItem) throws(StreamError) -> any ByteSource {
        let ready = begun.withLock { begun in
            begun.firstIndex { $0.item == item }.map { begun.remove(at: $0).download }
        }
        if let ready { return ready }
        do throws(ByteSourceError) {
            var options = HTTPOptions(
                proxy: settings.proxy, headers: settings.headers, trusted: item.typed,
                allowsDowngrade: settings.allowsDowngrade, timeout: settings.timeout)
            options.giveUpAfter = settings.giveUpAfter
            options.giveUpLiveAfter = settings.giveUpLiveAfter
            return try resource(of: item).open(options: options, limits: settings.limits, on: loop)
        } catch {
            throw StreamError(error)
        }
    }

    func open(_ download: any ByteSource, of item: QueueItem, as format: LPCMFormat?) throws(StreamError) -> Opened {
        if let playlist = try playlist(in: download) {
            guard item.depth < Playlist.maximumDepth else {
                throw .unusable("playlists that name playlists are followed only so far; open the innermost")
            }
            return .playlist(playlist.entries.map { QueueItem($0, in: item) })
        }
        do throws(ReaderError) {
            #if FFmpeg
                return .sound(try openFFmpegFeed(download, format: format))
            #else
                return .sound(try openFeed(download, format: format))
            #endif
        } catch {
            throw .read(error)
        }
    }

    /// The format of `item`, or of the first entry of a playlist; nil where it cannot be read. Blocks. A later `begin`
    /// of the same item goes on with this download.
    func format(of item: QueueItem) -> LPCMFormat? {
        do throws(StreamError) {
            let download = try begin(item)
            // The beginning is read twice, up to the first sound, and a picture may lie before that.
            let limits = download.limits
            download.limits.behind = Self.lookedThroughByteCount
            defer { download.limits = limits }
            do throws(StreamError) {
                let opened = try open(download, of: item, as: nil)
                begun.withLock { $0.append((item, download)) }
                switch opened {
                case .sound(let reading): return reading.format
                case .playlist(let items): return items.first.flatMap(format)
                }
            } catch {
                download.stop()
                return nil
            }
        } catch {
            return nil
        }
    }

    func limits(atBitRate bitRate: Int) -> BufferLimits? { settings.limits(atBitRate: bitRate) }

    private func resource(of item: QueueItem) throws(ByteSourceError) -> Resource {
        switch item.resource {
        case .success(let resource): return resource
        case .failure(let error): throw .failed(error.description)
        }
    }

    private func playlist(in download: any ByteSource) throws(StreamError) -> Playlist? {
        do throws(PlaylistReadingError) {
            return try Playlist(reading: download)
        } catch {
            switch error {
            case .download(let error): throw StreamError(error)
            case .playlist(let error): throw .unusable(error.description)
            }
        }
    }
}

extension StreamError {
    init(_ error: ByteSourceError) { self = .read(.parse(.download(error))) }
}

extension DownloadSettings {
    /// Until the bit rate is known: what is enough for most.
    var limits: BufferLimits {
        if buffersAll { return .all }
        return bufferedByteCount.map { BufferLimits(ahead: $0) } ?? BufferLimits()
    }

    /// How many bytes ahead are as much sound as is wanted, 16 MiB at the most; nil where their number is settled.
    func limits(atBitRate bitRate: Int) -> BufferLimits? {
        guard !buffersAll, bufferedByteCount == nil else { return nil }
        let byteCount = min(bufferedDuration / .seconds(1), 86_400) * Double(bitRate) / 8
        return BufferLimits(ahead: Int(min(byteCount, 0x1p24)))
    }
}
