import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import Testing

@Test func aCleanLinkPlaysEveryPacketOnceAndInOrder() {
    var talk = SimulatedTalk()
    talk.run(seconds: 10)
    let packets = talk.packets
    #expect(packets == Array(0..<packets.count))
    #expect(packets.count >= 498)
    #expect(talk.concealed == 0)
}

@Test(arguments: [0, 48_000, 3_000_000_000] as [UInt32])
func aCleanLinkPlaysOneMarginBehindArrival(firstTimestamp: UInt32) {
    var talk = SimulatedTalk()
    talk.firstTimestamp = RTPTimestamp(rawValue: firstTimestamp)
    talk.run(seconds: 10)
    let depths = talk.depths
    #expect(depths.allSatisfy { $0 < 13 }, "milliseconds behind arrival: \(depths.max() ?? 0)")
    #expect((depths.max() ?? 0) - (depths.min() ?? 0) < 1)
}

@Test(arguments: [120, 240, 480, 960, 1_920, 2_880])
func everyFrameSizePlays(frameCount: Int) {
    var talk = SimulatedTalk()
    talk.frameCount = FrameCount(frameCount)
    talk.run(seconds: 5)
    let count = talk.packets.count
    #expect(talk.concealed == 0)
    #expect(count >= (5 * 48_000 - 960) / frameCount - 2)
}

@Test func aFixedPlayoutDelayIsKept() {
    var talk = SimulatedTalk(PlayoutConfiguration(playoutDelay: .fixed(FrameCount(2_880))))
    talk.run(seconds: 5)
    let depths = talk.depths
    #expect(depths.allSatisfy { abs($0 - 60) < 1 })
}

@Test func theNumbersWrapUnheard() {
    var talk = SimulatedTalk()
    talk.firstSequenceNumber = SequenceNumber(rawValue: 65_535)
    talk.firstTimestamp = RTPTimestamp(rawValue: .max - 500)
    talk.run(seconds: 5)
    let packets = talk.packets
    #expect(packets == Array(0..<packets.count))
    #expect(talk.concealed == 0)
    #expect(talk.buffer.statistics.resyncs == 0)
}

@Test func nothingThatCameIsLostAcrossTheWrap() {
    // Every seventh packet is lost, every fifth overtaken by the next.
    var talk = SimulatedTalk(PlayoutConfiguration(playoutDelay: .fixed(FrameCount(2_880))))
    talk.firstSequenceNumber = SequenceNumber(rawValue: 65_500)
    talk.firstTimestamp = RTPTimestamp(rawValue: .max - 30 * 960)
    talk.delay = { $0 % 7 == 3 ? nil : $0 % 5 == 0 ? FrameCount(1_200) : FrameCount(48) }
    talk.run(seconds: 4)
    let packets = talk.packets
    let sent = (0..<packets.last! + 1).filter { $0 % 7 != 3 }
    #expect(packets == sent)
    #expect(talk.concealed == (packets.last! + 1 - packets.count) * 960)
    #expect(talk.buffer.statistics.resyncs == 0)
}

@Test func aTalkspurtBeginsAfreshAndItsPauseIsNotALoss() {
    var talk = SimulatedTalk()
    talk.isSpoken = { $0 % 100 < 50 }
    talk.run(seconds: 10)
    let statistics = talk.buffer.statistics
    #expect(statistics.concealed == .zero)
    #expect(statistics.late == 0)
    let count = talk.packets.count
    #expect(count == 250)
}
