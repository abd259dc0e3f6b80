private import TenfourAudioCore

/// The narrow place of a way: packets leave it one after the other at a bit rate, and wait for each other in a queue.
public struct Bottleneck: Hashable, Sendable {
    /// The length of the queue beyond which packets are dropped.
    public enum Queue: Hashable, Sendable {
        /// A packet that would wait longer than this is dropped. Zero: nothing waits (a policer).
        case time(Duration)
        /// A packet is dropped when more than so many bytes, headers included, are still to be sent before it.
        case byteCount(Int)
    }

    /// 1 or more.
    public var bitsPerSecond: Int
    public var queue: Queue
    /// Counted on top of each packet's own bytes: 28 for IPv4 and UDP, 48 for IPv6 and UDP.
    public var headerByteCount: Int

    public init(bitsPerSecond: Int, queue: Queue = .time(.milliseconds(100)), headerByteCount: Int = 28) {
        self.bitsPerSecond = bitsPerSecond
        self.queue = queue
        self.headerByteCount = headerByteCount
    }

    /// How long so many bytes take, headers included, rounded up to whole nanoseconds: the rate is never exceeded.
    func nanoseconds(for byteCount: Int) -> Int64 {
        let bytes = Int64(min(max(byteCount, 0), 1 << 30))
        let rate = Int64(max(bitsPerSecond, 1))
        let (seconds, rest) = (bytes * 8).quotientAndRemainder(dividingBy: rate)
        // Multiplied in 128 bits: the rest may be as large as the rate.
        let part = (Int128(rest) * 1_000_000_000 + Int128(rate) - 1) / Int128(rate)
        return seconds * 1_000_000_000 + Int64(part)
    }
}

/// A `Bottleneck` at work.
struct BottleneckQueue {
    private let bottleneck: Bottleneck
    private let longestWait: Int64
    /// When the last packet taken has left, in nanoseconds since the link began.
    private var busyUntil = Int64.min / 2

    init(_ bottleneck: Bottleneck) {
        self.bottleneck = bottleneck
        longestWait =
            switch bottleneck.queue {
            case .time(let longest): longest.asDelay
            case .byteCount(let bytes): Duration.nanoseconds(bottleneck.nanoseconds(for: bytes)).asDelay
            }
    }

    /// When the last bit of a packet that comes at `time` has left, or nil where the queue is full.
    mutating func departure(ofPacket byteCount: Int, at time: Int64) -> Int64? {
        let beginning = max(time, busyUntil)
        guard beginning - time <= longestWait else { return nil }
        let bytes = min(max(byteCount, 0), 1 << 16) + min(max(bottleneck.headerByteCount, 0), 1 << 16)
        busyUntil = beginning + bottleneck.nanoseconds(for: bytes)
        return busyUntil
    }
}
