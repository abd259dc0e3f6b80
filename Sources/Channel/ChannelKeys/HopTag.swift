private import CSodium

/// The trailer of a talker's datagram on its way to the relay: a counter and a SipHash of all before it.
///
/// With it a relay knows forgeries before it fans them out, for the price of 20 ns.
public enum HopTag {
    public static let byteCount = 12
    static let counterByteCount = 4
}

/// Tags one way's datagrams.
public struct HopTagger: Sendable {
    private let key: SecretBytes
    /// Of the next datagram. Past `lastCounter` the session is to be made anew.
    public private(set) var counter: UInt32 = 0

    public static let lastCounter: UInt32 = .max - 65_535

    init(key: SecretBytes) { self.key = key }

    /// Appends the 12 bytes to a whole datagram; false, and nothing appended, where the counter is used up.
    public mutating func tag(_ datagram: inout OutputSpan<UInt8>) -> Bool {
        guard counter < .max else { return false }
        datagram.append(number: counter)
        datagram.append(number: siphash(datagram.span, key: key))
        counter += 1
        return true
    }
}

/// Checks the other side's, each once.
public struct HopTagChecker: Sendable {
    private let key: SecretBytes
    private var window = ReplayWindow()

    /// Why a datagram is not forwarded.
    public enum Failure: Error, Hashable, Sendable {
        case short
        case replayed
        case forged
    }

    init(key: SecretBytes) { self.key = key }

    /// How many bytes of `datagram` there are without its tag, which is right and new.
    public mutating func check(_ datagram: Span<UInt8>) throws(Failure) -> Int {
        let end = datagram.count - HopTag.byteCount
        guard end > 0 else { throw .short }
        let counter = UInt64(datagram.number(at: end, as: UInt32.self))
        guard window.accepts(counter) else { throw .replayed }
        let tag: UInt64 = datagram.number(at: end + HopTag.counterByteCount)
        guard tag ^ siphash(datagram.extracting(..<(end + HopTag.counterByteCount)), key: key) == 0 else {
            throw .forged
        }
        window.insert(counter)
        return end
    }
}

/// SipHash-2-4 (`crypto_shorthash_siphash24`), as the number of its eight bytes.
private func siphash(_ bytes: Span<UInt8>, key: SecretBytes) -> UInt64 {
    var tag = InlineArray<8, UInt8>(repeating: 0)
    var span = tag.mutableSpan
    unsafe span.withUnsafeMutableBufferPointer { tag in
        key.withBytes { key in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe bytes.withUnsafeBufferPointer { bytes in
                    _ = unsafe crypto_shorthash_siphash24(
                        tag.baseAddress!, bytes.baseAddress, UInt64(bytes.count), key.baseAddress!)
                }
            }
        }
    }
    return tag.span.number(at: 0)
}
