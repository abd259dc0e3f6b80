private import CSodium

/// The last 12 bytes of a datagram that a talker sends to the relay: a counter, and a SipHash of all bytes before the
/// hash.
///
/// A relay checks a hop tag in about 20 ns, and so drops a forged datagram before it forwards any copies.
public enum HopTag {
    public static let byteCount = 12
    static let counterByteCount = 4
}

/// Appends hop tags to the datagrams of one direction of a session.
public struct HopTagger: Sendable {
    private let key: SecretBytes
    /// The counter of the next datagram. When it reaches `lastCounter`, a new session is needed.
    public private(set) var counter: UInt32 = 0

    public static let lastCounter: UInt32 = .max - 65_535

    init(key: SecretBytes) { self.key = key }

    /// Appends a hop tag of 12 bytes to a complete datagram. Returns false, and appends nothing, if the counter is used
    /// up.
    public mutating func tag(_ datagram: inout OutputSpan<UInt8>) -> Bool {
        guard counter < .max else { return false }
        datagram.append(number: counter)
        let tag = key.withBytes { siphash(datagram.span, key: $0) }
        datagram.append(number: tag)
        counter += 1
        return true
    }
}

/// Checks the hop tags of the datagrams from the other side of a session; accepts each counter once.
public struct HopTagChecker: Sendable {
    private let key: SecretBytes
    private var window = ReplayWindow()

    /// The reason why the hop tag of a datagram is not accepted.
    public enum Failure: Error, Hashable, Sendable {
        case short
        case replayed
        case forged
    }

    init(key: SecretBytes) { self.key = key }

    /// Checks the tag of `datagram` and returns the number of bytes before the tag. Throws if the tag is wrong or its
    /// counter was used before.
    public mutating func check(_ datagram: Span<UInt8>) throws(Failure) -> Int {
        let end = datagram.count - HopTag.byteCount
        guard end > 0 else { throw .short }
        let counter = UInt64(datagram.number(at: end, as: UInt32.self))
        guard window.accepts(counter) else { throw .replayed }
        let tag: UInt64 = datagram.number(at: end + HopTag.counterByteCount)
        let signed = datagram.extracting(..<(end + HopTag.counterByteCount))
        guard key.withBytes({ tag ^ siphash(signed, key: $0) }) == 0 else { throw .forged }
        window.insert(counter)
        return end
    }
}

/// Returns SipHash-2-4 (`crypto_shorthash_siphash24`) under a key of 16 bytes; its eight bytes are read as a big-endian
/// number.
func siphash(_ bytes: Span<UInt8>, key: Span<UInt8>) -> UInt64 {
    var tag = InlineArray<8, UInt8>(repeating: 0)
    var span = tag.mutableSpan
    unsafe span.withUnsafeMutableBufferPointer { tag in
        unsafe key.withUnsafeBufferPointer { key in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                _ = unsafe crypto_shorthash_siphash24(
                    tag.baseAddress!, bytes.baseAddress, UInt64(bytes.count), key.baseAddress!)
            }
        }
    }
    return tag.span.number(at: 0)
}
