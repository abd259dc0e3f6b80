private import TenfourAudioCore

/// The slowest link of a path: packets are sent one after the other at a bit rate, and wait in a queue before the link.
public struct Bottleneck: Hashable, Sendable {
    /// The capacity of the queue before the link. A packet that does not fit is dropped.
    public enum Queue: Hashable, Sendable {
        /// The longest waiting time; a packet that would wait longer is dropped. If it is zero, no packet waits (a
        /// policer).
        case time(Duration)
        /// The capacity in bytes, headers included. A new packet is dropped if more bytes than this still have to be
        /// sent before it.
        case byteCount(Int)
    }

    /// The bit rate of the link in bit/s, 1 or more.
    public var bitsPerSecond: Int
    /// The capacity of the queue before the link.
    public var queue: Queue
    /// The number of header bytes added to each packet: 28 for IPv4 and UDP, 48 for IPv6 and UDP.
    public var headerByteCount: Int

    public init(bitsPerSecond: Int, queue: Queue = .time(.milliseconds(100)), headerByteCount: Int = 28) {
        self.bitsPerSecond = bitsPerSecond
        self.queue = queue
        self.headerByteCount = headerByteCount
    }

    /// Returns the time in which the link sends `byteCount` bytes, headers included, rounded up to whole nanoseconds so
    /// that the rate is never exceeded.
    func nanoseconds(for byteCount: Int) -> Int64 {
        let bytes = Int64(min(max(byteCount, 0), 1 << 30))
        let rate = Int64(max(bitsPerSecond, 1))
        let (seconds, rest) = (bytes * 8).quotientAndRemainder(dividingBy: rate)
        // Adds the time of the remaining bits, rounded up. The product of their number and 10⁹ may not fit in 64 bits.
        let part = (Int128(rest) * 1_000_000_000 + Int128(rate) - 1) / Int128(rate)
        return seconds * 1_000_000_000 + Int64(part)
    }
}

/// The queue of a `Bottleneck`, packet by packet.
struct BottleneckQueue {
    private let bottleneck: Bottleneck
    private let longestWait: Int64
    /// The time at which the link finishes sending the last accepted packet, in nanoseconds since the link began.
    private var busyUntil = Int64.min / 2

    init(_ bottleneck: Bottleneck) {
        self.bottleneck = bottleneck
        longestWait =
            switch bottleneck.queue {
            case .time(let longest): longest.asDelay
            case .byteCount(let bytes): Duration.nanoseconds(bottleneck.nanoseconds(for: bytes)).asDelay
            }
    }

    /// Returns the time at which the link finishes sending a packet of `byteCount` bytes, without headers, that arrives
    /// at `time`; nil if the queue is full. Both times are in nanoseconds since the link began.
    mutating func departure(ofPacket byteCount: Int, at time: Int64) -> Int64? {
        let beginning = max(time, busyUntil)
        guard beginning - time <= longestWait else { return nil }
        let bytes = min(max(byteCount, 0), 1 << 16) + min(max(bottleneck.headerByteCount, 0), 1 << 16)
        busyUntil = beginning + bottleneck.nanoseconds(for: bytes)
        return busyUntil
    }
}
