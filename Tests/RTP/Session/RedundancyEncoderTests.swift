import TenfourAudioCore
import TenfourPackets
import Testing

@testable import TenfourSession

struct RedundancyEncoderTests {
    private static let frame = FrameCount(960)

    private func position(_ number: Int) -> FrameCount { FrameCount(number * Self.frame.rawValue) }

    /// Adds packets of 40 bytes; the last one asks for copies at `distances`.
    private func copies(
        at distances: [Int], after count: Int, bitRate: Int = 64_000, startsTalkspurt: Bool = false
    ) -> [RecentPayloads.Entry] {
        var encoder = RedundancyEncoder(bitRate: bitRate)
        for number in 0..<count {
            encoder.keep([UInt8](repeating: UInt8(number), count: 40).span, at: position(number))
        }
        return encoder.copies(
            at: distances, frameCount: Self.frame, beside: 40, at: position(count), startsTalkspurt: startsTalkspurt,
            now: .start)
    }

    @Test func copiesAreOfTheAskedPacketsOldestFirst() {
        #expect(copies(at: [1, 3], after: 5).map(\.position) == [position(2), position(4)])
    }

    @Test func aTalkspurtBeginsWithoutCopies() {
        #expect(copies(at: [1], after: 5, startsTalkspurt: true).isEmpty)
        #expect(copies(at: [3], after: 2).isEmpty, "before the first packet")
    }

    @Test func copiesThatExceedTheBitRateAreLeftOut() {
        #expect(copies(at: [1], after: 5, bitRate: 1_000).isEmpty)
    }

    @Test func writtenRedundancyIsReadBack() throws {
        var encoder = RedundancyEncoder(bitRate: 64_000)
        encoder.keep([UInt8](repeating: 1, count: 30).span, at: position(0))
        let chosen = encoder.copies(
            at: [1], frameCount: Self.frame, beside: 20, at: position(1), startsTalkspurt: false, now: .start)
        let payload = [UInt8](repeating: 2, count: 20)
        let count = RedundancyEncoder.byteCount(of: payload.span, with: chosen)
        let written = [UInt8](capacity: count) {
            encoder.write(payload.span, with: chosen, payloadType: 111, at: position(1), into: &$0)
        }
        #expect(written.count == count)
        let blocks = try RedundantPayload(parsing: written.span)
        #expect(blocks.count == 2)
        #expect(blocks[0].age == Self.frame && blocks[0].byteCount == 30)
        #expect(Array(written[blocks.primary.offset...]) == payload)
    }
}
