import Foundation
import Glibc
import Synchronization
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourRadio
import TenfourSession
import TenfourSoundCard
import TenfourVoiceProcessing
import TestSupport
import Testing

extension RealTimeTests {
    /// Sessions on a simulated sound card with its own clock: `TENFOUR_LABCARD=1 Tools/labcard run --private -- swift
    /// test`.
    @Suite(.serialized, .needsLabcard) struct LabcardSessionTests {
        @Test func twoStationsHearEachOther() throws {
            try expectNoFailure {
                let (port, otherPort) = (UDPPort.free(), UDPPort.free())
                let alice = try RadioSession(.talking(from: port, to: otherPort, wires: "alice"))
                let bob = try RadioSession(.talking(from: otherPort, to: port, wires: "bob"))
                let mouths = try [Mouth("labcard:alice_mic", saying: 440), Mouth("labcard:bob_mic", saying: 1_000)]
                let ears = try [Ear("labcard:alice_ear"), Ear("labcard:bob_ear")]
                try alice.start()
                try bob.start()
                usleep(3_000_000)
                for session in [alice, bob] { session.stop() }
                for session in [alice, bob] { try session.wait() }
                for mouth in mouths { mouth.finish() }
                let (atAlice, atBob) = (ears[0].finish().suffix(48_000), ears[1].finish().suffix(48_000))
                let heard = (
                    medianAmplitude(of: 1_000, in: atAlice.prefix(40_000)),
                    medianAmplitude(of: 440, in: atBob.prefix(40_000))
                )
                #expect(amplitude(of: 440, in: atAlice.prefix(40_000)) < 0.02, "nobody hears themselves")
                return heard.0 > 0.3 && heard.1 > 0.3 ? nil : "amplitudes \(heard)"
            }
        }

        @Test func aCardThatIsClosedWithTheMicrophoneIsHeardAfterItsOpening() throws {
            try expectNoFailure {
                let heard = Heard()
                let port = UDPPort.free()
                let hearing = try RadioSession(.receiving(on: port, into: heard))
                var configuration = try RadioConfiguration.sending(.card("labcard:shy_mic"), toPort: port)
                configuration.beginsOpen = false
                configuration.closesCaptureCard = true
                let sending = try RadioSession(configuration)
                let mouth = try Mouth("labcard:shy_mic", saying: 440)
                try hearing.start()
                try sending.start()
                usleep(1_000_000)
                #expect(sending.capturedLevel.level == .floor)
                #expect(sending.snapshot?.capture?.isCardLost == false)
                sending.isMicrophoneOpen = true
                #expect(waiting { heard.samples.count > 72_000 })
                for session in [sending, hearing] { session.stop() }
                for session in [sending, hearing] { try session.wait() }
                mouth.finish()
                let amplitude = medianAmplitude(of: 440, in: heard.samples.suffix(24_000))
                return amplitude > 0.3 ? nil : "amplitude \(amplitude)"
            }
        }

        /// A station whose microphone hears its loudspeaker by a wire, and a partner who must not hear an echo.
        @Test(arguments: [false, true]) func theEchoOfALoudspeakerIsRemoved(cancels: Bool) throws {
            try expectNoFailure {
                let (port, otherPort) = (UDPPort.free(), UDPPort.free())
                var table = try RadioConfiguration.talking(from: port, to: otherPort, wires: "table")
                table.input = .card("labcard:table_\(cancels)")
                table.output = .card("labcard:table_\(cancels)")
                table.voice.cancelsEcho = cancels
                let alice = try RadioSession(table)
                let bob = try RadioSession(.talking(from: otherPort, to: port, wires: "partner"))
                #expect(alice.openings.contains { $0.contains("echo") } == cancels)
                let mouth = try Mouth("labcard:partner_mic", saying: 440)
                let ear = try Ear("labcard:partner_ear")
                try alice.start()
                try bob.start()
                usleep(4_000_000)
                for session in [alice, bob] { session.stop() }
                for session in [alice, bob] { try session.wait() }
                mouth.finish()
                let echo = medianAmplitude(of: 440, in: ear.finish().suffix(48_000).prefix(40_000))
                return (cancels ? echo < 0.02 : echo > 0.2) ? nil : "the amplitude of the echo is \(echo)"
            }
        }

