internal import Glibc
internal import TenfourAudioCore
internal import TenfourMediaSource

/// Keeps the playlist of a stream up to date, and fetches keys and headers. For the reader's thread only.
///
/// Nothing here waits except `wait`: the reader calls `poll` whenever it reads.
final class HLSSession {
    let fetches: HLSFetches
    private(set) var timeline: HLSTimeline
    /// Whether the stream was live when it was opened.
    let wasLive: Bool
    /// Whether a segment has delivered bytes.
    var hasWorked = false
    /// Whether audio of the stream was decoded.
    var hasPlayed = false

    private let address: Resource
    private var reloads = HLSReloadSchedule()
    /// The load under way, and the time without pauses at which it began.
    private var reload: (download: HLSDownload, start: Instant, activeStart: Instant)?
    private var lastFailure: ByteSourceError?
    private var files: [FileName: File] = [:]

    private struct FileName: Hashable {
        var resource: Resource
        var range: Range<Int>?
    }

    private enum File {
        case coming(HLSDownload)
        case here([UInt8])
        case failed(ByteSourceError, until: Instant)
    }

    /// The largest number of keys and headers that are kept.
    private static let fileLimit = 16
    /// The time for which a key or header that could not be fetched is not requested again. It is shorter than the pause
    /// before the next attempt at a segment, but spares the segments after it the same failure.
    private static let failureInterval = Duration.milliseconds(400)
    /// The same for one that did not arrive within the time limit of a download.
    private static let timeoutInterval = Duration.seconds(5)
    /// The longest time for one load of the playlist.
    private static let reloadLimit = Duration.seconds(30)
    /// The pause between two looks at what has arrived, in microseconds.
    private static let pollInterval: UInt32 = 5_000

    /// `address` is where `playlist` was requested at the moment `start`, and is requested again.
    init(_ playlist: HLSMediaPlaylist, from address: Resource, requestedAt start: Instant, _ fetches: HLSFetches) {
        self.address = address
        self.fetches = fetches
        wasLive = !playlist.isEnded
        timeline = HLSTimeline(playlist)
        reloads.loaded(playlist, isChanged: true, requestedAt: start)
    }

    var now: Instant { fetches.services.now() }

    /// The time `now` on a clock that stands still during pauses, by which the network is judged.
    func active(_ now: Instant) -> Instant { now - fetches.paused(until: now) }

    /// The number of attempts to load the playlist again that have failed; nil if the last one succeeded.
    var reloadFailures: Int? { reloads.failureCount > 0 ? reloads.failureCount : nil }

    /// Whether the playlist may name segments that do not exist any more, as after a pause.
    func isOutdated(at now: Instant) -> Bool {
        reloads.isDue(at: now - max(timeline.playlist.targetDuration, .seconds(1)))
    }

    /// Waits a moment for more to arrive. Throws if the reader was interrupted, or the playlist cannot be loaded any
    /// more.
    func wait() throws(ByteSourceError) {
        try fetches.check()
        let limit = fetches.services.giveUpAfter
        if reloads.isGivenUp(at: now, after: limit), let lastFailure { throw lastFailure }
        if reloads.isDead(at: now, after: limit) {
            throw .failed("this live HLS stream announces nothing new any more; try again later", kind: .timedOut)
        }
        usleep(Self.pollInterval)
    }

    // MARK: Playlist

    /// Loads the playlist again if it is due, and adopts what has arrived.
    func poll(at now: Instant) {
        do throws(ByteSourceError) {
            if let reload {
                if let bytes = try reload.download.poll() {
                    self.reload = nil
                    try adopt(bytes, from: reload.download.resource, requestedAt: reload.start)
                } else if active(now) - reload.activeStart > Self.reloadLimit {
                    throw .failed(
                        "the HLS playlist did not arrive within \(Self.reloadLimit); check the network, or try again later",
                        kind: .timedOut)
                }
            } else if reloads.isDue(at: now) {
                let download = try HLSDownload(address, nil, limit: HLSPlaylist.maximumByteCount, fetches)
                reload = (download, now, active(now))
            }
        } catch {
            reload = nil
            lastFailure = error
            reloads.failed(at: now)
        }
    }

    private func adopt(_ bytes: [UInt8], from base: Resource?, requestedAt start: Instant) throws(ByteSourceError) {
        let playlist: HLSPlaylist
        do throws(HLSPlaylistError) {
            playlist = try HLSPlaylist(parsing: bytes.span, from: base ?? address)
        } catch {
            throw .failed(error.description, kind: .unplayableList)
        }
        guard case .media(let media) = playlist else {
            throw .failed(HLSPlaylistError.nested.description, kind: .unplayableList)
        }
        let update = timeline.update(media)
        reloads.loaded(media, isChanged: update == .changed || update == .restarted, requestedAt: start)
    }

    // MARK: Keys and headers

    /// Returns a small file once it has arrived, and nil before.
    func file(_ resource: Resource, _ range: Range<Int>?, limit: Int) throws(ByteSourceError) -> [UInt8]? {
        let name = FileName(resource: resource, range: range)
        // The interval after a failure begins with the failed request, not with each call.
        if case .failed(let error, let end) = files[name], now < end { throw error }
        do throws(ByteSourceError) {
            switch files[name] {
            case .here(let bytes): return bytes
            case .coming(let download):
                guard let bytes = try download.poll() else { return nil }
                files[name] = .here(bytes)
                return bytes
            case .failed, nil:
                if files.count >= Self.fileLimit { files = [:] }
                files[name] = .coming(try HLSDownload(resource, range, limit: limit, fetches))
                return nil
            }
        } catch {
            let interval = error.isTimeout ? Self.timeoutInterval : Self.failureInterval
            if error != .interrupted { files[name] = .failed(error, until: now + interval) }
            throw error
        }
    }
}

extension ByteSourceError {
    fileprivate var isTimeout: Bool {
        if case .failed(_, .timedOut) = self { true } else { false }
    }
}
