/// The bytes of a path as text. On Linux a path is any bytes; most are UTF-8, and then text and bytes are the same. A byte
/// that belongs to no valid UTF-8 becomes one of the last 128 code points (U+10FF80 to U+10FFFF), so that each
/// path has a text of its own. `String(fromPeer:)` shows such a byte as U+FFFD.
extension String {
    /// Creates the text of a path from its bytes.
    public init(pathBytes bytes: some Collection<UInt8>) {
        if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: \.isPathByte) {
            self = text
            return
        }
        self.init()
        var rest = Array(bytes)[...]
        while let first = rest.first {
            let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            if let text = String(validating: rest.prefix(length), as: UTF8.self), text.unicodeScalars.count == 1,
                !text.unicodeScalars.contains(where: \.isPathByte)
            {
                self += text
                rest = rest.dropFirst(length)
            } else {
                unicodeScalars.append(Unicode.Scalar(pathByte: first))
                rest = rest.dropFirst()
            }
        }
    }

    /// The bytes of a path whose text this is.
    public var pathBytes: [UInt8] {
        guard unicodeScalars.contains(where: \.isPathByte) else { return Array(utf8) }
        return unicodeScalars.flatMap { scalar -> [UInt8] in
            scalar.isPathByte ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(UTF8.encode(scalar)!)
        }
    }

    /// Calls `body` with the bytes of the path and a zero behind them, as the C functions of the system take a path.
    public func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let bytes = pathBytes + [0]
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe bytes.baseAddress!.withMemoryRebound(to: CChar.self, capacity: bytes.count) { unsafe body($0) }
        }
    }

    /// The text with U+FFFD in place of bytes of a path that are no UTF-8, to be shown.
    public var replacingPathBytes: String {
        guard unicodeScalars.contains(where: \.isPathByte) else { return self }
        var text = ""
        for scalar in unicodeScalars { text.unicodeScalars.append(scalar.isPathByte ? "\u{FFFD}" : scalar) }
        return text
    }

    /// Creates the text of a path that ends with a zero.
    public init(path: UnsafePointer<CChar>) {
        var bytes: [UInt8] = []
        var index = 0
        while case let byte = unsafe path[index], byte != 0 {
            bytes.append(UInt8(bitPattern: byte))
            index += 1
        }
        self.init(pathBytes: bytes)
    }
}

extension Unicode.Scalar {
    fileprivate static let firstPathByte: UInt32 = 0x10_FF80

    /// Whether the scalar stands for a byte of a path that is no UTF-8.
    var isPathByte: Bool { value >= Self.firstPathByte }

    /// Creates the scalar of a byte of at least 0x80.
    fileprivate init(pathByte byte: UInt8) { self.init(Self.firstPathByte + UInt32(byte & 0x7F))! }
}
