import Foundation
import Glibc
import TenfourAudioCore
import TestSupport
import Testing

@testable import TenfourSoundCard

/// Playback and capture on a simulated card with a clock: `TENFOUR_LABCARD=1 Tools/labcard run --private -- swift
/// test`.
///
/// Times are compared with the card's own count and not with the test's, so that a busy machine causes no failure.
/// Where it could break the audio itself, the test is repeated.
@Suite(.serialized, .inRealTimeOnACard, .needsLabcard) struct LabcardTests {
    init() { _ = PrivateALSA.directory }

    @Test func sizesAreGrantedAsAsked() throws {
        let card = try PlaybackCard(
            device: "labcard:sizes", format: .stereo, period: FrameCount(240), target: FrameCount(480))
        #expect(card.granted.period == FrameCount(240))
        // The buffer has as many whole periods as fit into 8192 frames.
        #expect(card.granted.buffer == FrameCount(8_160))
        #expect(card.target == FrameCount(480))
        #expect(card.granted.format == .stereo)
    }

    @Test func aCardWithAnotherRateIsGrantedWithThatRate() throws {
        let card = try PlaybackCard(device: "labcard:rate,0,44100", period: FrameCount(480))
        #expect(card.granted.format.rate == SampleRate(hertz: 44_100))
        #expect(card.granted.period == FrameCount(441))
        // `plug` does not resample unnoticed either.
        let plug = try PlaybackCard(device: "plug:'labcard:plugrate,0,44100'", period: FrameCount(480))
        #expect(plug.granted.format.rate == SampleRate(hertz: 44_100))
    }

    @Test func aCardThatPlaysIsBusyForOthers() throws {
        let first = try PlaybackCard(device: "labcard:busy", period: FrameCount(480))
        do throws(SoundCardError) {
            _ = try PlaybackCard(device: "labcard:busy", period: FrameCount(480))
            Issue.record("a busy card was opened twice")
        } catch {
            #expect(error == .busy("labcard:busy", holder: nil))
        }
        #expect(first.granted.device == "labcard:busy")
    }

    @Test func demandsComeAtThePaceOfTheCardAndTheDelayStays() throws {
        try expectAtAudioPriority("demands at the card's pace") {
            var card = try PlaybackCard(device: "labcard:pace,200", period: FrameCount(240))
            let demands = play(100, on: &card)
            guard card.counts == InterruptionCounts(), let first = demands.first, let last = demands.last else {
                return false
            }
            // The slope of `playedAt` over the position gives the card's clock: 200 ppm fast, with an error of up to
            // a frame at either end.
            let frames = last.position.rawValue - first.position.rawValue
            let time = last.playedAt.nanoseconds - first.playedAt.nanoseconds
            let nominal = Double(frames) / 48_000 * 1e9
            #expect(abs(Double(time) - nominal / 1.000_2) < 2e9 / 48_000)
            return true
        }
    }

    @Test func theQueueHoldsBetweenOneAndTwoPeriodsHoweverLongTheBuffer() throws {
        try expectAtAudioPriority("a short queue") {
            var card = try PlaybackCard(device: "labcard:queue", period: FrameCount(240))
            var ahead: [Double] = []
            for _ in 0..<100 {
                let demands = play(1, on: &card)
                guard let demand = demands.first, card.counts == InterruptionCounts() else { return false }
                ahead.append(Double(demand.playedAt.nanoseconds - now()) / 1e6)
            }
            // A demand comes when 5 ms are queued, and then 5 ms are written, so no demand is further ahead.
            #expect(ahead.max()! <= 5.05)
            return ahead.sorted()[50] > 3
        }
    }

    @Test func aBacklogIsPlayedBeforeTheNextDemand() throws {
        try expectAtAudioPriority("a backlog") {
            var card = try PlaybackCard(device: "labcard:backlog", period: FrameCount(240))
            guard play(4, on: &card).count == 4, case .demand(let before) = card.wait() else { return false }
            let excess = [Float](repeating: 0, count: 240 * 8)
            card.write(excess.span)
            guard case .demand(let after) = card.wait(), card.counts == InterruptionCounts() else { return false }
            #expect(after.position.rawValue - before.position.rawValue == 240 * 8)
            // The next demand comes only when one period is left.
            #expect(now() >= after.playedAt.nanoseconds - 5_050_000)
            return true
        }
    }

