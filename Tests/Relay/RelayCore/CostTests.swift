import CAllocations
import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// The processing cost of datagrams from strangers, talkers and listeners.
struct CostTests {
    private let family = ChannelKeys.drawn("family")

    /// Returns the number of allocations while the relay handles the second half of `datagrams`. The first half warms
    /// up the buffers that it keeps.
    private func allocationCount(_ room: RelayHarness, _ datagrams: [(bytes: [UInt8], sender: Endpoint)]) -> Int {
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1_600)
        defer { unsafe memory.deallocate() }
        var count: UInt = 0
        for (index, datagram) in datagrams.enumerated() {
            let before = allocations_of_this_thread()
            _ = room.relay.receive(datagram.bytes.span, from: datagram.sender, at: room.now)
            while true {
                var output = unsafe OutputSpan(buffer: memory, initializedCount: 0)
                guard room.relay.nextDatagram(into: &output) != nil else { break }
            }
            while room.relay.nextEvent() != nil {}
            _ = room.relay.nextDeadline
            if index >= datagrams.count / 2 { count += allocations_of_this_thread() - before }
        }
        return Int(count)
    }

    @Test func aStrangerCostsNoMemory() {
        let room = RelayHarness([family])
        let stranger = SimulatedMember(.drawn("nobody", seed: 9), .talk, at: .host(7))
        stranger.helloAndCookie(room)
        stranger.knock(RelayHarness([family], seed: 4))
        var datagrams: [(bytes: [UInt8], sender: Endpoint)] = []
        for _ in 0..<100 {
            // A JOIN with the cookie of another relay.
            datagrams += [
                (stranger.helloDatagram, .host(7)), (stranger.joinDatagram, .host(7)), (stranger.packet(), .host(7)),
                ([UInt8(ascii: "c"), 1, 6, 0] + [UInt8](repeating: 5, count: 60), .host(7)),
                ([UInt8(ascii: "c"), 1, 7, 0] + [UInt8](repeating: 5, count: 8), .host(7)), ([0x80], .host(7)),
                ([1, 2, 3], .host(7)),
            ]
        }
        #expect(allocationCount(room, datagrams) == 0)
        #expect(room.relay.status.discards[.cookie] == 100)
    }

    /// Whether the optimizer is on. Without it, every accessor that yields a field allocates memory.
    private static let isOptimized: Bool = {
        var isOptimized = true
        assert({ isOptimized = false }() == ())
        return isOptimized
    }()

    @Test(.enabled(if: isOptimized, "for builds in release form"))
    func aPacketIsForwardedWithoutAllocating() {
        var limits = RelayLimits.wide
        limits.talkerPacketsPerSecond = 100_000
        limits.talkerBitsPerSecond = 100_000_000
        let room = RelayHarness([family], limits: limits)
        let talker = SimulatedMember(family, .talk, at: .host(1))
        #expect(talker.join(room))
        let count = 2_000
        let datagrams = (0..<count).map { number -> (bytes: [UInt8], sender: Endpoint) in
            (talker.tagged(number % 50 == 0 ? talker.announcement() : talker.packet()), talker.endpoint)
        }
        // The relay keeps each announcement for those who join later.
        #expect(allocationCount(room, datagrams) <= count / 50 * 3)
        #expect(room.relay.status.channels[0].forwardedCount == count)
    }
}
