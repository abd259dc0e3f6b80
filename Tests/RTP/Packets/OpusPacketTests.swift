import TenfourAudioCore
import TenfourPackets
import Testing

/// That this compiles is the test: the audio thread may take packets apart.
@_noAllocation @_noLocks
private func soundOnTheAudioThread(in payload: borrowing Span<UInt8>) -> Int {
    do throws(OpusPacketError) {
        let packet = try OpusPacket(parsing: payload)
        var total = 0
        for index in 0..<packet.count { total += packet[index].frameCount.rawValue }
        guard case .celt = packet.toc.mode, total == packet.frameCount.rawValue else { return -1 }
        return total
    } catch {
        return 0
    }
}

struct OpusPacketTests {
    @Test func theAudioThreadTakesPacketsApart() {
        let packet: [UInt8] = [16 << 3 | 3, 0x30] + [UInt8](repeating: 0, count: 96)
        #expect(soundOnTheAudioThread(in: packet.span) == 5760)
        #expect(soundOnTheAudioThread(in: packet.span.extracting(0..<1)) == 0)
    }

    @Test func descriptionsCutThePayloadIntoItsFrames() throws {
        let payload: [UInt8] = [18 << 3 | 3, 0xC3, 2, 1, 0, 0xAA, 0xBB, 0xBB, 0, 0]
        let packet = try OpusPacket(parsing: payload.span)
        #expect(
            (0..<packet.count).map { packet[$0] } == [
                PacketDescription(offset: 5, byteCount: 1, frameCount: FrameCount(480)),
                PacketDescription(offset: 6, byteCount: 0, frameCount: FrameCount(480)),
                PacketDescription(offset: 6, byteCount: 2, frameCount: FrameCount(480)),
            ])
        #expect(packet.paddingByteCount == 2)
        #expect(packet.frameCount.duration() == .milliseconds(30))
    }

    @Test func eachFrameSizeReachesAHundredAndTwentyMillisecondsAndNoMore() throws {
        for configuration in UInt8(0)..<32 {
            let toc = OpusTOC(rawValue: configuration << 3 | 3)
            let most = OpusPacket.maximumFrameCount.rawValue / toc.frameCount.rawValue
            let full: [UInt8] = [toc.rawValue, UInt8(most)]
            #expect(try OpusPacket(parsing: full.span).frameCount == OpusPacket.maximumFrameCount)
            let over: [UInt8] = [toc.rawValue, UInt8(most + 1)]
            let sound = FrameCount(toc.frameCount.rawValue * (most + 1))
            #expect(throws: OpusPacketError.tooLong(sound)) { _ = try OpusPacket(parsing: over.span) }
        }
    }

    @Test func reasonsTellTheNumbers() {
        let cases: [([UInt8], OpusPacketError)] = [
            ([0xF9, 1, 2, 3], .unevenHalves(byteCount: 3)),
            ([0xFA, 9, 1, 2], .framesExceedPacket(byteCount: 9)),
            ([0xFB, 0x43, 9, 1], .paddingExceedsPacket(byteCount: 9)),
            ([0xFB, 0x03, 1, 2, 3, 4], .unevenFrames(byteCount: 4, count: 3)),
            ([0xF8] + [UInt8](repeating: 0, count: 1300), .frameTooLong(byteCount: 1300)),
        ]
        for (payload, reason) in cases {
            #expect(throws: reason) { _ = try OpusPacket(parsing: payload.span) }
        }
    }

    @Test func aPacketIsSmallEnoughToPassAround() {
        #expect(MemoryLayout<OpusPacket>.size <= 128)
    }
}
