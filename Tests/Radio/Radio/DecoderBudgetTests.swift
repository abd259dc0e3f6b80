import TenfourAudioCore
import TenfourOpusCodec
import Testing

@testable import TenfourRadio

/// The time budget of decoders, on a simulated clock: the tests set the costs instead of measuring them.
struct DecoderBudgetTests {
    /// Returns a budget for a card with pulls of 5 ms and a model that takes 0.4 ms for a lost frame.
    private func budget(_ complexity: DecoderComplexity = .noLACE, concealed: Duration = .microseconds(400))
        -> DecoderBudget
    {
        var configuration = DecoderConfiguration(.plain)
        configuration.complexity = complexity
        configuration.costs = DecoderCosts(concealed: concealed, decoded: .microseconds(100))
        configuration.slack = .milliseconds(5)
        return DecoderBudget(configuration)
    }

    /// Lets eight voices lose a frame in the same pull. Returns the time that they take together, in nanoseconds, if
    /// the model takes `cost` for each frame and other work takes `others` before it.
    private func pull(_ budget: inout DecoderBudget, cost: Int, others: Int = 0) -> Int {
        var now = 7_000_000_000
        let start = now
        budget.beginPull(FrameCount(240), at: now)
        for _ in 0..<8 {
            now += others
            guard budget.complexityToConceal(at: now) > .plain else { continue }
            now += cost
            budget.record(cost, with: .noLACE, isConcealed: true)
        }
        return now - start
    }

    @Test func eightVoicesThatLoseAFrameAtOnceStayWithinHalfOfTheSlack() {
        var budget = budget()
        for _ in 0..<3 { #expect(pull(&budget, cost: 400_000) == 2_400_000, "six by the model, two without") }
        #expect(budget.setbackCount == 0)
    }

    @Test func theWholePullCountsAgainstTheBudget() {
        var budget = budget()
        #expect(pull(&budget, cost: 400_000, others: 500_000) == 8 * 500_000 + 2 * 400_000)
    }

    @Test(arguments: [0, 50_000, 150_000])
    func oneThatIsFiveTimesAsSlowOfASuddenIsGivenUpAfterOneFrame(others: Int) {
        for concealed in [100_000, 400_000, 600_000] {
            var budget = budget(concealed: .nanoseconds(concealed))
            let spent = pull(&budget, cost: 5 * concealed, others: others)
            #expect(spent < 5_000_000, "the card has not run dry")
            #expect(budget.complexity == (5 * concealed > 1_250_000 ? .plain : .noLACE))
        }
    }

    @Test func aModelThatWasTurnedOffIsTriedAgainAfterALongerTimeEachTime() {
        var budget = budget()
        for seconds in [10, 20, 40, 80, 160, 300, 300] {
            budget.beginPull(FrameCount(240), at: 0)
            budget.record(2_000_000, with: budget.complexity, isConcealed: true)
            #expect(!budget.concealsByModel)
            for _ in 0..<seconds * 200 - 1 { budget.beginPull(FrameCount(240), at: 0) }
            #expect(!budget.concealsByModel, "\(seconds) s are not over")
            budget.beginPull(FrameCount(240), at: 0)
            #expect(budget.concealsByModel)
            #expect(budget.complexityToConceal(at: 0) > .plain, "the budget has recovered from the slow frame")
        }
        #expect(budget.setbackCount == 7)
    }

    @Test func slowEnhancementIsGivenUpAloneAndConcealmentStays() {
        var budget = budget()
        budget.beginPull(FrameCount(240), at: 0)
        budget.record(1_300_000, with: .noLACE, isConcealed: false)
        #expect(budget.complexity == .plc && budget.concealsByModel)
        budget.record(1_300_000, with: .plc, isConcealed: false)
        #expect(budget.complexity == .plain)
    }

    /// After a slow frame the model is either used again or counted as a setback, never neither.
    @Test(arguments: Array(stride(from: 400_000, through: 4_000_000, by: 50_000)))
    func aSlowFrameEndsTheUseOfItsModelOrIsForgotten(time: Int) {
        var budget = budget()
        budget.beginPull(FrameCount(240), at: 0)
        budget.record(time, with: .noLACE, isConcealed: true)
        for pull in 1...600 { budget.beginPull(FrameCount(240), at: pull * 5_000_000) }
        // Half a millisecond of this pull was used for something else.
        let isUsed = budget.complexityToConceal(at: 600 * 5_000_000 + 500_000) > .plain
        #expect(isUsed == budget.concealsByModel)
        #expect(isUsed == (budget.setbackCount == 0))
    }

    /// With 0.6 ms for a decoded frame, enhancing eight voices in one pull would use up all the slack.
    @Test func enhancementOfEightVoicesStaysWithinTheSlack() {
        var configuration = DecoderConfiguration(.plain)
        configuration.complexity = .noLACE
        configuration.costs = DecoderCosts(concealed: .microseconds(600), decoded: .microseconds(600))
        configuration.slack = .milliseconds(5)
        var budget = DecoderBudget(configuration)
        var now = 0
        budget.beginPull(FrameCount(240), at: now)
        var enhanced = 0
        for _ in 0..<8 {
            let used = budget.complexityToDecode(at: now)
            #expect(used >= .plc, "the state for concealing a later loss is kept up")
            if used > .plc { enhanced += 1 }
            let time = used > .plc ? 600_000 : 40_000
            now += time
            budget.record(time, with: used, isConcealed: false)
        }
        #expect(enhanced == 3 && now < 2_500_000)
        #expect(budget.complexity == .noLACE && budget.setbackCount == 0)
    }

    @Test func oneSlowFrameRaisesWhatTheNextIsExpectedToTake() {
        var budget = budget()
        budget.beginPull(FrameCount(240), at: 0)
        budget.record(900_000, with: .noLACE, isConcealed: true)
        #expect(pull(&budget, cost: 900_000) == 900_000, "one of 0.9 ms that may take 3.6 fits into 3.75")
        #expect(budget.setbackCount == 0)
    }

    /// Without a clock, costs are not measured, so a slow frame changes nothing.
    @Test func withoutATimeNothingIsBounded() {
        var configuration = DecoderConfiguration(.plain)
        configuration.complexity = .plc
        var budget = DecoderBudget(configuration)
        budget.beginPull(FrameCount(240), at: 0)
        for _ in 0..<100 {
            #expect(budget.complexityToConceal(at: 0) == .plc)
            budget.record(1_000_000_000, with: .plc, isConcealed: true)
        }
        #expect(!budget.measures && budget.complexity == .plc)
    }

    @Test func aPlainDecoderIsNeverMeasured() {
        let budget = budget(.plain)
        #expect(!budget.measures && !budget.concealsByModel)
    }
}
