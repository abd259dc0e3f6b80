import Foundation
import Glibc
import TestSupport
import Testing

/// Captures of the senders of other programs are played and reported right.
///
/// Tests/TestSupport/Senders/captures.py writes the captures.
@Suite(.onItsOwnThread) struct ForeignSenderTests {
    private let folder = Folder()

    private func write(_ kind: String) throws {
        let run = try python("captures.py", folder.path, kind)
        try #require(run.end == .code(0), "\(run.errors)")
    }

    private func replayed(_ name: String, hertz: Double = 440) throws -> Heard {
        let run = try Program.run(
            "replay", ["\(name).pcap", "-o", "\(name).wav", "--report", "\(name).json"], in: folder)
        try #require(run.end == .code(0), "\(name): \(run.errors)")
        return try Heard(name, in: folder, hertz: hertz, lines: run.errors)
    }

    @Test(arguments: [ForeignSender].captured)
    func theirAudioIsHeardAndReportedRight(senders: [ForeignSender]) throws {
        try write("senders")
        for sender in senders {
            let heard = try replayed(sender.name)
            #expect(heard.lost == 0 && heard.concealedShare <= 0.01, "\(sender.name): \(heard)")
            #expect(sender.seconds.contains(heard.seconds), "\(sender.name): \(heard.seconds) s")
            #expect(abs(heard.hertz - 440) < 2, "\(sender.name): \(heard.hertz) Hz")
            // The first window is that of Opus's beginning.
            #expect(heard.rough.count { $0 > 0.02 } <= sender.roughCount, "\(sender.name): \(heard.rough)")
            #expect(heard.peak <= 0.34, "\(sender.name): \(heard.peak)")
            #expect(heard.longestDelay <= sender.longestDelay, "\(sender.name): \(heard.longestDelay) ms")
            #expect(heard.score >= sender.score, "\(sender.name): \(heard.score)")
            for words in sender.words { #expect(heard.lines.contains(words), "\(sender.name): \(heard.lines)") }
            #expect(sender.words.isEmpty == !heard.lines.contains("; "), "\(sender.name): \(heard.lines)")
        }
    }

    /// The first sender is heard to its end, and then the second one.
    @Test func twoSendersWithOneSSRCAreNamed() throws {
        try write("senders")
        let heard = try replayed("one-ssrc-two-senders")
        #expect(heard.lost == 0 && heard.longestDelay <= 10 && heard.score > 4.3, "\(heard)")
        #expect(heard.seconds >= 6 && heard.gaps.allSatisfy { $0.start >= 6 }, "\(heard)")
        for words in ["0000aaaa", "127.0.0.1:40000", "127.0.0.1:40002"] { #expect(heard.lines.contains(words)) }
    }

    /// Twelve seconds within 0.3 s.
    @Test func whatASenderWithoutPacingLosesIsCounted() throws {
        try write("senders")
        let heard = try replayed("burst")
        #expect(heard.lost == 0 && abs(heard.seconds + heard.droppedSeconds - 12) < 0.1, "\(heard)")
        #expect(heard.lines.contains("sends its audio faster than real time") && heard.lines.contains("dropped"))
    }

    @Test func aLastingStepOfTheDelayIsLearnedWithinTwoSeconds() throws {
        try write("steps")
        let names = Folder.entries(of: folder.path).filter { $0.hasSuffix(".pcap") }.map { String($0.dropLast(5)) }
        #expect(names.count == 42)
        for name in names {
            let hertz = try #require(Double(name.suffix(3)))
            let heard = try replayed(name, hertz: hertz)
            let moments = name.hasPrefix("five") ? [2, 4, 6, 8, 10] : name.hasPrefix("two") ? [8, 10] : [8]
            let step = name.hasPrefix("step") ? Double(name.split(separator: "-")[1].dropLast(2)) ?? 0 : 60
            for moment in moments {
                let concealed = heard.concealedShares[moment..<moment + 2].reduce(0, +) * 1_000
                #expect(concealed <= step + 50, "\(name): \(concealed) ms at \(moment) s")
            }
            let rest = heard.concealedShares.dropLast().dropFirst(moments.max()! + 2)
            #expect(rest.allSatisfy { $0 <= 0.002 }, "\(name): \(rest)")
            let rough = heard.rough.filter { place in
                place > 0.02 && !moments.contains { (Double($0) - 0.1...Double($0) + 1.2).contains(place) }
            }
            #expect(rough.isEmpty, "\(name): \(rough)")
            let delay = heard.delays.dropLast().last ?? .infinity
            #expect(delay <= step * Double(moments.count) + 10, "\(name): \(delay) ms")
            #expect(heard.lost == 0, "\(name)")
        }
    }
}

/// The same senders over a network, in real time.
@Suite(.onItsOwnThread, .inRealTime) struct LiveForeignSenderTests {
    @Test func theirAudioIsHeardAndNoLossIsReportedToThem() throws {
        let folder = Folder()
        let written = try python("captures.py", folder.path, "senders")
        try #require(written.end == .code(0), "\(written.errors)")
        let senders = [ForeignSender].captured.joined().filter {
            ["timestamps-off-by-8-pcmu", "clock-8000", "digits", "comfort-noise", "digits-stopped-clock"].contains(
                $0.name)
        }
        #expect(senders.count == 5)
        let calls = try senders.map { sender in
            let port = UDPPort.free()
            let receiver = try Program(
                "tenfour",
                ["recv", "-p", "\(port)", "-o", "\(sender.name).wav", "--report", "\(sender.name).json"], in: folder)
            try #require(receiver.takes(port: port), "\(receiver.errors)")
            let script = Repository.path("Tests/TestSupport/Senders/sendcapture.py")
            return (
                sender, receiver,
                try Program("python3", ["-B", script, folder("\(sender.name).pcap"), "\(port)"])
            )
        }
        for (sender, receiver, sending) in calls {
            #expect(sending.wait() == .code(0), "\(sending.errors)")
            receiver.send(SIGINT)
            #expect(receiver.wait() == .code(0), "\(receiver.errors)")
            #expect(
                sending.outputText.contains("largest fraction lost 0.000, cumulative 0,"),
                "\(sender.name): \(sending.outputText)")
            #expect(!sending.outputText.hasPrefix("0 reports"), "\(sender.name)")
            let heard = try Heard(sender.name, in: folder, hertz: 440, lines: receiver.errors)
            // What the machine held back had to be concealed.
            let pattern = /held back for ([0-9.]+) s/
            let report = try #require(sending.outputText.firstMatch(of: pattern)?.output)
            let stalled = try #require(Double(report.1))
            let limit = 0.02 + stalled / sender.seconds.lowerBound
            #expect(heard.lost == 0 && heard.concealedShare <= limit, "\(sender.name): \(heard), \(stalled) s late")
            let range = sender.seconds.lowerBound - 0.1 - stalled...sender.seconds.upperBound + 0.1
            #expect(range.contains(heard.seconds), "\(sender.name): \(heard.seconds) s")
            for words in sender.words { #expect(heard.lines.contains(words), "\(sender.name): \(heard.lines)") }
            if sender.name == "digits" { #expect(heard.lines.contains("pressed the key 5"), "\(heard.lines)") }
        }
    }
}

/// A sender, and what must be heard of it.
struct ForeignSender: Sendable {
    var name: String
    /// The time for which the tone is heard.
    var seconds: ClosedRange<Double>
    var roughCount = 0
    /// The maximum playout delay, in milliseconds.
    var longestDelay = 10.0
    var score = 4.3
    /// The words of a line about the sender.
    var words: [String] = []
}

extension [ForeignSender] {
    /// Those of Opus and those of G.711.
    static let captured: [[ForeignSender]] = [
        [
            ForeignSender(name: "clean-opus", seconds: 8.0...8.2),
            ForeignSender(name: "timestamps-off-by-1-opus", seconds: 8.0...8.2, roughCount: 2),
            ForeignSender(name: "timestamps-off-by-9-opus", seconds: 8.0...8.2, roughCount: 2),
            ForeignSender(
                name: "clock-8000", seconds: 7.9...8.2, roughCount: 3, longestDelay: 60, words: ["clock", "8000 Hz"]),
            ForeignSender(
                name: "clock-24000", seconds: 7.9...8.2, roughCount: 3, longestDelay: 60, words: ["clock", "24000 Hz"]),
        ],
        [
            ForeignSender(name: "clean-pcmu", seconds: 8.0...8.2),
            ForeignSender(name: "timestamps-off-by-8-pcmu", seconds: 8.0...8.2, roughCount: 2),
            ForeignSender(name: "digits", seconds: 7.56...7.8),
            ForeignSender(name: "dialled", seconds: 5.6...6.5),
            // A talkspurt may begin within a period of the tone.
            ForeignSender(name: "comfort-noise", seconds: 5.0...5.4, roughCount: 4),
            ForeignSender(name: "digits-stopped-clock", seconds: 9.1...9.4, longestDelay: 60),
        ],
    ]
}

/// The audio that was played of a capture, and its report.
private struct Heard {
    var lost: Int
    var concealedShare: Double
    var droppedSeconds: Double
    /// The maximum playout delay, in milliseconds.
    var longestDelay: Double
    var score: Double
    /// Of each second.
    var concealedShares: [Double]
    var delays: [Double]
    /// The time that is heard, and the frequency of the tone.
    var seconds: Double
    var hertz: Double
    /// The moments of windows of 10 ms with a step in the tone.
    var rough: [Double]
    var gaps: [(start: Double, length: Double)]
    var peak: Double
    var lines: String

    /// Measures `NAME.wav` and reads `NAME.json`.
    init(_ name: String, in folder: Folder, hertz: Double, lines: String) throws {
        let report = try #require(try Self.object(Folder.bytes(of: folder("\(name).json"))))
        let whole = try #require(report["whole"] as? [String: Any])
        let each = try #require(report["seconds"] as? [[String: Any]])
        func number(_ key: String, of object: [String: Any]) -> Double { (object[key] as? NSNumber)?.doubleValue ?? 0 }
        func delays(of object: [String: Any]) -> [String: Any] { object["delay_ms"] as? [String: Any] ?? [:] }
        lost = Int(try #require(whole["lost"] as? NSNumber).doubleValue)
        concealedShare = number("concealed_share", of: whole)
        droppedSeconds = number("dropped_ms", of: whole) / 1_000
        longestDelay = number("max", of: delays(of: whole))
        score = number("score", of: whole)
        concealedShares = each.map { number("concealed_share", of: $0) }
        self.delays = each.map { number("max", of: delays(of: $0)) }
        let run = try python("heard.py", folder("\(name).wav"), "\(hertz)")
        let measured = try #require(try Self.object(Array(run.output.utf8)), "\(run.errors)")
        seconds = number("heard", of: measured)
        self.hertz = number("hertz", of: measured)
        rough = measured["rough"] as? [Double] ?? []
        gaps = (measured["gaps"] as? [[Double]] ?? []).map { ($0[0], $0[1]) }
        peak = number("peak", of: measured)
        self.lines = lines
    }

    private static func object(_ bytes: [UInt8]) throws -> [String: Any]? {
        try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    }
}

private func python(_ script: String, _ arguments: String...) throws -> (
    end: Program.End, output: String, errors: String
) {
    try Program.run("python3", ["-B", Repository.path("Tests/TestSupport/Senders/\(script)")] + arguments)
}
