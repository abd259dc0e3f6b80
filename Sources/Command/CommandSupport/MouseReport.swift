/// A report of the mouse in xterm's encoding SGR 1006: `CSI < button ; column ; line M`, and `m` for a release.
public struct MouseReport: Hashable, Sendable {
    public var action: Action
    /// The column, from 0 at the left.
    public var column: Int
    /// The line of the screen, from 0 at the top.
    public var line: Int

    public enum Action: Hashable, Sendable {
        /// The left button was pressed.
        case press
        /// The mouse moved while the left button was held.
        case drag
        /// The left button was released.
        case release
    }

    /// The largest column or line. A terminal that reports more is none.
    static let maximumPlace = 9_999

    private static let motion = 32
    /// Shift, Meta and Control.
    private static let modifiers = 4 | 8 | 16

    /// Parses the fields of a control sequence that begins with `CSI <` and ends with `final`. Returns nil for other
    /// buttons, the wheel, and a report that is none.
    init?(_ fields: [[Int?]]?, final: UInt8) {
        guard let fields, fields.count == 3, fields.allSatisfy({ $0.count == 1 }), let code = fields[0][0],
            let column = fields[1][0], let line = fields[2][0], 1...Self.maximumPlace ~= column,
            1...Self.maximumPlace ~= line
        else { return nil }
        switch (code & ~Self.modifiers, final) {
        case (0, UInt8(ascii: "M")): action = .press
        case (Self.motion, UInt8(ascii: "M")): action = .drag
        case (0, UInt8(ascii: "m")), (Self.motion, UInt8(ascii: "m")): action = .release
        default: return nil
        }
        (self.column, self.line) = (column - 1, line - 1)
    }
}
