/// Tells a file from a live stream where the server states neither length nor tag: the response after a broken connection
/// begins with the same bytes.
struct RepeatedBeginning {
    /// Whether a response began with other bytes, as that of a live stream does.
    private(set) var isLive = false
    private var bytes: [UInt8] = []
    private var isKept = false
    /// The number of bytes of the present response that are compared; nil if it is the first one, or is decided.
    private var comparedCount: Int?

    /// The largest number of bytes that are compared: a minute at 128 kbit/s. A live stream may begin each response with the
    /// same header or the same clip.
    private static let limit = 1 << 20

    enum Outcome {
        /// The response is not compared.
        case decided
        /// The bytes are those of the beginning, and further ones are needed.
        case undecided
        /// The response repeats the resource. The bytes began at this offset.
        case repeated(from: Int)
        /// The response continues a live stream. These bytes of it came before.
        case live([UInt8])
    }

    /// Keeps bytes of the first response.
    mutating func keep(_ new: UnsafeRawBufferPointer) {
        guard !isKept else { return }
        unsafe bytes += new.prefix(Self.limit - bytes.count)
    }

    /// Begins a further response.
    mutating func beginResponse() {
        isKept = true
        comparedCount = isLive || bytes.isEmpty ? nil : 0
    }

    /// Compares the next bytes of a response.
    mutating func compare(_ new: UnsafeRawBufferPointer) -> Outcome {
        guard let begin = comparedCount else { return .decided }
        let count = min(new.count, bytes.count - begin)
        guard unsafe new.prefix(count).elementsEqual(bytes[begin..<begin + count]) else {
            (isLive, comparedCount) = (true, nil)
            return .live(Array(bytes[..<begin]))
        }
        comparedCount = begin + count
        guard begin + count == bytes.count else { return .undecided }
        comparedCount = nil
        return .repeated(from: begin)
    }
}
