/// The segments that can be fetched, each with its position, across reloads of a live playlist. Opens nothing and reads
/// no clock.
///
/// Position 0 is the start of the first segment of the first playlist. Later segments keep their positions when earlier
/// ones vanish.
package struct HLSTimeline {
    package private(set) var playlist: HLSMediaPlaylist
    /// The number of times that the broadcast has started again with lower numbers.
    package private(set) var epoch = 0
    /// The start of each segment, and the end of the last one.
    private var bounds: [Duration]
    /// The number of playlists in succession that ended before the present one.
    private var staleCount = 0

    /// A segment's number, unique even if the broadcast starts again.
    package struct Place: Equatable {
        package var epoch: Int
        package var number: Int
    }

    /// The result of a reload.
    package enum Update: Equatable {
        case unchanged
        /// Segments were added or removed, or the playlist has ended.
        case changed
        /// The playlist is older than the present one, as from a cache, and was not used.
        case stale
        /// The broadcast started again with lower numbers.
        case restarted
    }

    /// The segment at a place, or the reason why there is none.
    package enum Entry: Equatable {
        /// The index of the segment.
        case segment(Int)
        /// The segment has not been announced yet.
        case notYet
        /// The segment has been removed, or the broadcast has started again.
        case vanished
        /// The place is behind the last segment of an ended playlist.
        case ended
    }

    /// The number of older playlists in succession after which the broadcast counts as started again.
    private static let staleLimit = 3
    /// The longest gap between two playlists that is assumed.
    private static let longestGap = Duration.seconds(86_400)

    package init(_ playlist: HLSMediaPlaylist) {
        self.playlist = playlist
        bounds = Self.bounds(of: playlist, from: .zero)
    }

    private static func bounds(of playlist: HLSMediaPlaylist, from start: Duration) -> [Duration] {
        var bounds = [start]
        bounds.reserveCapacity(playlist.segments.count + 1)
        for segment in playlist.segments { bounds.append(bounds[bounds.count - 1] + segment.duration) }
        return bounds
    }

    var segments: [HLSSegment] { playlist.segments }
    var isEnded: Bool { playlist.isEnded }

    /// The range of positions that can be fetched.
    package var window: Range<Duration> { bounds[0]..<max(bounds[bounds.count - 1], bounds[0]) }

    func start(ofSegmentAt index: Int) -> Duration { bounds[index] }

    func place(ofSegmentAt index: Int) -> Place { Place(epoch: epoch, number: playlist.firstNumber + index) }

    /// Adopts a playlist that was loaded again.
    package mutating func update(_ new: HLSMediaPlaylist) -> Update {
        let old = playlist
        guard !new.segments.isEmpty else {
            guard new.isEnded, !old.isEnded else { return .unchanged }
            playlist.isEnded = true
            return .changed
        }
        guard !old.segments.isEmpty else {
            adopt(new, from: bounds[0])
            return .changed
        }
        if new.nextNumber < old.nextNumber {
            staleCount += 1
            // Ignores an older playlist, which a cache may have sent, until it has come repeatedly.
            if new.nextNumber > old.firstNumber, staleCount < Self.staleLimit { return .stale }
            epoch += 1
            adopt(new, from: bounds[bounds.count - 1])
            return .restarted
        }
        let isChanged =
            new.nextNumber != old.nextNumber || new.firstNumber != old.firstNumber || new.isEnded != old.isEnded
        let distance = new.firstNumber - old.firstNumber
        if distance < 0 {
            // The playlist now lists segments before those of the present one.
            let before = new.segments.prefix(-distance).reduce(Duration.zero) { $0 + $1.duration }
            adopt(new, from: bounds[0] - before)
        } else if distance <= old.segments.count {
            adopt(new, from: bounds[distance])
        } else {
            adopt(new, from: bounds[bounds.count - 1] + gap(to: new))
        }
        return isChanged ? .changed : .unchanged
    }

    private mutating func adopt(_ new: HLSMediaPlaylist, from start: Duration) {
        playlist = new
        bounds = Self.bounds(of: new, from: start)
        staleCount = 0
    }

    /// Returns the duration between the present playlist's end and the start of `new`: by their dates, or by the number
    /// of the segments between them.
    private func gap(to new: HLSMediaPlaylist) -> Duration {
        if let last = playlist.segments.last, let ended = last.date, let began = new.segments.first?.date {
            let gap = began - ended - last.duration
            if gap >= .zero { return min(gap, Self.longestGap) }
        }
        let count = new.firstNumber - playlist.nextNumber
        return min(max(playlist.targetDuration, .milliseconds(1)) * min(count, 1 << 30), Self.longestGap)
    }

    package func entry(at place: Place) -> Entry {
        guard place.epoch == epoch, place.number >= playlist.firstNumber else { return .vanished }
        let index = place.number - playlist.firstNumber
        if index < segments.count { return .segment(index) }
        return isEnded ? .ended : .notYet
    }

    /// Returns the index of the segment that contains `position`, or of the nearest one; nil if there are none.
    package func index(at position: Duration) -> Int? {
        guard !segments.isEmpty else { return nil }
        // The number of segments that begin at or before the position.
        var (low, high) = (0, segments.count)
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] <= position { low = middle + 1 } else { high = middle }
        }
        return max(low - 1, 0)
    }

    /// The latest position at which playback may start: three target durations before the end of a live playlist
    /// (RFC 8216, section 6.3.3), but not before its start; the end of an ended one.
    package var edge: Duration {
        if isEnded { return window.upperBound }
        let wanted = window.upperBound - playlist.targetDuration * 3
        return index(at: wanted).map { bounds[$0] } ?? window.lowerBound
    }

    /// The position at which playback begins: where the playlist says, but not behind the edge of a live one. If it says
    /// nothing, at the edge of a live playlist, and at the beginning of an ended one.
    package var startPosition: Duration {
        guard let offset = playlist.start?.offset else { return isEnded ? window.lowerBound : edge }
        let wanted = (offset < .zero ? window.upperBound : window.lowerBound) + offset
        return min(max(wanted, window.lowerBound), edge)
    }

    /// The place of the segment with which playback begins.
    package var startPlace: Place { place(ofSegmentAt: index(at: startPosition) ?? 0) }
}
