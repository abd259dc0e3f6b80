import TenfourAudioCore
import TenfourJitterBuffer
import Testing

/// The counts of a card that leaves out time.
struct SkipTests {
    @Test func framesThatTheCardSkipsAreMissingAndNeitherLateNorLost() {
        var talk = SimulatedTalk()
        talk.run(seconds: 5)
        let before = talk.buffer.statistics
        // Ten times a second 20 ms, for ten seconds.
        for _ in 0..<100 {
            talk.run(seconds: 0.08)
            talk.stand(still: FrameCount(960))
        }
        let after = talk.buffer.statistics
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
        talk.buffer.skip(FrameCount(240))
        talk.buffer.skip(FrameCount(240), goesOn: true)
        #expect(talk.buffer.statistics.holes == 1 && talk.buffer.statistics.skipped == FrameCount(480))
    }

    /// A queue that grows makes silence longer than the time that is skipped.
    @Test func silenceCountsAlsoWhereNothingIsSkipped() {
        var talk = SimulatedTalk()
        talk.run(seconds: 2)
        talk.buffer.skip(.zero, missed: FrameCount(480))
        #expect(talk.buffer.statistics.missing == FrameCount(480) && talk.buffer.statistics.holes == 1)
    }

    @Test func nothingIsMissedWhileNobodyTalks() {
        var talk = SimulatedTalk()
        talk.isSpoken = { $0 < 50 }
        talk.run(seconds: 3)
        talk.buffer.skip(FrameCount(4_800))
        talk.buffer.recordUnplayed(FrameCount(4_800))
        #expect(talk.buffer.statistics.missing == .zero && talk.buffer.statistics.holes == 0)
    }

    @Test func framesGivenToALostCardCountOnce() {
        var talk = SimulatedTalk()
        talk.run(seconds: 2)
        let due = talk.buffer.statistics.due
        talk.buffer.recordUnplayed(FrameCount(480))
        #expect(talk.buffer.statistics.due == due && talk.buffer.statistics.missing == FrameCount(480))
    }
}
