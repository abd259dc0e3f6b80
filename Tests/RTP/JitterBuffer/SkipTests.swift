import TenfourAudioCore
import TenfourJitterBuffer
import Testing

/// The counts of a card that leaves out time.
struct SkipTests {
    @Test func whatTheCardSkipsIsMissingAndNeitherLateNorLost() {
        var talk = SimulatedTalk()
        talk.run(seconds: 5)
        let before = talk.lane.statistics
        // Ten times a second 20 ms, for ten seconds.
        for _ in 0..<100 {
            talk.run(seconds: 0.08)
            talk.stand(still: FrameCount(960))
        }
        let after = talk.lane.statistics
        let (missing, due) = (after.missing - before.missing, after.due - before.due)
        #expect(abs(Double(missing.rawValue) / Double(due.rawValue) - 0.2) < 0.01, "\(missing) of \(due)")
        #expect(after.holes - before.holes == 100)
        #expect(after.late == before.late, "the network is not to blame")
        #expect(after.concealed - before.concealed < FrameCount(4_800))
        #expect(abs(Double(due.rawValue) - 480_000) < 4_800, "all time is accounted for: \(due)")
    }

    @Test func holesThatNothingWasPlayedBetweenAreOne() {
        var talk = SimulatedTalk()
        talk.run(seconds: 2)
        talk.lane.skip(FrameCount(240))
        talk.lane.skip(FrameCount(240), goesOn: true)
        #expect(talk.lane.statistics.holes == 1 && talk.lane.statistics.skipped == FrameCount(480))
    }

    /// A queue that grows makes silence longer than the time that is skipped.
    @Test func silenceCountsAlsoWhereNothingIsSkipped() {
        var talk = SimulatedTalk()
        talk.run(seconds: 2)
        talk.lane.skip(.zero, missed: FrameCount(480))
        #expect(talk.lane.statistics.missing == FrameCount(480) && talk.lane.statistics.holes == 1)
    }

    @Test func nothingIsMissedWhileNobodyTalks() {
        var talk = SimulatedTalk()
        talk.isSpoken = { $0 < 50 }
        talk.run(seconds: 3)
        talk.lane.skip(FrameCount(4_800))
        talk.lane.lose(FrameCount(4_800))
        #expect(talk.lane.statistics.missing == .zero && talk.lane.statistics.holes == 0)
    }

    @Test func whatALostCardIsGivenWasDueOnce() {
        var talk = SimulatedTalk()
        talk.run(seconds: 2)
        let due = talk.lane.statistics.due
        talk.lane.lose(FrameCount(480))
        #expect(talk.lane.statistics.due == due && talk.lane.statistics.missing == FrameCount(480))
    }
}
