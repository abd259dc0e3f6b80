import TenfourAudioCore
import TenfourCommandSupport

/// A level meter that rises immediately and falls slowly, so that it is readable during speech.
struct Meter {
    private var shown = Level.floor

    /// The largest fall from one display to the next, in decibels.
    private static let fall: Float = 4

    mutating func show(_ level: Level) -> String {
        shown = max(level, Level(decibels: shown.decibels - Self.fall))
        let number = decimal(Double(shown.decibels), places: 0)
        return shown <= .floor
            ? " silent " : String(repeating: " ", count: max(3 - number.count, 0)) + number + " dBFS"
    }
}
