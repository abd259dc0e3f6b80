public import TenfourAudioCore

/// A live level in a few lines of a terminal: decibels over the last seconds, the newest at the right.
public struct LevelView: Sendable {
    /// What stands beside it, up to five characters.
    public var name: String
    /// In decibels, what the lowest line stands for.
    public var floor: Float

    private var steps: [LevelTrail.Step] = []
    private var seen = 0

    /// The widest terminal.
    private static let capacity = 1_000
    private static let eighths: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    public init(name: String, floor: Float = -70) {
        self.name = name
        self.floor = min(floor, -1)
    }

    /// What has come since it was last given: a step of the trail is a column.
    public mutating func take(_ trail: LevelTrail) {
        // A trail that begins anew is one of another sound.
        if trail.count < seen { seen = 0 }
        steps += trail.steps(after: seen)
        seen = trail.count
        if steps.count > 2 * Self.capacity { steps.removeFirst(steps.count - Self.capacity) }
    }

    /// So many lines, each so many characters wide; what was made up is red, and `×` beneath it where there are no colours.
    public func lines(width: Int, height: Int, hasColours: Bool) -> [String] {
        let columns = max(width - TerminalStyle.marginWidth, 1)
        let shown = steps.suffix(columns)
        let blank = String(repeating: " ", count: columns - shown.count)
        return (0..<height).map { line in
            Paint.faint.on(label(line, of: height), hasColours) + " " + blank
                + shown.map { column($0, line: line, of: height, hasColours) }.joined()
        }
    }

    private func label(_ line: Int, of height: Int) -> String {
        let text = line == height - 1 ? String(name.prefix(TerminalStyle.marginWidth - 1)) : line == 0 ? "0 dB" : ""
        return String(repeating: " ", count: TerminalStyle.marginWidth - 1 - text.count) + text
    }

    /// The root of the mean square is solid, and what the peak lies above it is pale.
    private func column(_ step: LevelTrail.Step, line: Int, of height: Int, _ hasColours: Bool) -> String {
        let bottom = 8 * (height - 1 - line)
        let level = eighths(step.meanSquare, height) - bottom
        let peak = eighths(step.peak * step.peak, height) - bottom
        let isConcealed = step.concealedShare > 0.1
        let isPale = level <= 0 && peak > 0
        let sign: Character = isPale ? "░" : Self.eighths[min(max(level, 0), 8)]
        if sign == " " { return line == height - 1 && isConcealed ? Paint.concealed.on("×", hasColours) : " " }
        return (isConcealed ? Paint.concealed : isPale ? .peak : .sound).on(String(sign), hasColours)
    }

    /// Of the whole height.
    private func eighths(_ meanSquare: Float, _ height: Int) -> Int {
        let share = 1 - Level(meanSquare: meanSquare).decibels / floor
        return Int((min(max(share, 0), 1) * Float(8 * height)).rounded())
    }
}
