import Foundation
import TenfourAudioCore
import TestSupport
import Testing

@testable import TenfourSoundCard

/// Playback and capture on a simulated card with a clock: `TENFOUR_LABCARD=1 Tools/labcard run --private -- swift
/// test`.
///
/// Times are compared with the card's own count and not with the test's, so that a busy machine causes no failure.
/// Where it could break the audio itself, the test is repeated.
@Suite(.serialized, .inRealTimeOnACard, .enabled(if: hasLabcard)) struct LabcardTests {
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
        try retrying("demands at the card's pace") {
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
        try retrying("a short queue") {
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
        try retrying("a backlog") {
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
        try retrying("a card that sleeps") {
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
        try retrying("a quantum of \(quantum)") {
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
        try retrying("a quantum that grows") {
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

    @Test func anUnpluggedMicrophoneIsSilentPacedAndFoundAgain() throws {
        var card = try CaptureCard(device: "labcard:usbmic", period: FrameCount(480))
        var frame = [Float](repeating: 0, count: 480)
        var causes: [Interruption.Cause] = []
        var captured = 0
        func read() {
            for index in frame.indices { frame[index] = 9 }
            var span = frame.mutableSpan
            switch card.read(into: &span) {
            case .captured:
                captured += 1
                #expect(frame.allSatisfy { $0 == 0 })
            case .interrupted(let interruption): causes.append(interruption.cause)
            }
        }
        for _ in 0..<5 { read() }
        causes = []
        captured = 0
        let start = ContinuousClock.now
        try trouble("usbmic.unplugged") {
            while ContinuousClock.now - start < .milliseconds(600) { read() }
        }
        #expect(causes.first == .lost(.unplugged))
        #expect(captured > 20 && captured <= 75)
        while causes.last != .reopened, ContinuousClock.now - start < .seconds(20) { read() }
        #expect(causes.last == .reopened)
        captured = 0
        for _ in 0..<10 { read() }
        #expect(captured > 0)
    }

    @Test func anOverrunTellsHowMuchWasMissed() throws {
        var card = try CaptureCard(device: "labcard:overrun", period: FrameCount(240))
        guard let before = capture(&card) else { return }
        sleep(milliseconds: 300)
        var frame = [Float](repeating: 0, count: 240)
        var span = frame.mutableSpan
        guard case .interrupted(let interruption) = card.read(into: &span), let after = capture(&card) else {
            Issue.record("no interruption was reported")
            return
        }
        #expect(interruption.cause == .xrun)
        // The missed audio is the time between the last frame before and the first after it, within 2 ms.
        let gap = (after.nanoseconds - before.nanoseconds) * 48 / 1_000_000 - 240
        #expect(abs(Int64(interruption.missed.rawValue) - gap) < 96)
        #expect(gap > 300 * 48 - 240)
    }

    @Test func aBacklogOfTheMicrophoneIsThrownAwayAndCounted() throws {
        try retrying("a backlog captured") {
            var card = try CaptureCard(device: "labcard:stale", period: FrameCount(480))
            guard let before = capture(&card) else { return false }
            sleep(milliseconds: 150)
            var frame = [Float](repeating: 0, count: 480)
            var span = frame.mutableSpan
            guard case .interrupted(let interruption) = card.read(into: &span), interruption.cause == .backlog,
                let after = capture(&card)
            else { return false }
            #expect(interruption.missed.rawValue >= 48 * 150 - 960)
            #expect(after.nanoseconds - before.nanoseconds >= 130_000_000)
            // The next captured audio is at most one frame old.
            return now() - after.nanoseconds < 40_000_000
        }
    }

    @Test func playedFramesAreCapturedAtTheSameMoment() throws {
        try retrying("a cable") { try cross("labcard:cable", "labcard:cable") }
    }

    /// One end of the simulated cable plays in this format, the other captures.
    @Test(arguments: [
        ("labcard:low24,0,48000,S24_LE", "labcard:low24"), ("labcard:top24", "labcard:top24,0,48000,S24_LE"),
    ])
    func samplesOf24BitsInFourBytesCross(speaker: String, microphone: String) throws {
        try retrying("S24_LE") { try cross(speaker, microphone) }
    }

    /// Plays a click on one card and captures it from the other. Returns false if one of them was interrupted.
    private func cross(_ speakerName: String, _ microphoneName: String) throws -> Bool {
        // The thread has no real-time priority, so the queue must be long enough for its lateness.
        var speaker = try PlaybackCard(device: speakerName, period: FrameCount(240), target: FrameCount(960))
        var microphone = try CaptureCard(device: microphoneName, period: FrameCount(240))
        #expect(!speakerName.hasSuffix("S24_LE") || speaker.granted.sampleFormat == "S24_LE")
        #expect(!microphoneName.hasSuffix("S24_LE") || microphone.granted.sampleFormat == "S24_LE")
        let click = [Float](repeating: -0.5, count: 240)
        let silence = [Float](repeating: 0, count: 240)
        var frame = silence
        var playedAt: Int64?
        for step in 0..<60 {
            guard case .demand(let demand) = speaker.wait() else { return false }
            speaker.write(step == 20 ? click.span : silence.span)
            if step == 20 { playedAt = demand.playedAt.nanoseconds }
            var span = frame.mutableSpan
            guard case .captured(let at) = microphone.read(into: &span) else { return false }
            guard let playedAt, let first = frame.firstIndex(where: { $0 != 0 }) else { continue }
            #expect(frame[first] == -0.5)
            let heardAt = at.nanoseconds + Int64(first) * 1_000_000_000 / 48_000
            // Both positions are counted by the card itself, so they agree within a few frames.
            #expect(abs(heardAt - playedAt) < 200_000)
            return true
        }
        return false
    }
}

// Functions shared by the tests.
extension LabcardTests {
    /// Repeats an attempt that failed up to twice, and again if a thread of the same priority as the test's was late.
    private func retrying(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ attempt: () throws -> Bool
    ) throws {
        // When a period is demanded, 5 ms are queued. A thread that only waits is late less often than one that works.
        try TestSupport.retrying(priority: nil, tolerated: .milliseconds(2), sourceLocation: sourceLocation) {
            // Other tests of this process may take the processor from a working thread and not delay the timer thread.
            for _ in 0..<3 where try attempt() { return nil }
            return what
        }
    }

    private func now() -> Int64 { PCMCalls.now() }

    private func sleep(milliseconds: Int64) { PCMCalls.sleep(until: now() + milliseconds * 1_000_000) }

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
        }
    }

    /// Returns the time at which the first frame of the next capture was at the microphone.
    private func capture(_ card: inout CaptureCard) -> Instant? {
        var frame = [Float](repeating: 0, count: card.frame.rawValue)
        for _ in 0..<5 {
            var span = frame.mutableSpan
            if case .captured(let at) = card.read(into: &span) { return at }
        }
        return nil
    }

    /// Runs `body` while one of labcard's faults is present.
    private func trouble(_ name: String, _ body: () throws -> Void) throws {
        try #require(FileManager.default.createFile(atPath: troubles + name, contents: nil))
        defer { removeTrouble(name) }
        try body()
    }
}

private let troubles = (ProcessInfo.processInfo.environment["LABCARD_DIR"] ?? "/dev/shm") + "/"

private func removeTrouble(_ name: String) { try? FileManager.default.removeItem(atPath: troubles + name) }
