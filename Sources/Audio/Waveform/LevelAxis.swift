/// The vertical axis of a waveform: levels in decibels from a floor, at which a bar has no height, to a top.
struct LevelAxis {
    let floor: Float
    let top: Float

    /// `top` is limited to levels at least 1 dB above `floor`.
    init(floor: Float, top: Float) {
        self.floor = floor
        self.top = max(top, floor + 1)
    }

    /// The distance from the floor to the top, in decibels.
    var range: Float { top - floor }

    /// Returns the proportion of the axis below `level`, 0…1.
    func share(_ level: Float) -> Float { min(max((level - floor) / range, 0), 1) }

    /// Returns the labelled levels from the top down: the top, and the multiples of `step` that are not close to it.
    func levels(step: Float) -> [Float] {
        let first = (top / step).rounded(.down) * step
        let round = stride(from: first, through: floor, by: -step).filter { top - $0 >= step / 2 }
        return [top] + round
    }

    /// Formats a labelled level; the top has a unit.
    func text(_ level: Float) -> String {
        fixed(Double(level), places: level == level.rounded() ? 0 : 1) + (level == top ? " dB" : "")
    }
}
