import Foundation
import TenfourAudioCore
import Testing

@testable import TenfourSoundCard

// Capture, and playback that is captured at the same time.
extension LabcardTests {
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
        try expectAtAudioPriority("a backlog captured") {
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
        try expectAtAudioPriority("a cable") { try cross("labcard:cable", "labcard:cable") }
    }

    /// One end of the simulated cable plays in this format, the other captures.
    @Test(arguments: [
        ("labcard:low24,0,48000,S24_LE", "labcard:low24"), ("labcard:top24", "labcard:top24,0,48000,S24_LE"),
    ])
    func samplesOf24BitsInFourBytesCross(speaker: String, microphone: String) throws {
        try expectAtAudioPriority("S24_LE") { try cross(speaker, microphone) }
    }

    /// Plays a click on one card and captures it from the other. Returns false if one of them was interrupted.
    private func cross(_ speakerName: String, _ microphoneName: String) throws -> Bool {
        // The thread may have no real-time priority, so the queue must be long enough for its lateness.
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

    /// Returns the time at which the first frame of the next capture was at the microphone.
    private func capture(_ card: inout CaptureCard) -> Instant? {
        var frame = [Float](repeating: 0, count: card.frame.rawValue)
        for _ in 0..<5 {
            var span = frame.mutableSpan
            if case .captured(let at) = card.read(into: &span) { return at }
        }
        return nil
    }
}
