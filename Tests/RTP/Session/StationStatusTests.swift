import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import Testing

/// The status in reports (Protocol/02-rtcp.md).
struct StationStatusTests {
    @Test func aStatusIsReadAsItWasWritten() throws {
        var status = StationStatus()
        status.isTransmitting = true
        status.output = .muted
        status.isBrief = true
        status.nextReport = .milliseconds(1_000)
        status.playouts = [
            .init(
                source: SSRC(0x0102_0304), missingShare: 0.2, highestSequenceNumber: SequenceNumber(rawValue: 0x0607)),
            .init(source: SSRC(5), missingShare: 1, highestSequenceNumber: SequenceNumber(rawValue: 0)),
        ]
        #expect(
            status.data == [
                0xC1, 10, 0, 0, 1, 2, 3, 4, 51, 0, 6, 7, 0, 0, 0, 5, 255, 0, 0, 0,
            ])
        #expect(StationStatus(status.data) == status)
        #expect(StationStatus(StationStatus().data) == StationStatus())
    }

    @Test func valuesBeyondTheirRangesAreLimited() {
        var status = StationStatus()
        status.nextReport = .seconds(100)
        status.playouts = (0..<20).map {
            .init(source: SSRC($0), missingShare: 2, highestSequenceNumber: SequenceNumber(rawValue: 1))
        }
        let read = StationStatus(status.data)
        #expect(read != nil && read?.nextReport == nil)
        status.nextReport = .milliseconds(25_450)
        #expect(StationStatus(status.data)?.nextReport == .milliseconds(25_500))
        #expect(read?.playouts.map(\.missingShare) == [Double](repeating: 1, count: 7))
        #expect(status.data.count <= ApplicationPacket.maximumByteCount)
    }

    @Test func otherLengthsAndOutputsAreRefused() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<1_000 {
            let data = (0..<Int.random(in: 0...70, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            let isWhole = data.count >= 4 && data.count % 8 == 4 && data[0] & 3 != 3
            #expect((StationStatus(data) != nil) == isWhole)
        }
    }
}
