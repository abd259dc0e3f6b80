import TenfourAudioCore
import TenfourOggOpus
import TenfourOpusCodec
import TenfourPackets
import TestSupport
import Testing

@Suite struct FillingPacketTests {
    @Test(arguments: [(120, 120), (239, 120), (240, 240), (960, 960), (2_879, 960), (2_880, 2_880), (90_000, 2_880)])
    func silenceIsTheLongestThatFits(limit: Int, expected: Int) throws {
        let (payload, frameCount) = FillingPacket.silence(atMost: FrameCount(limit))
        #expect(frameCount == FrameCount(expected))
        #expect(try OpusPacket(parsing: payload.span).frameCount == frameCount)
        var decoder = try OpusDecoder(channelCount: 2)
        var samples = [Float](repeating: 1, count: 2 * expected)
        var span = samples.mutableSpan
        #expect(try decoder.decode(payload.span, into: &span) == frameCount)
        #expect(samples.allSatisfy { abs($0) < 0.000_1 })
    }

    @Test func concealmentHasTheModeAndBandwidthOfTheTalker() throws {
        for configuration in UInt8(0)..<32 {
            let toc = OpusTOC(rawValue: configuration << 3 | 7)
            let limit = FrameCount(5_760)
            let (payload, frameCount) = try #require(FillingPacket.concealment(after: toc, atMost: limit))
            #expect(frameCount == toc.frameCount && payload == [toc.rawValue & ~3])
            for limit in stride(from: 120, through: 2_880, by: 120) {
                guard let short = FillingPacket.concealment(after: toc, atMost: FrameCount(limit)) else {
                    #expect(limit < (toc.mode == .celt ? 120 : 480))
                    continue
                }
                let shortTOC = OpusTOC(rawValue: short.payload[0])
                #expect(shortTOC.mode == toc.mode && shortTOC.bandwidth == toc.bandwidth && shortTOC.isStereo)
                #expect(short.frameCount == shortTOC.frameCount && short.frameCount <= FrameCount(limit))
            }
        }
    }

    @Test func libopusConcealsIt() throws {
        let packets = try CodedTone.packets(seconds: 1)
        var decoder = try OpusDecoder()
        var samples = [Float](repeating: 0, count: 960)
        for packet in packets {
            var span = samples.mutableSpan
            _ = try decoder.decode(packet.span, into: &span)
        }
        let toc = OpusTOC(rawValue: packets[0][0])
        let (payload, _) = try #require(FillingPacket.concealment(after: toc, atMost: FrameCount(960)))
        var span = samples.mutableSpan
        #expect(try decoder.decode(payload.span, into: &span) == FrameCount(960))
        // The tone goes on.
        #expect(samples.map(abs).max() ?? 0 > 0.2)
    }
}