    @Test func anUnderrunIsRecoveredAndCounted() throws {
        var card = try PlaybackCard(device: "labcard:xrun", period: FrameCount(480))
        _ = play(5, on: &card)
        let stalls = card.counts.xruns
        sleep(milliseconds: 200)
        guard case .interrupted(let interruption) = card.wait() else {
            Issue.record("no interruption was reported")
            return
        }
        #expect(interruption.cause == .xrun)
        let before = card.counts.missed.rawValue
        let demands = play(20, on: &card)
        // 200 ms were missed, less the queued audio that was played.
        #expect(card.counts.missed.rawValue - before > 48 * 170)
        #expect(card.counts.xruns == stalls + 1)
        // The audio that was due meanwhile is demanded at once, before the card runs again.
        #expect(
            zip(demands, demands.dropFirst()).prefix(2).allSatisfy {
                $1.requestedAt.nanoseconds - $0.requestedAt.nanoseconds <= 10_000_000
            })
        #expect(play(20, on: &card).count == 20)
    }

    @Test func aCardThatSleptPlaysOn() throws {
        // A thread that does not poll for 0.3 s misses the suspension, so the test may be repeated.
        try expectAtAudioPriority("a card that sleeps") {
            var card = try PlaybackCard(device: "labcard:sleepy", period: FrameCount(480))
            _ = play(5, on: &card)
            var isResumed = false
            try trouble("sleepy.suspended") {
                let silence = [Float](repeating: 0, count: 480)
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { removeTrouble("sleepy.suspended") }
                for _ in 0..<200 where !isResumed {
                    switch card.wait() {
                    case .interrupted(let interruption): isResumed = interruption.cause == .suspended
                    case .demand: card.write(silence.span)
                    case .starting: break
                    }
                }
            }
            guard isResumed else { return false }
            #expect(play(10, on: &card).count == 10)
            return true
        }
    }

    @Test func anUnpluggedCardIsReportedPacedAndFoundAgain() throws {
        var card = try PlaybackCard(device: "labcard:usb", period: FrameCount(480))
        _ = play(5, on: &card)
        var causes: [Interruption.Cause] = []
        var demandsAway = 0
        let start = ContinuousClock.now
        try trouble("usb.unplugged") {
            while ContinuousClock.now - start < .milliseconds(600) {
                handleEvent(&card, &causes, &demandsAway)
            }
        }
        #expect(causes.first == .lost(.unplugged))
        // While the card is away, demands follow the clock: without pacing there would be millions.
        #expect(demandsAway > 20 && demandsAway <= 75)
        while causes.last != .reopened, ContinuousClock.now - start < .seconds(20) {
            handleEvent(&card, &causes, &demandsAway)
        }
        #expect(causes.last == .reopened)
        #expect(card.counts.losses == 1)
        #expect(play(10, on: &card).count == 10)
    }

    @Test(arguments: [256, 1_024, 2_048, 4_096])
    func aQuantumIsLearntAndNothingIsMissedAfterwards(_ quantum: Int) throws {
        try expectAtAudioPriority("a quantum of \(quantum)") {
            let name = "quantum\(quantum)"
            try "\(quantum)".write(toFile: troubles + name + ".quantum", atomically: true, encoding: .utf8)
            defer { removeTrouble(name + ".quantum") }
            var card = try PlaybackCard(device: "labcard:\(name)", period: FrameCount(240))
            _ = play(120, on: &card)
            let before = card.counts
            let demands = play(200, on: &card)
            guard card.counts == before, demands.count == 200 else { return false }
            #expect(card.target.rawValue >= quantum + 360 && card.target.rawValue <= max(2_048, quantum) + 360)
            // Demands arrive in bursts, but their due times are a period apart, up to the noise of the clock.
            let steps = zip(demands, demands.dropFirst()).map {
                $1.requestedAt.nanoseconds - $0.requestedAt.nanoseconds
            }
            #expect(steps.sorted()[100] > 4_900_000 && steps.sorted()[100] < 5_100_000)
            return true
        }
    }

    @Test func aQuantumThatGrowsInterruptsOnce() throws {
        try expectAtAudioPriority("a quantum that grows") {
            defer { removeTrouble("growing.quantum") }
            try "128".write(toFile: troubles + "growing.quantum", atomically: true, encoding: .utf8)
            var card = try PlaybackCard(device: "labcard:growing", period: FrameCount(240))
            guard play(120, on: &card).count == 120 else { return false }
            let before = card.counts.xruns
            try "1024".write(toFile: troubles + "growing.quantum", atomically: true, encoding: .utf8)
            _ = play(200, on: &card)
            return card.counts.xruns - before <= 1
        }
    }

    @Test func aSoundServerThatHangsDoesNotHoldUpTheAudioThread() throws {
        var card = try PlaybackCard(device: "labcard:hung", period: FrameCount(480))
        _ = play(5, on: &card)
        var causes: [Interruption.Cause] = []
        var demandsAway = 0
        var longest: Int64 = 0
        try trouble("hung.hanging") {
            try trouble("hung.unplugged") {
                let start = now()
                while now() - start < 800_000_000 {
                    let before = now()
                    handleEvent(&card, &causes, &demandsAway)
                    longest = max(longest, now() - before)
                }
            }
            // The card is plugged in again, but does not answer.
            let start = now()
            while now() - start < 1_500_000_000 { handleEvent(&card, &causes, &demandsAway) }
            #expect(causes == [.lost(.unplugged)])
        }
        #expect(demandsAway > 100)
        #expect(longest < 500_000_000)
        let start = ContinuousClock.now
        while causes.last != .reopened, ContinuousClock.now - start < .seconds(20) {
            handleEvent(&card, &causes, &demandsAway)
        }
        #expect(causes.last == .reopened)
    }

    @Test func aCardThatComesBackWithAnotherRateIsUsedAtTheOldOne() throws {
        var before = NegotiatedParameters(
            rate: 48_000, channelCount: 2, sampleFormat: .int32, period: 480, buffer: 8_160)
        before.queue = 960
        let requested = RequestedParameters(format: .mono, period: 480, queue: 960)
        let card = try PCMDevice.reopened("plug:'labcard:another,0,44100'", .playback, requested, before: before)
        #expect(card.negotiated.rate == 48_000)
        let change = try #require(card.negotiated.difference(from: before))
        #expect(change.contains("instead of 2") && change.contains("instead of S32_LE"))
        #expect(before.difference(from: before) == nil)
    }
}

