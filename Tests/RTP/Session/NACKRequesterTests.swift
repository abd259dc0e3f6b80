import TenfourAudioCore
import TenfourPackets
import Testing

@testable import TenfourSession

struct NACKRequesterTests {
    private var configuration: RTPSessionConfiguration {
        var configuration = RTPSessionConfiguration(remotes: [bob])
        configuration.lossProtection.sourcesSupportNACK = true
        return configuration
    }

    /// A source of packets of 20 ms, of which those in `lost` have not come.
    private func source(_ count: Int, without lost: Set<Int>) -> Source {
        var source = Source(ssrc: SSRC(1), endpoint: bob, at: .start)
        for number in 0..<count where !lost.contains(number) {
            var header = RTPHeader(
                marker: number == 0, payloadType: 111,
                sequenceNumber: SequenceNumber(rawValue: 65_533).advanced(by: number),
                timestamp: RTPTimestamp(rawValue: UInt32(number * 960)), ssrc: SSRC(1))
            _ = source.packetArrived(&header, .opus, FrameCount(960), byteCount: 92, at: Self.arrival(number))
        }
        return source
    }

    private static func arrival(_ number: Int) -> Instant { .start + .milliseconds(20 * number) }

    @Test func aLostPacketIsRequestedOnce() {
        var requester = NACKRequester()
        var source = source(6, without: [4])
        let now = Self.arrival(5)
        #expect(requester.poll(&source, configuration, at: now) == [SequenceNumber(rawValue: 1)])
        #expect(requester.poll(&source, configuration, at: now + .milliseconds(1)).isEmpty)
        requester.updateDeadline([source], configuration)
        #expect(requester.deadline.map { $0 > now } == true)
    }

    @Test func nothingIsRequestedWhereNACKIsOffOrInAGroup() {
        var off = configuration
        off.lossProtection.mode = .off
        var group = configuration
        group.hearsGroup = true
        for configuration in [off, group] {
            var requester = NACKRequester()
            var source = source(6, without: [4])
            #expect(requester.poll(&source, configuration, at: Self.arrival(5)).isEmpty)
        }
    }

    @Test func requestsOfAllSourcesAreLimited() {
        var requester = NACKRequester()
        var count = 0
        for _ in 0..<30 {
            var source = source(6, without: [4])
            if !requester.poll(&source, configuration, at: Self.arrival(5)).isEmpty { count += 1 }
        }
        #expect(count == 10)
        #expect(requester.spend(byteCount: 3_000, at: Self.arrival(5)) == true)
        #expect(requester.spend(byteCount: 1, at: Self.arrival(5)) == false)
    }
}
