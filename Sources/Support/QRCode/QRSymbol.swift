private import CQRencode

/// A QR code (ISO/IEC 18004).
public struct QRSymbol: Sendable, Equatable {
    /// The number of modules per side, without the light margin around the symbol.
    public let width: Int
    private let modules: [Bool]

    /// The width of the margin, in modules.
    static let margin = 4

    /// Encodes the bytes of `text` with error correction level M, which tolerates 15 % unreadable modules. Returns nil
    /// if `text` has more than 2331 bytes. The C function is `QRcode_encodeData`.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let code = unsafe QRcode_encodeData(CInt(clamping: bytes.count), bytes, 0, QR_ECLEVEL_M) else {
            return nil
        }
        defer { unsafe QRcode_free(code) }
        let width = unsafe Int(code.pointee.width)
        guard let data = unsafe code.pointee.data else { return nil }
        self.width = width
        modules = (0..<width * width).map { unsafe data[$0] & 1 == 1 }
    }

    /// Returns whether the module is dark; false for a position outside the symbol.
    public func isDark(row: Int, column: Int) -> Bool {
        guard 0..<width ~= row, 0..<width ~= column else { return false }
        return modules[row * width + column]
    }

    /// The width of the drawn code, in characters.
    public var textWidth: Int { width + 2 * Self.margin }

    /// Draws the code for a terminal, with its margin, two rows of modules per line. If `inColours` is true, the code
    /// is black on white, by escape sequences. If it is false, the code is readable only as light text on a dark
    /// background.
    public func text(inColours: Bool) -> String {
        let places = -Self.margin..<(width + Self.margin)
        return stride(from: places.lowerBound, to: places.upperBound, by: 2).map { row in
            let line = places.map { column in
                // With colours, the drawn blocks are dark; without colours, they are light.
                let upper = isDark(row: row, column: column) == inColours
                // Draws nothing below the last row, which is outside the symbol.
                let isWithin = row + 1 < places.upperBound
                let lower = isWithin ? isDark(row: row + 1, column: column) == inColours : false
                return upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ")
            }.joined()
            return inColours ? "\u{1B}[38;5;16;48;5;231m\(line)\u{1B}[0m\n" : line + "\n"
        }.joined()
    }
}
