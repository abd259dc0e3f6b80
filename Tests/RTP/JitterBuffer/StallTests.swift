import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import Testing

@Test func aStallOfTwoSecondsIsCaughtUpWithinThirtyAndNothingOfItIsLost() {
    var talk = SimulatedTalk()
    talk.run(seconds: 5)
    talk.delay = { (250..<350).contains($0) ? FrameCount((350 - $0) * 960) : FrameCount(48) }
    talk.run(seconds: 2.2)
    #expect((talk.depths.last ?? 0) > 1_900)
    let concealed = Double(talk.buffer.statistics.concealed.rawValue) / 48
    #expect(concealed > 1_900, "all that was not heard counts: \(concealed) ms")
    talk.run(seconds: 30)
    #expect((talk.depths.last ?? 9_999) < 13)
    let packets = talk.packets
    let isWhole = packets == Array(0..<packets.count)
    #expect(isWhole)
}

@Test(arguments: [100, 500]) func afterALongerStallThanWantedTheNewestAudioIsPlayed(milliseconds: Int) {
    var configuration = PlayoutConfiguration()
    configuration.longestStall = FrameCount(48 * milliseconds)
    var talk = SimulatedTalk(configuration)
    talk.run(seconds: 5)
    talk.delay = { (250..<350).contains($0) ? FrameCount((350 - $0) * 960) : FrameCount(48) }
    talk.run(seconds: 2.2)
    #expect((talk.depths.last ?? .infinity) <= Double(milliseconds) + 25)
    let missing = Double((talk.buffer.statistics.concealed + talk.buffer.statistics.skipped).rawValue) / 48
    #expect(abs(missing - 2_000) < Double(milliseconds) + 100, "all that was not heard counts: \(missing) ms")
}

/// After some stalls no packet of the last half second shows the route. Timestamps begin at any number.
@Test(arguments: [0, 3_000_000_000, .max] as [UInt32], [120, 480, 960, 2_880])
func aStallOfAnyLengthAtAnyTimestampIsSurvived(timestamp: UInt32, frames: Int) {
    for milliseconds in stride(from: 300, through: 1_500, by: 60) {
        var talk = SimulatedTalk()
        talk.firstTimestamp = RTPTimestamp(rawValue: timestamp)
        talk.frameCount = FrameCount(frames)
        let begin = 3 * 48_000 / frames
        let end = begin + milliseconds * 48 / frames
        talk.delay = { (begin..<end).contains($0) ? FrameCount((end - $0) * frames) : FrameCount(48) }
        talk.run(seconds: 8)
        #expect(talk.packets.last ?? 0 > end, "\(milliseconds) ms")
    }
}

/// Audio from before the key was pressed is heard, however short the wanted delay.
@Test func theLimitOfAStallIsNoneOfANewTalkspurt() {
    var configuration = PlayoutConfiguration()
    configuration.longestStall = FrameCount(48 * 60)
    var talk = SimulatedTalk(configuration)
    talk.isSpoken = { !(250..<400).contains($0) }
    talk.startsTalkspurt = { $0 == 0 || $0 == 400 }
    talk.delay = { (400..<415).contains($0) ? FrameCount((415 - $0) * 960) : FrameCount(48) }
    talk.run(seconds: 12)
    let packets = talk.packets
    #expect(packets.contains(400) && packets.contains(401), "\(packets)")
}

/// Normal delays of 15 ± 5 ms, 80 ms more from the fifteenth second to the thirtieth.
@Test func aRouteIsFollowedDownAsItIsUp() {
    var chance = Chance(state: 11)
    let jitter = (0..<3_000).map { _ in Int(48 * min(max(15 + 5 * chance.normal(), 0), 30)) }
    var talk = SimulatedTalk()
    talk.delay = { FrameCount(jitter[$0] + ((750..<1_500).contains($0) ? 3_840 : 0)) }
    talk.run(seconds: 15)
    let before = talk.buffer.playoutDelay
    talk.run(seconds: 3)
    let during = talk.buffer.playoutDelay
    #expect(abs((during - before).rawValue - 3_840) < 720, "up within three seconds")
    talk.run(seconds: 12)
    talk.run(seconds: 3.5)
    let after = talk.buffer.playoutDelay
    #expect(abs((after - before).rawValue) < 480, "and down: \(before), \(during), \(after)")
    #expect(talk.buffer.statistics.resyncs == 0)
}

/// Whatever the network does, the sound that is played goes on where it ended: what is missing in between was made up. Only
/// what was too deep by 40 ms or less may go with a silence.
@Test(arguments: 1...5 as ClosedRange<UInt64>) func playoutNeverJumps(seed: UInt64) {
    var chance = Chance(state: seed)
    var stall = 0
    let delays: [FrameCount?] = (0..<3_000).map { number in
        if Int.random(in: 0..<200, using: &chance) == 0 { stall = number + Int.random(in: 5...40, using: &chance) }
        if Int.random(in: 0..<20, using: &chance) == 0 { return nil }
        return FrameCount(Int.random(in: 0...1_900, using: &chance) + max(stall - number, 0) * 960)
    }
    var talk = SimulatedTalk()
    talk.delay = { delays[$0] }
    talk.run(seconds: 58)
    var (next, madeUp) = (talk.packets.first ?? 0, 0)
    for piece in talk.played {
        switch piece {
        case .packet(let number):
            let missing = (number - next) * 960
            #expect(
                missing <= madeUp + 960 + 1_920, "packet \(number) instead of \(next) after \(madeUp) frames made up")
            (next, madeUp) = (number + 1, 0)
        case .recovered(let frames), .concealed(let frames), .silence(let frames): madeUp += frames
        }
    }
    #expect(talk.buffer.statistics.resyncs == 0)
}

@Test func theDelayIsForetoldFromFewPackets() {
    var chance = Chance(state: 4)
    var estimate = DelayEstimate()
    for number in 0..<10 {
        estimate.insert(FrameCount(48 * Int(90 + 30 * chance.normal())), at: FrameCount(960 * number))
    }
    let early = spread(estimate)
    for number in 10..<500 {
        estimate.insert(FrameCount(48 * Int(90 + 30 * chance.normal())), at: FrameCount(960 * number))
    }
    #expect(early > 100 && spread(estimate) > 140 && spread(estimate) < 200, "\(early) and \(spread(estimate)) ms")

    func spread(_ estimate: borrowing DelayEstimate) -> Double {
        Double(((estimate.delay(exceptFor: 0.003) ?? .zero) - (estimate.base ?? .zero)).rawValue) / 48
    }
}
