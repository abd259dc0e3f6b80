import Glibc
import TenfourAudioCore

/// The title of the terminal on standard input: the terminal keeps the title that it had, and gets it back (xterm's window
/// operations 22 and 23, which not all terminals know).
struct TerminalTitle {
    /// The title that is wanted, safe to display; nil for the one that the terminal had.
    var wanted: String?
    /// The title that was set; nil if there is none.
    private var present: String?

    /// Restores the title that was there before. A terminal that keeps none has the program's name then, and not that of
    /// a caller for good.
    static let ending: StaticString = "\u{1B}]2;tenfour\u{1B}\\\u{1B}[23;2t"
    private static let beginning = "\u{1B}[22;2t"

    /// Sets or restores the title, as wanted. Call it in the foreground.
    mutating func update() {
        guard present != wanted else { return }
        guard let wanted else { return end() }
        // The Linux console has no title.
        guard unsafe getenv("TERM").map({ unsafe String(cString: $0) }) != "linux" else { return }
        let text = "\(present == nil ? Self.beginning : "")\u{1B}]2;\(String(fromPeer: wanted))\u{1B}\\"
        TerminalRescue.hasTitle = true
        if Terminal.control(text) { present = wanted }
    }

    /// Restores the title until the next `update`. Call it in the foreground.
    mutating func end() {
        if present != nil { Terminal.control("\(Self.ending)") }
        present = nil
        TerminalRescue.hasTitle = false
    }
}
