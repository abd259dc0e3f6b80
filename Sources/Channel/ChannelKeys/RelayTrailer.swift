private import CSodium

/// The last 12 bytes of each datagram that a relay forwards to a member whose session began with JOIN2: a counter, and a
/// SipHash of the packet's hash and the counter under the relay hop key (Protocol/13-members.md).
///
/// The packet is hashed once for all members, and their trailers cover this hash. So the packet stays shared, and a member
/// costs about 20 ns.
public enum RelayTrailer {
    public static let byteCount = 12
    static let counterByteCount = 4
    /// The counter after which a member joins anew.
    public static let lastCounter = TrailerLane.forwarded.end - 65_536

    /// Whether a datagram from a relay is one that ends in a trailer: an SRTP packet, or a control packet that a talker has
    /// sent to the other members.
    public static func isDue(_ datagram: Span<UInt8>) -> Bool {
        guard datagram.count > ControlPacket.headerByteCount else { return false }
        switch datagram[0] {
        case 128...191: return true
        // ANNOUNCEMENT, SIGNED ANNOUNCEMENT and TAG LIST.
        case ControlPacket.firstByte: return datagram[2] == 8 || datagram[2] == 13 || datagram[2] == 14
        default: return false
        }
    }
}

/// The counters of a session's trailers. There are two, because a relay may forward packets on another thread than the one
/// that answers the member.
public enum TrailerLane: Sendable, CaseIterable {
    /// Packets when they arrive from the talker: counters from 0.
    case forwarded
    /// Retransmissions, and announcements for a new member: counters from 2³¹.
    case repeated

    var start: UInt32 { self == .forwarded ? 0 : 1 << 31 }
    /// The last counter of the lane. No second datagram with it is accepted.
    var end: UInt32 { start + (1 << 31 - 1) }
}

/// The hash of a forwarded packet, which the trailers of all members cover: BLAKE2b with 16 bytes of output, without key. The
/// C function is `crypto_generichash`.
public struct PacketHash: Hashable, Sendable {
    let value: UInt128

    public init(of packet: Span<UInt8>) {
        var hash = InlineArray<16, UInt8>(repeating: 0)
        var span = hash.mutableSpan
        unsafe span.withUnsafeMutableBufferPointer { hash in
            unsafe packet.withUnsafeBufferPointer { packet in
                _ = unsafe crypto_generichash(
                    hash.baseAddress!, hash.count, packet.baseAddress, UInt64(packet.count), nil, 0)
            }
        }
        value = hash.span.number(at: 0)
    }
}

/// The key of one session's trailers: the relay hop key.
public struct TrailerKey: Sendable, Equatable {
    let bytes: SecretBytes

    static let byteCount = 16

    init(_ bytes: SecretBytes) {
        precondition(bytes.count == Self.byteCount)
        self.bytes = bytes
    }
}

/// Returns the eight bytes of a trailer after the counter.
func trailerTag(of hash: PacketHash, counter: UInt32, key: Span<UInt8>) -> UInt64 {
    var input = InlineArray<20, UInt8>(repeating: 0)
    fill(&input) {
        $0.append(number: hash.value)
        $0.append(number: counter)
    }
    return siphash(input.span, key: key)
}

/// Checks the trailers of one session on the member's side; accepts each counter once.
public struct TrailerChecker: Sendable {
    private let key: TrailerKey
    private var forwarded = ReplayWindow()
    private var repeated = ReplayWindow()

    /// The reason why a datagram is not accepted.
    public enum Failure: Error, Hashable, Sendable {
        /// The datagram does not end in a right trailer: the relay did not send it in this session.
        case forged
        /// The trailer is right, and its counter was used before or is too old.
        case replayed
    }

    public init(_ key: TrailerKey) { self.key = key }

    /// The highest counter of the forwarded packets; nil before the first one.
    public var highest: UInt32? { forwarded.highest.map { UInt32($0) } }

    /// Checks the trailer of `datagram`, and returns the number of bytes before it.
    public mutating func check(_ datagram: Span<UInt8>) throws(Failure) -> Int {
        let end = datagram.count - RelayTrailer.byteCount
        guard end > 0 else { throw .forged }
        let counter = datagram.number(at: end, as: UInt32.self)
        let tag: UInt64 = datagram.number(at: end + RelayTrailer.counterByteCount)
        let hash = PacketHash(of: datagram.extracting(..<end))
        guard key.bytes.withBytes({ tag ^ trailerTag(of: hash, counter: counter, key: $0) }) == 0 else { throw .forged }
        let isRepeated = counter >= TrailerLane.repeated.start
        guard isRepeated ? repeated.accepts(UInt64(counter)) : forwarded.accepts(UInt64(counter)) else {
            throw .replayed
        }
        if isRepeated { repeated.insert(UInt64(counter)) } else { forwarded.insert(UInt64(counter)) }
        return end
    }
}
