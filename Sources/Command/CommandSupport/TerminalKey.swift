/// A key of a terminal.
public enum TerminalKey: Hashable, Sendable {
    /// The key that makes this character. With Ctrl, a letter makes a control character, as in a plain terminal.
    case character(Character)
    case up, down, left, right
    case pageUp, pageDown

    public enum Change: Hashable, Sendable {
        case press
        /// The key is held. A plain terminal reports it as a press.
        case `repeat`
        /// Only terminals with the kitty keyboard protocol report it.
        case release
    }

    /// The arrow whose sequence ends with `final`: A, B, C or D.
    init?(arrow final: UInt8) {
        switch final {
        case UInt8(ascii: "A"): self = .up
        case UInt8(ascii: "B"): self = .down
        case UInt8(ascii: "C"): self = .right
        case UInt8(ascii: "D"): self = .left
        default: return nil
        }
    }

    /// The key whose sequence is CSI, `number` and a tilde, as in VT220.
    init?(tildeNumber number: Int) {
        switch number {
        case 5: self = .pageUp
        case 6: self = .pageDown
        default: return nil
        }
    }
}

/// A key event of the kitty keyboard protocol: `code:shifted:base ; modifiers:change ; text`, each part optional.
struct KittyKey {
    let change: TerminalKey.Change
    private let codes: [Int?]
    private let modifiers: Int
    private let text: Int?

    private static let shift = 1
    private static let control = 4
    /// Caps Lock and Num Lock.
    private static let locks = 64 | 128

    /// `fields` are nil if the parameters are not numbers. Returns nil if this is not an event of the protocol.
    init?(_ fields: [[Int?]]?) {
        guard let fields, fields.count <= 3 else { return nil }
        codes = fields.first ?? []
        let second = fields.count > 1 ? fields[1] : []
        let encoded = second.first.flatMap { $0 } ?? 1
        guard (1...256).contains(encoded) else { return nil }
        modifiers = (encoded - 1) & ~Self.locks
        switch second.count > 1 ? second[1] ?? 1 : 1 {
        case 1: change = .press
        case 2: change = .repeat
        case 3: change = .release
        default: return nil
        }
        text = fields.count > 2 ? fields[2].first.flatMap { $0 } : nil
    }

    var hasModifiers: Bool { modifiers != 0 }

    /// The key; nil for keys that we do not know, and with modifiers other than Shift and Ctrl.
    var key: TerminalKey? {
        switch modifiers {
        case 0, Self.shift:
            if let text { return character(text) }
            let isShifted = modifiers == Self.shift && code(1) != nil
            return keypadKey ?? character(isShifted ? code(1) : code(0))
        case Self.control, Self.control | Self.shift: return controlCharacter
        default: return nil
        }
    }

    private func code(_ index: Int) -> Int? { codes.count > index ? codes[index] : nil }

    /// The key of a sequence that ends with a tilde; nil with modifiers.
    var tildeKey: TerminalKey? { hasModifiers ? nil : code(0).flatMap { TerminalKey(tildeNumber: $0) } }

    /// The arrows and page keys of the keypad.
    private var keypadKey: TerminalKey? {
        switch code(0) {
        case 57_417: .left
        case 57_418: .right
        case 57_419: .up
        case 57_420: .down
        case 57_421: .pageUp
        case 57_422: .pageDown
        default: nil
        }
    }

    /// Returns the character of a code; nil for the protocol's own codes (a private area of Unicode), and for zero.
    private func character(_ code: Int?) -> TerminalKey? {
        guard let code, code > 0, !(0xE000...0xF8FF).contains(code), let scalar = UInt32(exactly: code),
            let scalar = Unicode.Scalar(scalar)
        else { return nil }
        return .character(Character(scalar))
    }

    /// Ctrl with a letter or with one of @ [ \ ] ^ _ and space. On a layout without Latin letters, the key at the same
    /// place of the standard layout counts.
    private var controlCharacter: TerminalKey? {
        guard let typed = code(0) else { return nil }
        switch typed < 0x80 ? typed : code(2) ?? typed {
        case 0x20: return .character("\u{0}")
        case let code where (0x40...0x5F).contains(code) || (0x61...0x7A).contains(code):
            return character(code & 0x1F) ?? .character("\u{0}")
        default: return nil
        }
    }
}
