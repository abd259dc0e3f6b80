/// Divides a stream of bytes into lines of bounded length.
struct LineBuffer {
    private var bytes: [UInt8] = []

    /// The longest line in bytes, without its end.
    static let maximumLength = 1_024

    /// Appends received bytes, and calls `take` with each completed line, without its end. Returns false if a line is
    /// too long; nothing can be read after that.
    mutating func append(_ received: some Sequence<UInt8>, _ take: ([UInt8]) -> Void) -> Bool {
        for byte in received {
            if byte == UInt8(ascii: "\n") {
                let line = bytes
                bytes = []
                take(line)
            } else {
                guard bytes.count < Self.maximumLength else { return false }
                bytes.append(byte)
            }
        }
        return true
    }
}
