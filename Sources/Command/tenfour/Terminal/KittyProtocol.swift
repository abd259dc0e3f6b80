/// The kitty keyboard protocol of the terminal on standard input: whether the terminal knows it, and whether it is on.
/// https://sw.kovidgoyal.net/kitty/keyboard-protocol/
///
/// A terminal that answers CSI ? u knows the protocol. CSI c, which follows, is answered by every terminal, so that its
/// answer alone says no. All flags are set, because without the flag that reports all keys as escape codes the protocol
/// promises no releases of keys that type text, as space does.
struct KittyProtocol {
    private var state: State
    /// Whether the flags are set in the terminal.
    private var isOn = false

    private enum State {
        /// The protocol is not wanted, or the terminal does not know it.
        case unused
        case unasked
        /// Asked whether the terminal knows the protocol.
        case asked
        /// The flags are set, and the terminal was asked whether it has them all.
        case set
        case confirmed
    }

    /// Disambiguate, report event types, alternate keys, all keys as escape codes, and associated text.
    private static let flags = 31
    /// Report event types, and all keys as escape codes.
    private static let necessaryFlags: UInt8 = 2 | 8
    /// CSI ? 1004 h reports the focus.
    private static let beginning = "\u{1B}[>\(flags)u\u{1B}[?1004h"
    private static let ending = "\u{1B}[<u\u{1B}[?1004l"

    init(isWanted: Bool) { state = isWanted ? .unasked : .unused }

    /// Whether an answer is still expected.
    var isAsking: Bool { state == .asked || state == .set }

    /// Whether the terminal reports when a key is released.
    var isConfirmed: Bool { state == .confirmed }

    /// Asks the terminal, once, or sets the flags again after `end`. Call it in the foreground.
    mutating func begin() {
        switch state {
        case .unasked: state = Terminal.control("\u{1B}[?u\u{1B}[c") ? .asked : .unused
        case .set, .confirmed:
            if !isOn { isOn = Terminal.control(Self.beginning) }
        case .unused, .asked: break
        }
    }

    /// Restores the terminal. Call it in the foreground.
    mutating func end() {
        if isOn { Terminal.control(Self.ending) }
        isOn = false
    }

    /// The terminal answers with the flags that are set.
    mutating func receive(flags: UInt8) {
        switch state {
        case .asked:
            isOn = Terminal.control(Self.beginning + "\u{1B}[?u")
            state = isOn ? .set : .unused
        case .set where flags & Self.necessaryFlags == Self.necessaryFlags: state = .confirmed
        case .set:
            end()
            state = .unused
        case .unused, .unasked, .confirmed: break
        }
    }

    /// The terminal answers the question that it knows in any case.
    mutating func receiveAttributes() { if state == .asked { state = .unused } }
}