// Functions shared by the tests.
extension LabcardTests {
    /// Calls `body` with an audio thread's priority, if the system grants it: other tests of this process take the
    /// processor from a thread without it. Records `what` if `body` returns false.
    func expectAtAudioPriority(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Bool
    ) throws {
        var policy: Int32 = 0
        var parameters = sched_param()
        unsafe pthread_getschedparam(pthread_self(), &policy, &parameters)
        _ = RealTime.request(priority: 50)
        defer { unsafe pthread_setschedparam(pthread_self(), policy, &parameters) }
        if try !body() { Issue.record("\(what)", sourceLocation: sourceLocation) }
    }

    func now() -> Int64 { PCMCalls.now() }

    func sleep(milliseconds: Int64) { PCMCalls.sleep(until: now() + milliseconds * 1_000_000) }

    /// Answers `count` demands with silence. Returns fewer demands if there are many interruptions.
    private func play(_ count: Int, on card: inout PlaybackCard) -> [Demand] {
        var demands: [Demand] = []
        let silence = [Float](
            repeating: 0, count: card.granted.period.rawValue * card.granted.format.channelCount)
        for _ in 0..<2 * count where demands.count < count {
            guard case .demand(let demand) = card.wait() else { continue }
            demands.append(demand)
            card.write(silence.span)
        }
        return demands
    }

    private func handleEvent(_ card: inout PlaybackCard, _ causes: inout [Interruption.Cause], _ demands: inout Int) {
        let silence = [Float](repeating: 0, count: 480)
        switch card.wait() {
        case .demand:
            demands += 1
            card.write(silence.span)
        case .interrupted(let interruption): causes.append(interruption.cause)
        case .starting: break
        }
    }

    /// Runs `body` while one of labcard's faults is present.
    func trouble(_ name: String, _ body: () throws -> Void) throws {
        try #require(FileManager.default.createFile(atPath: troubles + name, contents: nil))
        defer { removeTrouble(name) }
        try body()
    }
}

private let troubles = (ProcessInfo.processInfo.environment["LABCARD_DIR"] ?? "/dev/shm") + "/"

private func removeTrouble(_ name: String) { try? FileManager.default.removeItem(atPath: troubles + name) }
