import Foundation
import Glibc
import TenfourAudioCore
import TenfourClocks
import TenfourMediaSource
import TestSupport
import Testing

@testable import TenfourPlayer

/// Compares the displayed with the heard position on a sound card with a clock: `TENFOUR_LABCARD=1 Tools/labcard run
/// --private -- swift test`.
@Suite(.serialized, .onItsOwnThread, .inRealTimeOnACard, .needsLabcard) struct HeardPositionTests {
    @Test func thePositionIsThatOfWhatIsHeard() throws {
        try expectNoFailure {
            let ear = try LoopbackEar("labcard:position")
            let (streamer, watch) = try play("60", on: "labcard:position")
            watch.look(for: 1)
            streamer.pause()
            watch.look(for: 0.4)
            streamer.play()
            watch.look(for: 0.6)
            streamer.seek(to: .milliseconds(20_300))
            watch.look(for: 0.6)
            streamer.rate = 1.5
            watch.look(for: 0.8)
            streamer.seek(by: .seconds(-10))
            watch.look(for: 0.6)
            streamer.rate = 0.75
            watch.look(for: 0.8)
            streamer.pause()
            streamer.seek(to: .milliseconds(5_500))
            watch.look(for: 0.4)
            streamer.play()
            watch.look(for: 0.6)
            streamer.close()
            return watch.judgement(of: ear.finish(), within: 0.020)
        }
    }

    /// The limiter behind the effects reads ahead.
    @Test func effectsDoNotMoveThePosition() throws {
        try expectNoFailure {
            let ear = try LoopbackEar("labcard:effects")
            let (streamer, watch) = try play("60", on: "labcard:effects")
            watch.look(for: 0.6)
            // A tone control that changes nothing that can be measured, and so engages the limiter.
            streamer.treble = 0.001
            watch.look(for: 0.8)
            streamer.rate = 1.5
            watch.look(for: 0.6)
            streamer.seek(to: .milliseconds(20_300))
            watch.look(for: 0.6)
            streamer.treble = 0
            watch.look(for: 0.6)
            streamer.close()
            return watch.judgement(of: ear.finish(), within: 0.020)
        }
    }

    @Test func aSeekIsHeardWithinAFifthOfASecondAndNothingStaleAfterIt() throws {
        try expectNoFailure {
            let ear = try LoopbackEar("labcard:seek")
            let (streamer, watch) = try play("60", on: "labcard:seek")
            watch.look(for: 0.5)
            var seeks: [Instant] = []
            for number in 1...8 {
                seeks.append(MonotonicClock.now)
                // Each target lies in another part of its second than the audio that would be heard without the seek.
                streamer.seek(to: .seconds(5 * number) + .milliseconds(number % 2 == 0 ? 100 : 600))
                watch.look(for: 0.35)
            }
            streamer.close()
            let heard = ear.finish()
            for (number, moment) in seeks.enumerated() {
                let target = (number + 1) % 2 == 0 ? 0.1 : 0.6
                guard let after = heard.fraction(at: moment + .milliseconds(200)) else {
                    return "silence after seek \(number)"
                }
                guard after >= target - 0.002, after < target + 0.2 else { return "heard \(after) for \(target)" }
            }
            return watch.judgement(of: heard, within: 0.020)
        }
    }

    @Test func afterAnUnderrunPlaybackContinuesWithTheNextFrame() throws {
        try expectNoFailure {
            let ear = try LoopbackEar("labcard:refill")
            let opener = CodedOpener(.mono, held: 0.7)
            let (streamer, watch) = try play("60", on: "labcard:refill", opener)
            watch.look(for: 1.2)
            opener.opened[0].holdBack(after: nil)
            watch.look(for: 0.8)
            streamer.close()
            let heard = ear.finish()
            // Every frame, except those of two short fades, is heard once and in order.
            let fractions = heard.samples.compactMap { CodedMedia.fraction(of: $0) }
            let steps = zip(fractions, fractions.dropFirst()).map { $1 - $0 }
            if let back = steps.min(), back < -0.001, back > -0.9 { return "it went back by \(-back) s" }
            if let jump = steps.max(), jump > 0.02 { return "it left \(jump) s out" }
            return nil
        }
    }

    @Test func playbackWaitsForALostCard() throws {
        let (streamer, _) = try play("60", on: "labcard:pulled")
        #expect(waiting { streamer.progress.position.value > .milliseconds(300) })
        let trouble = (ProcessInfo.processInfo.environment["LABCARD_DIR"] ?? "/dev/shm") + "/pulled.unplugged"
        try #require(FileManager.default.createFile(atPath: trouble, contents: nil))
        defer { try? FileManager.default.removeItem(atPath: trouble) }
        #expect(waiting { streamer.isCardLost })
        // By then the card's queue has run out.
        usleep(200_000)
        let place = streamer.progress.position.value
        usleep(300_000)
        #expect(streamer.progress.position.value == place)
        #expect(streamer.state == .playing)
        let back = MonotonicClock.now
        try FileManager.default.removeItem(atPath: trouble)
        #expect(waiting { !streamer.isCardLost })
        #expect(waiting { streamer.progress.position.value > place })
        #expect(streamer.progress.position.value - place < MonotonicClock.now - back)
        streamer.close()
    }

    private func play(
        _ seconds: String, on card: String, _ opener: CodedOpener = CodedOpener(.mono)
    ) throws -> (Streamer, Watch) {
        var configuration = StreamerConfiguration()
        configuration.output = .card(card)
        configuration.channelCount = 1
        configuration.resumeAfter = .milliseconds(300)
        let streamer = try Streamer(configuration, opener: opener)
        streamer.open(seconds)
        streamer.play()
        #expect(waiting { streamer.state == .playing })
        return (streamer, Watch(streamer))
    }
}

/// Records the displayed position.
private final class Watch {
    private let streamer: Streamer
    private var notes: [(moment: Instant, position: Double)] = []

    init(_ streamer: Streamer) { self.streamer = streamer }

    func look(for seconds: Double) {
        let end = MonotonicClock.now + .seconds(seconds)
        while MonotonicClock.now < end {
            let before = MonotonicClock.now
            let position = streamer.progress.position.value / .seconds(1)
            // A reading that was delayed is not used.
            if MonotonicClock.now - before < .milliseconds(2) { notes.append((before, position)) }
            usleep(7_000)
        }
    }

    /// Returns an error if the position shown was not the one heard.
    func judgement(of heard: LoopbackEar.Heard, within tolerance: Double) -> String? {
        var compared = 0
        var worst = 0.0
        for note in notes {
            guard let fraction = heard.fraction(at: note.moment) else { continue }
            var difference = fraction - note.position.truncatingRemainder(dividingBy: 1)
            difference -= difference.rounded()
            compared += 1
            worst = max(worst, abs(difference))
        }
        if compared < notes.count / 3 { return "only \(compared) of \(notes.count) looks fell on sound" }
        return worst <= tolerance ? nil : "shown and heard were \(worst) s apart"
    }
}
