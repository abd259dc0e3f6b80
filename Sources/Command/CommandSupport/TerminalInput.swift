public import TenfourAudioCore

/// Parses what a terminal sends: keys, the focus, and answers to questions about the terminal.
///
/// Reads no terminal and no clock. Accepts any bytes; unknown sequences are ignored, and at most 64 bytes are kept. A
/// sequence that is not completed by `nextDeadline` is ended by `timeElapsed`: a lone escape is then the Escape key.
///
/// Understands ECMA-48 control sequences, the arrows of VT100, the page keys of VT220, the focus and the mouse of xterm (CSI
/// ? 1004 h and CSI ? 1006 h), and the kitty keyboard protocol (https://sw.kovidgoyal.net/kitty/keyboard-protocol/) with all
/// of its flags.
public struct TerminalInput: Sendable {
    public enum Event: Hashable, Sendable {
        case key(TerminalKey, TerminalKey.Change)
        case focusGained, focusLost
        /// The answer to CSI ? u: the flags of the kitty keyboard protocol that are set.
        case keyboardFlags(UInt8)
        case mouse(MouseReport)
        /// The answer to CSI 6 n: where the cursor is, from 0 at the top left.
        case cursorPosition(line: Int, column: Int)
        /// The answer to CSI c, which every terminal knows: no answer to an earlier question follows.
        case deviceAttributes
    }

    private enum State {
        case ground, escape
        /// A control sequence. Its parameters are nil if it is ignored, because it is too long.
        case control([UInt8]?)
        /// ESC O, with the number of parameter bytes.
        case singleShift(parameterCount: Int)
        /// ESC [ [, the Linux console's function keys: one byte follows.
        case consoleFunction
        /// A string of the terminal, which ends with BEL or ESC \.
        case string(hasEscape: Bool)
        case unicode([UInt8], length: Int)
    }

    private var state = State.ground
    private var lastByte = Instant.start

    /// The time that the bytes of one key may lie apart. After a longer time an escape is the Escape key.
    static let escapeTimeOut = Duration.milliseconds(25)
    /// The time after which a sequence that has begun is given up.
    static let sequenceTimeOut = Duration.milliseconds(500)
    private static let maximumParameterCount = 64

    public init() {}

    /// The time at which `timeElapsed` is to be called; nil between two keys.
    public var nextDeadline: Instant? {
        switch state {
        case .ground: nil
        case .escape: lastByte + Self.escapeTimeOut
        default: lastByte + Self.sequenceTimeOut
        }
    }

    /// Ends an incomplete sequence that is due. Returns the Escape key if it was a lone escape.
    public mutating func timeElapsed(at now: Instant) -> Event? {
        guard let deadline = nextDeadline, deadline <= now else { return nil }
        defer { state = .ground }
        if case .escape = state { return Self.escapeKey } else { return nil }
    }

    /// Takes the next byte. Returns the event that it completes.
    public mutating func append(_ byte: UInt8, at now: Instant) -> Event? {
        lastByte = now
        switch state {
        case .ground: return begin(byte)
        case .escape: return introduce(byte)
        case .control(let parameters): return control(byte, parameters)
        case .singleShift(let count): return singleShift(byte, parameterCount: count)
        case .consoleFunction: state = .ground
        case .string(let hasEscape): endString(byte, hasEscape: hasEscape)
        case .unicode(let bytes, let length): return unicode(bytes + [byte], length: length)
        }
        return nil
    }

    private static let escapeKey = Event.key(.character("\u{1B}"), .press)
    private static let escape: UInt8 = 0x1B

    private mutating func begin(_ byte: UInt8) -> Event? {
        switch byte {
        case Self.escape: state = .escape
        case 0..<0x80: return .key(.character(Character(UnicodeScalar(byte))), .press)
        case 0xC2...0xDF: state = .unicode([byte], length: 2)
        case 0xE0...0xEF: state = .unicode([byte], length: 3)
        case 0xF0...0xF4: state = .unicode([byte], length: 4)
        default: break
        }
        return nil
    }

    private mutating func unicode(_ bytes: [UInt8], length: Int) -> Event? {
        guard bytes[bytes.count - 1] & 0xC0 == 0x80 else {
            state = .ground
            return begin(bytes[bytes.count - 1])
        }
        guard bytes.count == length else {
            state = .unicode(bytes, length: length)
            return nil
        }
        state = .ground
        return String(validating: bytes, as: UTF8.self)?.first.map { .key(.character($0), .press) }
    }

