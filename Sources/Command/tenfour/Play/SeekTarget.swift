import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer

/// A place in an item that a person names: a time such as `1:23`, `1:02:03` or `83s`, or a proportion such as `50%`.
enum SeekTarget: Equatable {
    case time(Duration)
    /// A proportion of the item, 0…1.
    case share(Double)

    init?(_ text: String) {
        let text = text.split(separator: " ").joined()
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
            self = .share(percent / 100)
        } else {
            guard let time = ClockTime(argument: text), time.duration >= .zero else { return nil }
            self = .time(time.duration)
        }
    }

    /// The sentence for a text that is none.
    static let refusal = "write a time such as 1:23, 1:02:03 or 83s, or a part such as 50%"

    /// Returns the position; nil for a proportion of an item without a known length. A live stream that can be sought
    /// counts as an item that is as long as its window.
    func position(in progress: StreamProgress) -> Duration? {
        switch self {
        case .time(let time): return time
        case .share(let share):
            if let window = progress.window {
                return window.lowerBound + (window.upperBound - window.lowerBound) * share
            }
            return progress.duration.map { $0.value * share }
        }
    }

    /// Seeks, if the position is known.
    func apply(to streamer: Streamer) {
        if let position = position(in: streamer.progress) { streamer.seek(to: position) }
    }
}
