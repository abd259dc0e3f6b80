private import CQRencode

/// A text as a square of dark and light modules, that a camera reads (ISO/IEC 18004).
public struct QRSymbol: Sendable, Equatable {
    /// Modules a side, without the light margin that belongs around it.
    public let width: Int
    private let modules: [Bool]

    /// Of light modules, on each side.
    static let margin = 4

    /// Bytes as they are, with the error correction of level M: 15 % of it may be unreadable. Nil for more than a symbol holds,
    /// 2331 bytes. `QRcode_encodeData`.
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

    /// Whether a module is dark; those outside are light.
    public func isDark(row: Int, column: Int) -> Bool {
        guard 0..<width ~= row, 0..<width ~= column else { return false }
        return modules[row * width + column]
    }

    /// Of `text`, in characters.
    public var textWidth: Int { width + 2 * Self.margin }

    /// For a terminal, with its margin, two rows of modules in a line of characters. `inColours` is black on white whatever the
    /// terminal's own colours are; otherwise light is what a terminal with a dark ground writes in.
    public func text(inColours: Bool) -> String {
        let places = -Self.margin..<(width + Self.margin)
        return stride(from: places.lowerBound, to: places.upperBound, by: 2).map { row in
            let line = places.map { column in
                // In colours ink is dark, otherwise it is light.
                let upper = isDark(row: row, column: column) == inColours
                // Below the last row nothing is drawn: without colours that is no part of the symbol.
                let isWithin = row + 1 < places.upperBound
                let lower = isWithin ? isDark(row: row + 1, column: column) == inColours : false
                return upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ")
            }.joined()
            return inColours ? "\u{1B}[38;5;16;48;5;231m\(line)\u{1B}[0m\n" : line + "\n"
        }.joined()
    }
}
