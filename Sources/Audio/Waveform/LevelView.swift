public import TenfourAudioCore

/// A live level meter in a few lines of a terminal: the levels of the last seconds, the newest at the right.
public struct LevelView: Sendable {
    /// The label, up to five characters.
    public var name: String
    /// The level of the lowest line, in decibels.
    public var floor: Float

    private var steps: [LevelHistory.Step] = []
    private var seen = 0

    /// The number of columns that the widest supported terminal shows. At least this many of the latest steps are kept.
    private static let capacity = 1_000
    private static let eighths: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    public init(name: String, floor: Float = -70) {
        self.name = name
        self.floor = min(floor, -1)
    }

    /// Appends the steps of `levelHistory` since the last call. Each step is drawn as a column.
    public mutating func append(_ levelHistory: LevelHistory) {
        // Starts again if the count has decreased, since the steps are then of another history, with other audio.
        if levelHistory.count < seen { seen = 0 }
        steps += levelHistory.steps(after: seen)
        seen = levelHistory.count
        if steps.count > 2 * Self.capacity { steps.removeFirst(steps.count - Self.capacity) }
    }

    /// Returns `height` lines of `width` characters. Concealed audio is red; without colours it is marked by `×`
    /// beneath.
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

    /// Returns one line of a column: solid up to the root mean square, pale between the root mean square and the peak.
    private func column(_ step: LevelHistory.Step, line: Int, of height: Int, _ hasColours: Bool) -> String {
        let bottom = 8 * (height - 1 - line)
        let level = eighths(step.meanSquare, height) - bottom
        let peak = eighths(step.peak * step.peak, height) - bottom
        let isConcealed = step.concealedShare > 0.1
        let isPale = level <= 0 && peak > 0
        let sign: Character = isPale ? "░" : Self.eighths[min(max(level, 0), 8)]
        if sign == " " { return line == height - 1 && isConcealed ? Paint.concealed.on("×", hasColours) : " " }
        return (isConcealed ? Paint.concealed : isPale ? .peak : .sound).on(String(sign), hasColours)
    }

    /// Returns the height at which the level of `meanSquare` is drawn, in eighths of a line, in a meter of `height`
    /// lines.
    private func eighths(_ meanSquare: Float, _ height: Int) -> Int {
        let share = 1 - Level(meanSquare: meanSquare).decibels / floor
        return Int((min(max(share, 0), 1) * Float(8 * height)).rounded())
    }
}
