public import TenfourAudioCore
public import TenfourMediaSource

/// An HLS stream as a byte source that a player can watch, interrupt and stop. Its audio is read by `openReader`.
public final class HLSStream: ByteSource {
    private let playlist: HLSPlaylist
    private let address: Resource
    private let fetches: HLSFetches
    private let start: Instant

    /// The longest time for loading the playlist of a stream that a master playlist names.
    private static let loadLimit = Duration.seconds(30)

    /// Creates the stream of a playlist that was requested at `address` and came from `base`, where redirects led.
    /// Fetches nothing yet. Throws if the playlist cannot be played.
    public init(
        _ bytes: Span<UInt8>, from address: Resource, base: Resource, limits: BufferLimits, _ services: HLSServices
    ) throws(HLSPlaylistError) {
        playlist = try HLSPlaylist(parsing: bytes, from: base)
        if case .media(let media) = playlist, media.isEnded, media.segments.isEmpty { throw .empty }
        self.address = address
        start = services.now()
        fetches = HLSFetches(
            services, limits: limits,
            state: ByteSourceState(phase: .connecting, isSeekable: true, isLive: false, resource: address))
    }

    /// Opens a reader. If the playlist names several streams, the one with the best audio is chosen, and another one if
    /// that cannot be loaded. Blocks until the first audio is decoded. The reader is for one thread at a time.
    public func openReader(format: LPCMFormat?) throws(ReaderError) -> HLSReader {
        switch playlist {
        case .media(let media):
            return try HLSReader(HLSSession(media, from: address, requestedAt: start, fetches), format: format)
        case .master(let master):
            var failure = ReaderError.demuxer(.malformed(HLSPlaylistError.noAudio.description, kind: .notAudio))
            for (number, reference) in master.audioReferences.enumerated() {
                do throws(ReaderError) {
                    return try HLSReader(load(reference, of: master), format: format)
                } catch {
                    if error == .demuxer(.byteSource(.interrupted)) { throw error }
                    if number == 0 { failure = error }
                }
            }
            throw failure
        }
    }

    /// Loads the media playlist of a stream. Blocks.
    private func load(_ reference: String, of master: HLSMasterPlaylist) throws(ReaderError) -> HLSSession {
        let begin = fetches.services.now()
        let loaded: HLSPlaylist
        let resource: Resource
        do {
            do throws(ResourceError) {
                resource = try master.base.resolving(reference)
            } catch {
                throw ByteSourceError.failed(error.description, kind: error.kind)
            }
            let download = try HLSDownload(resource, nil, limit: HLSPlaylist.maximumByteCount, fetches)
            let bytes = try download.whole(until: begin + Self.loadLimit)
            loaded = try HLSPlaylist(parsing: bytes.span, from: download.resource ?? resource)
        } catch let error as ByteSourceError {
            throw .demuxer(.byteSource(error))
        } catch {
            throw .demuxer(.malformed("\(error)", kind: .unplayableList))
        }
        guard case .media(var media) = loaded else {
            throw .demuxer(.malformed(HLSPlaylistError.nested.description, kind: .unplayableList))
        }
        media.start = media.start ?? master.start
        return HLSSession(media, from: resource, requestedAt: begin, fetches)
    }

    // MARK: ByteSource

    public var state: ByteSourceState { fetches.state }

    public var limits: BufferLimits {
        get { fetches.limits }
        set { fetches.limits = newValue }
    }

    /// Throws: a stream of segments has no offsets. Use `openReader`.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        throw .failed("an HLS stream has no bytes of its own; play it, or save its segments to a file")
    }

    public func interrupt() { fetches.interrupt(true) }
    public func resume() { fetches.interrupt(false) }
    public func pause(_ isPaused: Bool) { fetches.pause(isPaused) }
    public func stop() { fetches.stop() }
}