        @Test func aSilencedSpeakerIsSilentAndTheRecordingGoesOn() throws {
            try expectNoFailure {
                let heard = Heard()
                let pair = try Pair(playingOn: "labcard:muted_ear", into: heard)
                let ear = try Ear("labcard:muted_ear")
                pair.hearing.isSpeakerMuted = true
                try pair.start()
                #expect(waiting { heard.samples.count > 96_000 })
                try pair.finish()
                let onCard = ear.finish()
                #expect(loudness(of: onCard) == 0)
                let loudness = medianAmplitude(of: 440, in: heard.samples[24_000..<96_000])
                return loudness > 0.3 ? nil : "recorded \(loudness)"
            }
        }

        @Test func aToneIsHeardOnTheCardOnly() throws {
            try expectNoFailure {
                let heard = Heard()
                let pair = try Pair(playingOn: "labcard:tone_ear", into: heard)
                let ear = try Ear("labcard:tone_ear")
                try pair.start()
                #expect(waiting { heard.samples.count > 48_000 })
                pair.hearing.play(.busy)
                #expect(waiting { heard.samples.count > 96_000 })
                try pair.finish()
                let onCard = ear.finish()
                // The tone lasts 300 ms, so one of these pieces is full of it.
                func loudest(_ sound: [Float]) -> Double {
                    stride(from: 0, to: sound.count - 4_800, by: 4_800).map {
                        amplitude(of: 310, in: sound[$0..<($0 + 4_800)])
                    }.max() ?? 0
                }
                #expect(loudest(heard.samples) < 0.05, "\(loudest(heard.samples))")
                return loudest(onCard) > 0.1 ? nil : "\(loudest(onCard)) on the card"
            }
        }

        @Test func inHalfDuplexNobodyIsHeardWhileTheMicrophoneIsOpen() throws {
            try expectNoFailure {
                let (port, otherPort) = (UDPPort.free(), UDPPort.free())
                var configuration = try RadioConfiguration.talking(from: port, to: otherPort, wires: "half")
                configuration.duplex = .half
                let alice = try RadioSession(configuration)
                let bob = try RadioSession(.talking(from: otherPort, to: port, wires: "other"))
                let mouth = try Mouth("labcard:other_mic", saying: 1_000)
                let ownMouth = try Mouth("labcard:half_mic", saying: 440)
                let ear = try Ear("labcard:half_ear")
                alice.isMicrophoneOpen = false
                try alice.start()
                try bob.start()
                usleep(2_000_000)
                alice.isMicrophoneOpen = true
                usleep(2_000_000)
                for session in [alice, bob] { session.stop() }
                for session in [alice, bob] { try session.wait() }
                mouth.finish()
                ownMouth.finish()
                let sound = ear.finish()
                let during = loudness(of: sound.suffix(48_000))
                let before = medianAmplitude(of: 1_000, in: sound.dropLast(110_000).suffix(24_000))
                #expect(during < 0.001, "\(during) while talking")
                return before > 0.3 ? nil : "\(before) before"
            }
        }

        @Test func aPlayingCardThatIsPulledOutIsReportedCostsNothingAndComesBack() throws {
            try expectNoFailure {
                let pair = try Pair(playingOn: "labcard:usb_ear", into: Heard())
                try pair.start()
                guard let before = pair.settledDelay() else { return "nothing was heard" }
                try Trouble.unplugging("usb_ear") {
                    #expect(waiting { pair.playback?.isCardLost ?? false })
                    let share = processorShare(of: "tf-audio-play", over: .seconds(1))
                    #expect(share < 0.5, "a core that spins is at one: \(share)")
                    #expect(pair.hearing.isOver == false)
                }
                #expect(waiting { pair.playback.map { !$0.isCardLost } ?? false })
                guard pair.settledDelay() != nil else { return "nothing was heard afterwards" }
                // The excess delay is reduced by half a percent of the playing time.
                waiting(15) { pair.talker.map { $0.playout.delay.duration() - before < .milliseconds(10) } ?? false }
                let after = pair.talker?.playout.delay.duration() ?? .seconds(9)
                try pair.finish()
                return after - before < .milliseconds(10) ? nil : "delays of \(before) and \(after)"
            }
        }

