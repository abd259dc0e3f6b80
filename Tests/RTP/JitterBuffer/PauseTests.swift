import TenfourAudioCore
import TenfourJitterBuffer
import Testing

/// A talker on a link with normal jitter of 15 ms, whose clock may run slower than the card's, and who is silent between
/// `spoken` and `resumed` (seconds).
private func talk(seed: UInt64, spoken: Int, resumed: Int, driftPartsPerMillion: Double = 0) -> SimulatedTalk {
    var chance = Chance(state: seed)
    let delays = (0..<(resumed + 30) * 50).map { _ in FrameCount(Int(48 * max(0, 50 + 15 * chance.normal()))) }
    var talk = SimulatedTalk()
    talk.driftPartsPerMillion = driftPartsPerMillion
    talk.delay = { delays[$0] }
    talk.isSpoken = { $0 < spoken * 50 || $0 >= resumed * 50 }
    return talk
}

/// The share of the first second after the pause that had to be made up, over 10 talks.
private func concealedShare(spoken: Int, resumed: Int, driftPartsPerMillion: Double = 0) -> Double {
    var concealed = 0
    for seed in 1...10 as ClosedRange<UInt64> {
        var talk = talk(seed: seed, spoken: spoken, resumed: resumed, driftPartsPerMillion: driftPartsPerMillion)
        talk.run(seconds: Double(resumed))
        let before = talk.buffer.statistics
        talk.run(seconds: 1.2)
        concealed += (talk.buffer.statistics.concealed - before.concealed).rawValue
    }
    return Double(concealed) / (10 * 48_000)
}

@Test(arguments: [12, 60, 300]) func theFirstSecondAfterAPauseIsHeard(pause: Int) {
    let share = concealedShare(spoken: 20, resumed: 20 + pause)
    #expect(share <= 0.005, "\(share) concealed")
}

/// In five minutes clocks that are 100 ppm apart move by 30 ms.
@Test(arguments: [100.0, -100.0]) func aPauseIsSurvivedByClocksApart(partsPerMillion: Double) {
    let share = concealedShare(spoken: 120, resumed: 420, driftPartsPerMillion: partsPerMillion)
    #expect(share <= 0.005, "\(share) concealed")
    var talk = talk(seed: 3, spoken: 120, resumed: 420, driftPartsPerMillion: partsPerMillion)
    talk.run(seconds: 119)
    let before = talk.buffer.statistics.target
    talk.run(seconds: 303)
    #expect(abs((talk.buffer.statistics.target - before).rawValue) < 960, "it is no deeper for it")
}

/// Some senders stop their timestamps while they are silent: what was measured before says nothing of what comes after.
@Test(arguments: [1, 3, 7]) func timestampsThatStopInAPauseAreFollowed(pause: Int) {
    var talk = talk(seed: 5, spoken: 20, resumed: 20 + pause)
    talk.jump = { $0 < (20 + pause) * 50 ? (0, 0) : (0, -pause * 48_000) }
    talk.run(seconds: Double(20 + pause) + 1)
    let before = talk.buffer.statistics
    talk.run(seconds: 10)
    let after = talk.buffer.statistics
    #expect((after.concealed - before.concealed).rawValue < 4_800)
    #expect(after.late - before.late < 5)
    #expect(after.target < FrameCount(48 * 150), "\(after.target)")
}

/// A route that became shorter by 200 ms while nobody spoke is followed within a second of speech.
@Test func aRouteThatBecameShorterInAPauseIsFollowed() {
    var talk = SimulatedTalk()
    talk.delay = { FrameCount($0 < 1_000 ? 12_000 : 2_400) }
    talk.isSpoken = { $0 < 1_000 || $0 >= 1_600 }
    talk.run(seconds: 35)
    #expect(talk.buffer.statistics.target < FrameCount(960))
}

/// All that was sent in an outage counts as not heard, and no more of a pause than the packet that was lost before it.
@Test func anOutageIsNoPause() {
    var talk = SimulatedTalk()
    talk.delay = { (250..<350).contains($0) ? nil : FrameCount(48) }
    talk.run(seconds: 10)
    #expect(
        abs(talk.buffer.statistics.concealed.rawValue - 100 * 960) <= 960, "\(talk.buffer.statistics.concealed)"
    )

    var pausing = SimulatedTalk()
    pausing.delay = { $0 == 249 ? nil : FrameCount(48) }
    pausing.isSpoken = { !(250..<350).contains($0) }
    pausing.run(seconds: 10)
    #expect(pausing.buffer.statistics.concealed == FrameCount(960), "\(pausing.buffer.statistics.concealed)")
}
