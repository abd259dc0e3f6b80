import OpusCodec
import Sound
import Testing

@testable import Radio

/// How long decoders may take on a clock that is simulated: costs are said, not measured.
struct DecoderBudgetTests {
    private static let millisecond = 1_000_000

    /// A card that gives 5 ms, and a model that takes 0.4 ms for a lost frame.
    private func budget(_ complexity: DecoderComplexity = .noLACE, concealed: Duration = .microseconds(400))
        -> DecoderBudget
    {
        var configuration = DecoderConfiguration(.plain)
        configuration.complexity = complexity
        configuration.costs = DecoderCosts(concealed: concealed, decoded: .microseconds(100))
        configuration.slack = .milliseconds(5)
        return DecoderBudget(configuration)
    }

    @Test func eightVoicesThatLoseAFrameAtOnceStayWithinHalfOfTheSlack() {
        var budget = budget()
        for _ in 0..<3 {
            budget.begin(FrameCount(240))
            var spent = 0
            for _ in 0..<8 where budget.complexityToConceal() > .plain {
                spent += 400_000
                budget.spend(400_000, with: .noLACE, isConcealed: true)
            }
            #expect(spent == 2_400_000, "six by the model, two without")
        }
        #expect(budget.setbackCount == 0)
    }

    @Test func oneThatIsFiveTimesAsSlowOfASuddenIsGivenUpAfterOneFrame() {
        var budget = budget()
        budget.begin(FrameCount(240))
        var spent = 0
        for _ in 0..<8 where budget.complexityToConceal() > .plain {
            spent += 2_000_000
            budget.spend(2_000_000, with: .noLACE, isConcealed: true)
        }
        #expect(spent < 5_000_000, "the card has not run dry")
        #expect(spent == 2_000_000 && budget.complexity == .plain && budget.setbackCount == 1)
    }

    @Test func whatWasGivenUpIsTriedAgainLaterEachTime() {
        var budget = budget()
        for seconds in [10, 20, 40, 80, 160, 300, 300] {
            budget.begin(FrameCount(240))
            budget.spend(2_000_000, with: budget.complexity, isConcealed: true)
            #expect(!budget.concealsByModel)
            for _ in 0..<seconds * 200 - 1 { budget.begin(FrameCount(240)) }
            #expect(!budget.concealsByModel, "\(seconds) s are not over")
            budget.begin(FrameCount(240))
            #expect(budget.concealsByModel)
        }
        #expect(budget.setbackCount == 7)
    }

    @Test func slowEnhancementIsGivenUpAloneAndConcealmentStays() {
        var budget = budget()
        budget.begin(FrameCount(240))
        budget.spend(1_300_000, with: .noLACE, isConcealed: false)
        #expect(budget.complexity == .plc && budget.concealsByModel)
        budget.spend(1_300_000, with: .plc, isConcealed: false)
        #expect(budget.complexity == .plain)
    }

    @Test func oneSlowFrameRaisesWhatTheNextIsExpectedToTake() {
        var budget = budget()
        budget.begin(FrameCount(240))
        budget.spend(1_200_000, with: .noLACE, isConcealed: true)
        budget.begin(FrameCount(240))
        let count = (0..<8).filter { _ in budget.complexityToConceal() > .plain }.count
        #expect(count == 2, "two of 1.2 ms fit into half of 5 ms")
    }

    /// Costs of one moment say nothing where no time is measured.
    @Test func withoutATimeNothingIsBounded() {
        var configuration = DecoderConfiguration(.plain)
        configuration.complexity = .plc
        var budget = DecoderBudget(configuration)
        budget.begin(FrameCount(240))
        for _ in 0..<100 {
            #expect(budget.complexityToConceal() == .plc)
            budget.spend(1_000_000_000, with: .plc, isConcealed: true)
        }
        #expect(!budget.measures && budget.complexity == .plc)
    }

    @Test func aPlainDecoderIsNeverMeasured() {
        let budget = budget(.plain)
        #expect(!budget.measures && !budget.concealsByModel)
    }
}