        @Test func aMicrophoneThatIsPulledOutShiftsNoDelay() throws {
            try expectNoFailure {
                let mouth = try Mouth("labcard:usb_mic", saying: 440)
                let pair = try Pair(capturingFrom: "labcard:usb_mic", into: Heard())
                try pair.start()
                guard let before = pair.settledDelay() else { return "nothing was heard" }
                try Trouble.unplugging("usb_mic") {
                    #expect(waiting { pair.capture?.isCardLost ?? false })
                    usleep(700_000)
                }
                #expect(waiting { pair.capture.map { !$0.isCardLost } ?? false })
                guard let after = pair.settledDelay() else { return "nothing was heard afterwards" }
                let resyncs = pair.talker?.playout.resyncs
                try pair.finish()
                mouth.finish()
                #expect(resyncs == 0)
                return after - before < .milliseconds(10) && before - after < .milliseconds(10)
                    ? nil : "delays of \(before) and \(after)"
            }
        }

        @Test func cardsOfAnotherRateSoundTheSame() throws {
            try expectNoFailure {
                let mouth = try Mouth("labcard:cd_mic,0,44100", saying: 1_000)
                let heard = Heard()
                let pair = try Pair(
                    capturingFrom: "labcard:cd_mic,0,44100", playingOn: "labcard:cd_ear,0,44100", into: heard)
                try pair.start()
                #expect(waiting { heard.samples.count > 2 * 44_100 })
                try pair.finish()
                mouth.finish()
                #expect(heard.formats == [LPCMFormat(rate: SampleRate(hertz: 44_100))])
                let sound = heard.samples[44_100..<84_000]
                let loudness = medianAmplitude(of: 1_000, in: sound, rate: 44_100)
                return loudness > 0.3 && longestGap(in: Array(sound)) < 20 ? nil : "a tone of \(loudness)"
            }
        }

        @Test func cardsWhoseClocksRunApartPlayWithoutADropOut() throws {
            try expectNoFailure {
                // Half a minute instead of an hour: the simulated hour is in PlayoutTests.
                let mouth = try Mouth("labcard:fast_mic,300", saying: 440)
                let heard = [Heard(), Heard()]
                let pairs = try [
                    Pair(playingOn: "labcard:fast_ear,300", into: heard[0]),
                    Pair(capturingFrom: "labcard:fast_mic,300", playingOn: "labcard:slow_ear,-300", into: heard[1]),
                ]
                for pair in pairs { try pair.start() }
                #expect(waiting(60) { heard.allSatisfy { $0.samples.count > 20 * 48_000 } })
                let playouts = pairs.compactMap(\.talker?.playout)
                for pair in pairs { try pair.finish() }
                mouth.finish()
                for (playout, heard) in zip(playouts, heard) {
                    let gap = longestGap(in: Array(heard.samples[48_000..<20 * 48_000]))
                    // A gap shorter than the shortest that Opus conceals is a wait in silence.
                    if gap > 120 + 20 || playout.concealed >= FrameCount(120) {
                        return "a gap of \(gap), \(playout.concealed) concealed"
                    }
                    if abs(playout.delay.rawValue - playout.target.rawValue) > 240 { return "\(playout)" }
                }
                return playouts.count == 2 ? nil : "somebody was not heard"
            }
        }
    }
}

/// A session that sends a tone from a file or a card, and one that receives it.
struct Pair {
    let sending: RadioSession
    let hearing: RadioSession
    private let folder: Folder

    init(
        capturingFrom microphone: String? = nil, playingOn card: String? = nil, into heard: Heard,
        keepsHistory: Bool = false
    ) throws {
        let port = UDPPort.free()
        folder = Folder()
        var configuration = try RadioConfiguration.receiving(on: port, into: heard)
        configuration.output = card.map { .card($0) }
        configuration.keepsHistory = keepsHistory
        hearing = try RadioSession(configuration)
        let input: RadioConfiguration.Input =
            try microphone.map { .card($0) } ?? .file(folder.sound("tone.wav", tone(440, seconds: 90)), raw: nil)
        sending = try RadioSession(.sending(input, toPort: port))
    }

    var talker: RadioSnapshot.TalkerSnapshot? { hearing.snapshot?.talkers.first }
    var playback: RadioSnapshot.PlaybackSnapshot? { hearing.snapshot?.playback }
    var capture: RadioSnapshot.CaptureSnapshot? { sending.snapshot?.capture }

