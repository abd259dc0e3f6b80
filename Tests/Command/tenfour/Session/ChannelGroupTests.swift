import Foundation
import TenfourAudioCore
import TenfourPackets
import TenfourRadio
import TenfourSession
import TenfourVoiceProcessing
import TestSupport
import Testing

@testable import tenfour

/// Which of several channels is lowered, and which the key a answers.
struct ChannelGroupTests {
    private let group: ChannelGroup

    init() throws {
        func configuration() -> RadioConfiguration {
            var configuration = RadioConfiguration(
                local: Endpoint(.loopbackV4, port: 0), rtpSession: RTPSessionConfiguration())
            configuration.output = .clock
            return configuration
        }
        let monitors = [("weather", true, nil), ("news", false, nil), ("taxi", false, "its link lets you only listen")]
            .map { name, ducks, obstacle in
                MonitoredChannel(
                    name: name, configuration: configuration(), ducks: ducks, obstacle: obstacle, recording: nil)
            }
        let home = configuration()
        group = try ChannelGroup(try RadioSession(home), home, named: "family", monitors, verbose: false)
    }

    private func at(_ milliseconds: Int) -> Instant { .start + .milliseconds(milliseconds) }

    /// At this time somebody is heard in these channels; 0 is the first one.
    private func hear(_ channels: Set<Int>, at milliseconds: Int) {
        group.update(heard: (0..<4).map { channels.contains($0) }, at: at(milliseconds))
    }

    private static let nobody = "no monitored channel was heard within 5 s"

    @Test func aAnswersWithinFiveSecondsAfterTheLastWord() {
        #expect(group.answer(at: at(0)) == Self.nobody)
        hear([1], at: 1_000)
        hear([1], at: 3_000)
        hear([], at: 3_200)
        #expect(group.answer(at: at(8_001)) == Self.nobody && group.answered == nil)
        #expect(group.answer(at: at(8_000)) == "talking in weather now; a returns")
        #expect(group.answered?.channel == "weather")
        #expect(group.answer(at: at(20_000)) == "talking in family again", "it returns at any time")
        #expect(group.answer(at: at(20_001)) == Self.nobody)
    }

    @Test func aAnswersTheChannelThatWasHeardLast() {
        hear([1], at: 1_000)
        hear([2], at: 2_000)
        #expect(group.answer(at: at(3_000)) == "talking in news now; a returns")
        hear([3], at: 4_000)
        #expect(group.answer(at: at(4_500)) == "taxi cannot be answered: its link lets you only listen")
    }

    @Test func aChannelIsLoweredWhileAnotherIsHeardAndASecondLonger() {
        func lowered() -> [Bool] { group.microphone.sessions.map { $0.background == .ducked } }
        hear([1], at: 0)
        #expect(lowered() == [false, false, false, false])
        hear([0, 1, 2], at: 200)
        #expect(lowered() == [false, true, false, false])
        hear([1], at: 1_199)
        #expect(lowered() == [false, true, false, false], "between two words")
        hear([1], at: 1_200)
        #expect(lowered() == [false, false, false, false])
        hear([3], at: 2_000)
        #expect(lowered() == [false, true, false, false])
    }
}

/// A channel that is lowered, as the card plays it.
@Suite(.onItsOwnThread, .inRealTime) struct DuckingTests {
    private let folder = Folder()

    private func configuration(_ port: UInt16) -> RadioConfiguration {
        var configuration = RadioConfiguration(
            local: Endpoint(.loopbackV4, port: port), rtpSession: RTPSessionConfiguration())
        configuration.output = .clock
        return configuration
    }

    private func sender(to port: UInt16) throws -> Program {
        try Program("tenfour", ["send", "rtp://127.0.0.1:\(port)", "--input", "long.wav"], in: folder)
    }

    @Test(.needsLabcard) func aDuckedChannelIsTwelveDecibelsLower() throws {
        folder.write(longTone, to: "long.wav")
        let (homePort, duckedPort) = (UDPPort.free(), UDPPort.free())
        var ducked = configuration(duckedPort)
        ducked.output = .card("labcard:ducked")
        let home = configuration(homePort)
        let group = try ChannelGroup(
            try RadioSession(home), home, named: "family",
            [.init(name: "weather", configuration: ducked, ducks: true, obstacle: nil, recording: nil)], verbose: false)
        let sessions = group.microphone.sessions
        for session in sessions { try session.start() }
        let weather = try sender(to: duckedPort)
        // Lets the channels follow each other until `isSo`, and for `seconds` more.
        func wait(_ seconds: Double, after isSo: () -> Bool) {
            let isReached = weather.wait(.seconds(30)) {
                _ = group.takeLines()
                return isSo()
            }
            #expect(isReached)
            let end = ContinuousClock.now + .seconds(seconds)
            while ContinuousClock.now < end {
                _ = group.takeLines()
                usleep(50_000)
            }
        }
        wait(0.5) { sessions[1].snapshot?.talkers.contains { $0.isHeard } == true }
        let recorder = try Program(
            "arecord", ["-q", "-D", "labcard:ducked", "-f", "S16_LE", "-r", "48000", "-c", "1", "ducked.wav"],
            in: folder)
        wait(1.5) { true }
        let family = try sender(to: homePort)
        wait(2) { sessions[1].background == .ducked }
        family.send(SIGINT)
        wait(1.5) { sessions[1].background == .none }
        recorder.send(SIGINT)
        _ = recorder.wait()
        weather.send(SIGINT)
        for session in sessions {
            session.stop()
            try session.wait()
        }
        let levels = levels(try Recording(wav: folder("ducked.wav")).channels[0])
        let loudest = levels.max() ?? 0
        let full = levels.filter { $0 > loudest / 2 }
        let low = levels.filter { $0 > loudest / 8 && $0 <= loudest / 2 }
        try #require(full.count > 20 && low.count > 15, "\(levels)")
        let change = 20 * log10(median(low) / median(full))
        #expect(abs(change + 12) < 0.5, "\(change) dB")
    }

    /// The root mean squares of tenths of a second.
    private func levels(_ samples: [Float]) -> [Double] {
        stride(from: 0, to: samples.count - 4_800, by: 4_800).map { start in
            (samples[start..<start + 4_800].reduce(0) { $0 + Double($1) * Double($1) } / 4_800).squareRoot()
        }
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
