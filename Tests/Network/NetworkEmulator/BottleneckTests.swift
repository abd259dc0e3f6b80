import TenfourAudioCore
import TenfourNetworkEmulator
import Testing

/// Returns the times in milliseconds at which packets leave the queue; nil for a packet that found it full. Sizes are
/// in bytes, sending times in milliseconds.
private func deliveries(_ packets: [(byteCount: Int, time: Int)], through bottleneck: Bottleneck) -> [Double?] {
    var link = EmulatedLink(NetworkModel(bottleneck: bottleneck), seed: 1, beginning: .start)
    return packets.map { byteCount, time in
        let fate = link.fate(ofPacket: byteCount, at: .start + .milliseconds(time))
        return fate == .lost(.queueFull) ? nil : fate.firstDelivery.map { ($0 - .start) / .milliseconds(1) }
    }
}

/// A bottleneck of 1 Mbit/s: 1000 bytes take 8 ms.
private func megabit(_ queue: Bottleneck.Queue) -> Bottleneck {
    Bottleneck(bitsPerSecond: 1_000_000, queue: queue, headerByteCount: 0)
}

struct BottleneckTests {
    @Test func packetsLeaveOneAfterTheOther() {
        let packets = [(1000, 0), (1000, 0), (500, 10), (1000, 1000)]
        #expect(deliveries(packets, through: megabit(.time(.seconds(1)))) == [8, 16, 20, 1008])
    }

    @Test func headersCount() {
        #expect(deliveries([(972, 0)], through: Bottleneck(bitsPerSecond: 1_000_000)) == [8])
    }

    @Test func aTimeThatIsNotWholeIsRoundedUp() {
        let slow = Bottleneck(bitsPerSecond: 3, headerByteCount: 0)
        #expect(deliveries([(1, 0)], through: slow) == [2666.666667])
    }

    @Test func packetsBeyondTheQueueAreDropped() {
        // The fourth packet would wait 24 ms. A dropped packet takes no transmission time.
        let packets = [(1000, 0), (1000, 0), (1000, 0), (1000, 0), (1000, 8)]
        #expect(deliveries(packets, through: megabit(.time(.milliseconds(16)))) == [8, 16, 24, nil, 32])
    }

    @Test func aQueueInBytesHoldsThatManyBytes() {
        let packets = [(1000, 0), (1000, 0), (1000, 0), (1000, 0), (1000, 8)]
        #expect(deliveries(packets, through: megabit(.byteCount(2000))) == [8, 16, 24, nil, 32])
    }

    @Test func withoutAQueueItIsAPolicer() {
        let packets = (0..<6).map { (1000, $0 * 4) }
        #expect(deliveries(packets, through: megabit(.time(.zero))) == [8, nil, 16, nil, 24, nil])
    }

    @Test func aLongOverloadGetsTheRateAndNothingMore() {
        let bottleneck = Bottleneck(bitsPerSecond: 24_000, queue: .time(.milliseconds(100)))
        let network = NetworkModel(bottleneck: bottleneck, delay: .milliseconds(10))
        let delivered = fates(network, count: 3000).compactMap(\.firstDelivery)
        // 108 bytes on the wire take 36 ms, so one packet every 36 ms is delivered once the queue is full.
        #expect(abs(delivered.count - 60_000 / 36) <= 4)
        #expect(zip(delivered, delivered.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(36) })
    }
}