    func start() throws {
        try hearing.start()
        try sending.start()
    }

    func finish() throws {
        sending.stop()
        hearing.stop()
        try sending.wait()
        try hearing.wait()
    }

    /// Returns the playout delay after two more seconds of audio; nil if nothing is heard.
    func settledDelay() -> Duration? {
        let before = talker?.playout.decoded ?? .zero
        guard waiting(until: { (talker?.playout.decoded ?? .zero) >= before + FrameCount(96_000) }) else { return nil }
        return talker?.playout.delay.duration()
    }
}

extension RadioConfiguration {
    /// Returns the configuration of a station that uses the wires `NAME_mic` and `NAME_ear`.
    fileprivate static func talking(from port: UInt16, to other: UInt16, wires name: String) throws(RadioError) -> Self
    {
        var configuration = try talking(with: StreamAddress(host: "127.0.0.1", port: other), localPort: port)
        configuration.input = .card("labcard:\(name)_mic")
        configuration.output = .card("labcard:\(name)_ear")
        return configuration
    }
}

/// Plays a tone into a wire until `finish`.
final class Mouth {
    private let isOver = Shared()
    private var thread: AudioThread?

    init(_ device: String, saying hertz: Double) throws {
        let card = try PlaybackCard(device: device, period: FrameCount(480), target: FrameCount(1_920))
        let isOver = isOver
        thread = try AudioThread("mouth", priority: 60, work: card) { card, _ in
            var card = card
            let rate = Double(card.granted.format.rate.hertz)
            var position = 0
            while !isOver.value {
                guard case .demand(let demand) = card.wait() else { continue }
                let sound = (position..<position + demand.frameCount.rawValue).map {
                    Float(0.4 * sin(2 * .pi * hertz * Double($0) / rate))
                }
                position += sound.count
                card.write(sound.span)
            }
        }
    }

    func finish() {
        isOver.value = true
        thread.take()?.join()
    }
}

/// Captures a wire until `finish`.
final class Ear {
    private let isOver = Shared()
    private let heard = Heard()
    private var thread: AudioThread?

    init(_ device: String) throws {
        let card = try CaptureCard(device: device, period: FrameCount(480))
        let (isOver, heard) = (isOver, heard)
        thread = try AudioThread("ear", priority: 60, work: card) { card, _ in
            var card = card
            var samples = [Float](repeating: 0, count: card.frame.rawValue)
            while !isOver.value {
                var span = samples.mutableSpan
                if case .captured = card.read(into: &span) { heard.take(samples, .mono) }
            }
        }
    }

    func finish() -> [Float] {
        isOver.value = true
        thread.take()?.join()
        return heard.samples
    }
}

final class Shared: Sendable {
    private let flag = Atomic(false)

    var value: Bool {
        get { flag.load(ordering: .acquiring) }
        set { flag.store(newValue, ordering: .releasing) }
    }
}

/// Unplugs simulated cards, as `Tools/labcard unplug` does.
private enum Trouble {
    static func unplugging(_ wire: String, _ body: () throws -> Void) throws {
        let path = (ProcessInfo.processInfo.environment["LABCARD_DIR"] ?? "/dev/shm") + "/\(wire).unplugged"
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body()
    }
}

/// Returns the share of a core that the busiest thread called `name` uses, 0…1.
private func processorShare(of name: String, over duration: Duration) -> Double {
    let before = processorTimes(of: name)
    let start = ContinuousClock.now
    usleep(UInt32(duration / .microseconds(1)))
    let passed = (ContinuousClock.now - start) / .seconds(1)
    let after = processorTimes(of: name)
    return after.map { ($0.value - (before[$0.key] ?? $0.value)) / passed }.max() ?? 0
}

/// Returns the processor time of each thread called `name`, in seconds.
private func processorTimes(of name: String) -> [String: Double] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    var times: [String: Double] = [:]
    for thread in threads {
        guard let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8),
            text.contains("(\(name))"), let end = text.lastIndex(of: ")")
        else { continue }
        // User and system time are the twelfth and thirteenth field after the name, in ticks.
        let fields = text[end...].split(separator: " ")
        times[thread] = ((Double(fields[12]) ?? 0) + (Double(fields[13]) ?? 0)) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
    return times
}
