import Foundation
import Glibc
import TenfourAudioCore
import TenfourCommandSupport
import TenfourOggOpus
import TenfourSession
import TenfourTransmissions
import TestSupport
import Testing

@testable import tenfour

/// `tenfour log`, with a directory of recordings.
@Suite(.onItsOwnThread) struct LogTests {
    private let folder = Folder()

    /// Writes a recording of a tone of half a second.
    private func record(_ name: String, _ talker: String, isComplete: Bool = true) throws {
        var tags: [OpusComments.Comment] = [.init("CHANNEL", "family"), .init("TALKER", talker)]
        if isComplete { tags += [.init("LOSS", "1.25 %"), .init("SCORE", "4.21")] }
        let muxer = OggOpusMuxer(serial: 7, .recording, comments: OpusComments(tags).bytes())
        let packets = try CodedTone.packets(seconds: 0.5).enumerated().map { index, payload in
            OggOpusMuxer.Packet(payload: payload, end: FrameCount((index + 1) * 960))
        }
        folder.write(muxer.header + muxer.append(packets, isLast: isComplete), to: name)
    }

    private func recordThree() throws {
        try record("2026-11-22T10-03-17Z_family_alice.opus", "alice")
        try record("2026-11-22T10-04-00Z_family_bob.opus", "\u{1B}[31mbob\nwith a name that is long", isComplete: false)
        try record("2026-11-22T10-05-59Z_family_alice.opus", "alice")
    }

    private func log(_ arguments: [String], environment: [String: String] = [:]) throws
        -> (end: Program.End, output: String, errors: String)
    {
        try tenfour(["log"] + arguments, environment: ["TZ": "UTC"].merging(environment) { $1 })
    }

    @Test func theLogSaysWhoTalkedWhenAndHowWell() throws {
        try recordThree()
        let result = try log(["--record", folder.path])
        #expect(result.end == .code(0) && result.errors == "", "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == 4)
        #expect(lines.allSatisfy { $0.count <= 80 } && lines[0].hasPrefix("   #  start"))
        #expect(lines[1].hasPrefix("   1  Nov 22 "))
        #expect(lines[1].contains("family        alice ") && lines[1].hasSuffix("0.5 s    1.3%    4.2"), "\(lines[1])")
        #expect(lines[2].contains("\u{FFFD}[31mbob\u{FFFD}with a…") && lines[2].hasSuffix("0.5 s       –      –"))
        #expect(!result.output.contains("\u{1B}"))
        let last = try log(["-n", "1"], environment: ["TENFOUR_RECORD": folder.path])
        #expect(last.output.split(separator: "\n").dropFirst() == lines.suffix(1))
    }