    /// Takes the byte after an escape. Any other byte than those below makes a key with Alt, which is ignored.
    private mutating func introduce(_ byte: UInt8) -> Event? {
        switch byte {
        case Self.escape: return Self.escapeKey
        case UInt8(ascii: "["): state = .control([])
        case UInt8(ascii: "O"): state = .singleShift(parameterCount: 0)
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"), UInt8(ascii: "_"):
            state = .string(hasEscape: false)
        default: state = .ground
        }
        return nil
    }

    private mutating func singleShift(_ byte: UInt8, parameterCount: Int) -> Event? {
        switch byte {
        case Self.escape: state = .escape
        case 0x20...0x3F: state = .singleShift(parameterCount: 1)
        default:
            state = .ground
            return parameterCount == 0 ? TerminalKey(arrow: byte).map { .key($0, .press) } : nil
        }
        return nil
    }

    private mutating func endString(_ byte: UInt8, hasEscape: Bool) {
        switch byte {
        case 0x07, 0x18, 0x1A: state = .ground
        case UInt8(ascii: "\\") where hasEscape: state = .ground
        default: state = .string(hasEscape: byte == Self.escape)
        }
    }

    private mutating func control(_ byte: UInt8, _ parameters: [UInt8]?) -> Event? {
        switch byte {
        case Self.escape: state = .escape
        case 0x18, 0x1A: state = .ground
        case 0x20...0x3F:
            guard let parameters, parameters.count < Self.maximumParameterCount else {
                state = .control(nil)
                return nil
            }
            state = .control(parameters + [byte])
        case UInt8(ascii: "[") where parameters?.isEmpty == true: state = .consoleFunction
        case 0x40...0x7E:
            state = .ground
            return parameters.flatMap { ControlSequence(parameters: $0, final: byte).event }
        default: break
        }
        return nil
    }
}

/// A completed control sequence.
private struct ControlSequence {
    let parameters: [UInt8]
    let final: UInt8

    var event: TerminalInput.Event? {
        let isPrivate = parameters.first == UInt8(ascii: "?")
        let isMouse = parameters.first == UInt8(ascii: "<")
        switch final {
        case UInt8(ascii: "u") where isPrivate:
            return Self.number(parameters.dropFirst()).map { .keyboardFlags(UInt8(clamping: $0)) }
        case UInt8(ascii: "c") where isPrivate: return .deviceAttributes
        case UInt8(ascii: "I") where parameters.isEmpty: return .focusGained
        case UInt8(ascii: "O") where parameters.isEmpty: return .focusLost
        case UInt8(ascii: "~"):
            return KittyKey(fields).flatMap { key in key.tildeKey.map { .key($0, key.change) } }
        case UInt8(ascii: "M") where isMouse, UInt8(ascii: "m") where isMouse:
            return MouseReport(Self.fields(parameters.dropFirst()), final: final).map { .mouse($0) }
        case UInt8(ascii: "R"): return cursorPosition
        case UInt8(ascii: "A")...UInt8(ascii: "D"), UInt8(ascii: "u"):
            return KittyKey(fields).flatMap { key in
                let known = final == UInt8(ascii: "u") ? key.key : key.hasModifiers ? nil : TerminalKey(arrow: final)
                return known.map { .key($0, key.change) }
            }
        default: return nil
        }
    }

    /// The place of the cursor. A key that sends the same bytes, F3 with modifiers, has the line 1.
    private var cursorPosition: TerminalInput.Event? {
        guard let fields, fields.count == 2, fields.allSatisfy({ $0.count == 1 }), let line = fields[0][0],
            let column = fields[1][0], line > 0, column > 0
        else { return nil }
        return .cursorPosition(line: line - 1, column: column - 1)
    }

    private var fields: [[Int?]]? { Self.fields(parameters[...]) }

    /// Returns the parameters: fields apart by semicolons, of numbers apart by colons. Nil stands for no number.
    private static func fields(_ parameters: ArraySlice<UInt8>) -> [[Int?]]? {
        guard parameters.allSatisfy({ (0x30...0x3B).contains($0) }) else { return nil }
        return parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { field in
            field.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map(number)
        }
    }

    /// Returns the number of at most seven digits; nil for anything else.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard (1...7).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
