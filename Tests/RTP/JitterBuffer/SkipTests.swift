import TenfourAudioCore
import TenfourJitterBuffer
import Testing

/// The counts of a card that leaves out time.
struct SkipTests {
    @Test func framesThatTheCardSkipsAreMissingAndNeitherLateNorLost() {
        var talk = SimulatedTalk()
        talk.run(seconds: 5)
        let before = talk.controller.statistics
        // Ten times a second 20 ms, for ten seconds.
        for _ in 0..<100 {
            talk.run(seconds: 0.08)
            talk.stand(still: FrameCount(960))
        }
        let after = talk.controller.statistics
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
        talk.controller.skip(FrameCount(240))
        talk.controller.skip(FrameCount(240), goesOn: true)
        #expect(talk.controller.statistics.holes == 1 && talk.controller.statistics.skipped == FrameCount(480))
    }

    /// A queue that grows makes silence longer than the time that is skipped.
    @Test func silenceCountsAlsoWhereNothingIsSkipped() {
        var talk = SimulatedTalk()
        talk.run(seconds: 2)
        talk.controller.skip(.zero, missed: FrameCount(480))
        #expect(talk.controller.statistics.missing == FrameCount(480) && talk.controller.statistics.holes == 1)
    }

    @Test func nothingIsMissedWhileNobodyTalks() {
        var talk = SimulatedTalk()
        talk.isSpoken = { $0 < 50 }
        talk.run(seconds: 3)
        talk.controller.skip(FrameCount(4_800))
        talk.controller.recordUnplayed(FrameCount(4_800))
        #expect(talk.controller.statistics.missing == .zero && talk.controller.statistics.holes == 0)
    }

    @Test func framesGivenToALostCardCountOnce() {
        var talk = SimulatedTalk()
        talk.run(seconds: 2)
        let due = talk.controller.statistics.due
        talk.controller.recordUnplayed(FrameCount(480))
        #expect(talk.controller.statistics.due == due && talk.controller.statistics.missing == FrameCount(480))
    }
}
