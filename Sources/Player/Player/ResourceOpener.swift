internal import TenfourAudioCore
internal import TenfourHTTPSource
internal import TenfourMediaSource
internal import TenfourRings

#if FFmpeg
    internal import TenfourFFmpegSource
#endif

/// Opens addresses, files and pipes, with FFmpeg or, in a build without it, Ogg Opus and WAV only.
struct ResourceOpener: QueueItemOpener {
    private let settings: DownloadSettings
    /// The loop that fetches all items, so that they share connections.
    private let loop: HTTPLoop
    /// The largest number of bytes that `format(of:)` keeps, so that they can be read again.
    private static let sniffedByteLimit = 1 << 24
    /// The sources that `format(of:)` has opened and that `begin` will return.
    private let prepared = Locked<[(item: QueueItem, byteSource: any ByteSource)]>([])

    init(_ settings: DownloadSettings) throws(StreamError) {
        self.settings = settings
        do { loop = try HTTPLoop() } catch { throw StreamError(error) }
    }

    func begin(_ item: QueueItem) throws(StreamError) -> any ByteSource {
        let ready = prepared.withLock { prepared in
            prepared.firstIndex { $0.item == item }.map { prepared.remove(at: $0).byteSource }
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

    func open(_ byteSource: any ByteSource, of item: QueueItem, as format: LPCMFormat?) throws(StreamError)
        -> OpenedMedia
    {
        if let playlist = try playlist(in: byteSource) {
            guard item.depth < Playlist.maximumDepth else {
                throw .unusable("the playlists are nested too deeply; play the innermost playlist directly")
            }
            return .playlist(playlist.entries.map { QueueItem($0, in: item) })
        }
        do throws(ReaderError) {
            #if FFmpeg
                return .media(try openFFmpegReader(byteSource, format: format))
            #else
                return .media(try openReader(byteSource, format: format))
            #endif
        } catch {
            throw .read(error)
        }
    }

    /// Returns the format of `item`, or of the first entry of a playlist; nil if the item cannot be read. Blocks. A
    /// later `begin` for the same item returns the source opened here.
    func format(of item: QueueItem) -> LPCMFormat? {
        do throws(StreamError) {
            let byteSource = try begin(item)
            // Keeps the bytes before the first audio, which may include a picture, since they are read twice.
            let limits = byteSource.limits
            byteSource.limits.behind = Self.sniffedByteLimit
            defer { byteSource.limits = limits }
            do throws(StreamError) {
                let opened = try open(byteSource, of: item, as: nil)
                prepared.withLock { $0.append((item, byteSource)) }
                switch opened {
                case .media(let reader): return reader.format
                case .playlist(let items): return items.first.flatMap(format)
                }
            } catch {
                byteSource.stop()
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

    private func playlist(in byteSource: any ByteSource) throws(StreamError) -> Playlist? {
        do throws(PlaylistReadingError) {
            return try Playlist(reading: byteSource)
        } catch {
            switch error {
            case .byteSource(let error): throw StreamError(error)
            case .playlist(let error): throw .unusable(error.description)
            }
        }
    }
}

extension StreamError {
    init(_ error: ByteSourceError) { self = .read(.demuxer(.byteSource(error))) }
}

extension DownloadSettings {
    /// The buffer limits before the bit rate is known.
    var limits: BufferLimits {
        if buffersAll { return .all }
        return bufferedByteCount.map { BufferLimits(ahead: $0) } ?? BufferLimits()
    }

    /// The buffer limits for the requested duration at `bitRate`, at most 16 MiB; nil if the settings fix the number of
    /// bytes.
    func limits(atBitRate bitRate: Int) -> BufferLimits? {
        guard !buffersAll, bufferedByteCount == nil else { return nil }
        let byteCount = min(bufferedDuration / .seconds(1), 86_400) * Double(bitRate) / 8
        return BufferLimits(ahead: Int(min(byteCount, 0x1p24)))
    }
}
