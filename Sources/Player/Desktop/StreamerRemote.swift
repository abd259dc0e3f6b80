internal import Glibc
internal import Synchronization
internal import TenfourMediaSource
public import TenfourPlayer

/// Lets other programs see and control a `Streamer`.
public final class StreamerRemote: RemotePlayer {
    private let streamer: Streamer
    /// The number of times that another program has replaced the queue.
    private let openingCount = Atomic(0)
    private let quits = Atomic(false)

    private static let refusal = "only file:, http: and https: are opened"

    public init(_ streamer: Streamer) { self.streamer = streamer }

    /// Whether another program has asked the player to quit. The owner of the player does it.
    public var hasQuit: Bool { quits.load(ordering: .acquiring) }

    public var remoteState: RemoteState {
        var state = RemoteState()
        let streamState = streamer.state
        switch streamState {
        case .playing, .buffering: state.status = .playing
        case .paused: state.status = .paused
        case .idle, .ended, .failed: state.status = .stopped
        }
        state.isBuffering = streamState.isBuffering
        state.repeats = streamer.repeats
        state.isShuffled = streamer.isShuffled
        state.rate = streamer.rate
        state.volume = streamer.volume
        let progress = streamer.progress
        state.position = progress.position.value
        let queue = streamer.queue
        guard queue.indices.contains(progress.item) else { return state }
        let queueItem = queue[progress.item]
        let track = streamer.track
        let heardItem = streamer.heardItem
        var item = RemoteItem(id: "\(openingCount.load(ordering: .relaxed))_\(heardItem.number)")
        item.title = track?.title ?? queueItem.title ?? queueItem.shortName
        item.artist = track?.artist
        item.album = track?.album
        item.url = queueItem.url
        item.length = progress.duration?.value
        state.item = item
        state.hasNext = heardItem.hasNext
        state.hasPrevious = true
        state.isSeekable = progress.isLive ? progress.window != nil : progress.duration != nil
        return state
    }

    public func perform(_ command: RemoteCommand) -> String? {
        switch command {
        case .play: streamer.play()
        case .pause: streamer.pause()
        case .playPause:
            switch streamer.state {
            case .playing, .buffering: streamer.pause()
            case .idle, .paused, .ended, .failed: streamer.play()
            }
        case .stop: streamer.stop()
        case .next: streamer.next()
        case .previous: streamer.previous()
        case .quit: quits.store(true, ordering: .releasing)
        case .seekBy(let distance): streamer.seek(by: distance)
        case .seekTo(let position): streamer.seek(to: position)
        case .open(let address): return open(address)
        case .rate(let rate): streamer.rate = rate
        case .volume(let volume): streamer.volume = volume
        case .repeats(let repeats): streamer.repeats = repeats
        case .shuffle(let isShuffled): streamer.isShuffled = isShuffled
        }
        return nil
    }

    /// Refuses what `tenfour play` refuses, and what another program must not name: standard input and plain paths.
    private func open(_ address: String) -> String? {
        do throws(ResourceError) {
            switch try Resource(address) {
            case .http: break
            case .file(let path):
                guard address.prefix(5).lowercased() == "file:" else { return Self.refusal }
                guard unsafe access(path, R_OK) == 0 else {
                    return "the file cannot be read: check its path and its permissions"
                }
            case .standardInput: return Self.refusal
            }
        } catch {
            return error.description
        }
        openingCount.wrappingAdd(1, ordering: .relaxed)
        streamer.open(fromOthers: address)
        streamer.play()
        return nil
    }
}

extension QueueItem {
    /// The last part of the item's name.
    fileprivate var shortName: String {
        let parts = name.split(separator: "/")
        return parts.last.map(String.init) ?? name
    }
}