    @Test func timesAreThoseOfThisPlace() {
        unsafe setenv("TZ", "UTC", 1)
        tzset()
        let transmission = Transmission(
            start: 1_795_341_797, channel: "family", talker: "alice", duration: .seconds(3_723), lossShare: 0.25,
            score: 1)
        let entry = TransmissionLog.Entry(number: 12_345, transmission: transmission, path: "x", isComplete: true)
        let text = LogLine.text(entry, now: 1_795_341_800)
        #expect(
            text == "12345  Nov 22 10:03:17  family        alice              1:02:03   25.0%    1.0", "\(text)")
        #expect(LogLine.text(entry, now: 1_795_341_800 + 200 * 86_400).contains("Nov 22  2026   "))
    }

    @Test func columnsStandBelowEachOtherAlsoWithWideLetters() {
        let lines = ["alice", "東京東京東京東京東京"].map { talker in
            let transmission = Transmission(
                start: 1_795_341_797, channel: "族", talker: talker, duration: .seconds(2), lossShare: 0, score: 4)
            return LogLine.text(
                .init(number: 1, transmission: transmission, path: "x", isComplete: true), now: 1_795_341_800)
        }
        #expect(lines[0].columnCount == lines[1].columnCount, "\(lines)")
        #expect(lines[1].contains("  東京東京東京東…      2.0 s"), "\(lines)")
    }

    @Test func jsonHasALineForEachRecording() throws {
        try recordThree()
        let result = try log(["--json", "--record", folder.path])
        let objects = try result.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        try #require(objects.count == 3)
        #expect(objects[0]["start"] as? Int == 1_795_341_797 && objects[0]["number"] as? Int == 1)
        #expect(objects[0]["lost_share"] as? Double == 0.0125 && objects[0]["score"] as? Double == 4.21)
        #expect(objects[0]["duration_s"] as? Double == 0.494 && objects[0]["complete"] as? Bool == true)
        #expect(objects[0]["file"] as? String == folder("2026-11-22T10-03-17Z_family_alice.opus"))
        #expect(objects[1]["complete"] as? Bool == false && objects[1]["score"] is NSNull)
    }

    @Test func followingPrintsWhatIsCompleted() throws {
        try record("2026-11-22T10-03-17Z_family_alice.opus", "alice")
        var missed = MissedCalls()
        missed.record(.init(name: "Bob", address: .v4(1), time: 1))
        let state = folder("state")
        missed.write(to: "\(state)/tenfour/missed-calls")
        defer {
            unsafe unlink("\(state)/tenfour/missed-calls")
            for path in ["\(state)/tenfour", state] { unsafe rmdir(path) }
        }
        #expect(
            try log(["--json", "--record", folder.path], environment: ["XDG_STATE_HOME": state]).output
                .contains("missed_from"))
        let program = try Program(
            "tenfour", ["log", "-f", "--json", "--record", folder.path], environment: ["XDG_STATE_HOME": state])
        #expect(program.wait(.seconds(30)) { program.outputText.contains("alice.opus") }, "\(program.errors)")
        folder.write("x", to: "notes.txt")
        try record("2026-11-22T10-04-17Z_family_bob.opus", "bob")
        #expect(program.wait(.seconds(30)) { program.outputText.contains("bob.opus") })
        #expect(program.outputText.split(separator: "\n").count == 2, "\(program.outputText)")
        program.send(SIGINT)
        #expect(program.wait() == .code(0) && program.errors == "")
    }

    @Test func recordingsArePlayedByTheirNumbers() throws {
        try recordThree()
        folder.write("pcm.!default { type null }", to: "asound.conf")
        let environment = ["ALSA_CONFIG_PATH": folder("asound.conf")]
        let both = try log(["play", "--record", folder.path, "2", "1"], environment: environment)
        #expect(both.end == .code(0), "\(both.errors)")
        #expect(both.errors.contains("1/2") && both.errors.contains("2/2"), "\(both.errors)")
        #expect(try log(["play", "--record", folder.path, "--rate", "2"], environment: environment).end == .code(0))
        let inEnvironment = environment.merging(["TENFOUR_RECORD": folder.path]) { $1 }
        #expect(try log(["play", "3"], environment: inEnvironment).end == .code(0))
        #expect(try log(["--record", folder.path, "play", "3"], environment: environment).end == .code(0))
    }

    /// The recording grows faster than it is played.
    @Test func aRecordingThatGrowsIsPlayedToWhereItIsNow() throws {
        let name = "2026-11-22T10-03-17Z_family_alice.opus"
        let muxer = OggOpusMuxer(serial: 7, .recording, comments: OpusComments([]).bytes())
        let packets = try CodedTone.packets(seconds: 4)
        var end = FrameCount.zero
        func pages() -> [UInt8] {
            muxer.append(
                packets.map { payload in
                    end += FrameCount(960)
                    return .init(payload: payload, end: end)
                })
        }
        folder.write(muxer.header + pages(), to: name)
        folder.write("pcm.!default { type null }", to: "asound.conf")
        let program = try Program(
            "tenfour", ["log", "play", "--record", folder.path],
            environment: ["ALSA_CONFIG_PATH": folder("asound.conf")])
        let file = try #require(FileHandle(forWritingAtPath: folder(name)))
        try file.seekToEnd()
        for _ in 0..<300 where program.isRunning {
            try file.write(contentsOf: Data(pages()))
            usleep(100_000)
        }
        #expect(program.wait() == .code(0))
        #expect(program.errors.contains("recording 1 is being written, or was cut off: what it has now is played"))
    }

    @Test func whatIsNotThereIsTold() throws {
        for arguments in [[], ["-f"], ["play"], ["play", "1"]] {
            let result = try log(arguments + ["--record", folder("missing")])
            #expect(result.end == .code(69) && result.output == "", "\(arguments)")
            #expect(result.errors.contains("nothing was recorded there; name the directory with --record"))
        }
        let empty = try log(["--record", folder.path])
        #expect(empty.end == .code(0) && empty.output == "" && empty.errors.contains("there are no recordings in"))
        try recordThree()
        let missing = try log(["play", "4", "--record", folder.path])
        #expect(missing.end == .code(69) && missing.errors.contains("there is no recording 4 in"))
        #expect(try log(["play", "x", "--record", folder.path]).end == .code(2))
        #expect(try log(["-n", "-1", "--record", folder.path]).end == .code(2))
        #expect(try log(["paly"]).errors.contains("write tenfour log play"))
    }

    @Test func theUsualDirectoryIsThatOfTheUsersData() throws {
        #expect(
            try log([], environment: ["XDG_DATA_HOME": folder.path]).errors.contains(
                "the recordings in \(folder.path)/tenfour/recordings"))
        #expect(
            try log([], environment: ["XDG_DATA_HOME": "", "HOME": folder.path]).errors.contains(
                "the recordings in \(folder.path)/.local/share/tenfour/recordings"))
    }

    @Test func theHelpFits() throws {
        for arguments in [["--help"], ["--help-all"], ["play", "--help"], ["play", "--help-all"]] {
            let help = try log(arguments)
            #expect(help.end == .code(0) && help.errors == "")
            #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(help.output)")
        }
    }
}
