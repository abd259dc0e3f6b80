/// The mouse of the terminal on standard input: whether the terminal reports the left button and where the mouse is while
/// it is held (xterm's modes 1002, and 1006 for the encoding). While it does, text is selected with Shift held.
struct MouseReporting {
    /// Whether the reports are wanted.
    var isWanted = false
    /// Whether they are on in the terminal.
    private var isOn = false

    private static let beginning = "\u{1B}[?1002h\u{1B}[?1006h"
    static let ending = "\u{1B}[?1002l\u{1B}[?1006l"

    /// Turns the reports on or off, as wanted. Call it in the foreground.
    mutating func update() {
        guard isOn != isWanted else { return }
        if isWanted { isOn = Terminal.control(Self.beginning) } else { end() }
    }

    /// Turns the reports off until the next `update`. Call it in the foreground.
    mutating func end() {
        if isOn { Terminal.control(Self.ending) }
        isOn = false
    }
}
