import Glibc
import TenfourAudioCore
import TenfourOggOpus
import TenfourSeededRandom
import TestSupport
import Testing

@testable import TenfourTransmissions

@Suite(.onItsOwnThread) struct TransmissionLogTests {
    private let folder = Folder()

    /// Writes a file as a recording, with tags.
    private func write(_ name: String, _ tags: [(String, String)], isComplete: Bool = true) {
        let comments = OpusComments(tags.map { OpusComments.Comment($0.0, $0.1) }).bytes(paddedTo: 400)
        let muxer = OggOpusMuxer(serial: 7, .recording, comments: comments)
        let packet = OggOpusMuxer.Packet(payload: [9 << 3, 1, 2], end: FrameCount(48_312))
        folder.write(muxer.header + muxer.append([packet], isLast: isComplete), to: name)
    }

    private func entries() throws -> [TransmissionLog.Entry] { try TransmissionLog(folder.path).entries() }

    @Test func whatTheTagsSayIsTold() throws {
        write(
            "2026-11-22T10-03-17Z_family_alice.opus",
            [("channel", "Family"), ("TALKER", "Alice \u{1B}[2J"), ("LOSS", "1.25 %"), ("SCORE", "4.2")])
        let entry = try #require(try entries().first)
        #expect(
            entry.transmission
                == Transmission(
                    start: RecorderScene.start, channel: "Family", talker: "Alice \u{FFFD}[2J", duration: .seconds(1),
                    lossShare: 0.0125, score: 4.2))
        #expect(entry.path == folder("2026-11-22T10-03-17Z_family_alice.opus") && entry.isComplete)
    }

    @Test func whatTheTagsDoNotSayIsInTheNameOrUnknown() throws {
        write(
            "2026-11-22T10-03-17Z_family_alice.opus", [("LOSS", "-1"), ("SCORE", "99"), ("SCORE", "nan")],
            isComplete: false)
        let entry = try #require(try entries().first)
        let expected = Transmission(
            start: RecorderScene.start, channel: "family", talker: "alice", duration: .seconds(1))
        #expect(entry.transmission == expected && !entry.isComplete)
    }

    @Test func numbersCountFromTheOldest() throws {
        for minute in 10..<30 { write("2026-11-22T10-\(minute)-17Z_family_alice.opus", []) }
        write("2026-11-22T10-09-17Z_family_zoe.opus", [])
        let log = try TransmissionLog(folder.path)
        #expect(log.entries().map(\.number) == Array(1...21) && log.count == 21)
        #expect(log.entries()[0].transmission.talker == "zoe")
        #expect(log.entries([0, 2, 22, -1, 21]).map(\.number) == [2, 21])
        #expect(log.entries(named: ["2026-11-22T10-11-17Z_family_alice.opus", "x"]).map(\.number) == [3])
    }

    @Test func whatIsNoRecordingIsLeftOut() throws {
        write("notes.opus", [])
        folder.write("text", to: "2026-11-22T10-03-17Z_family_text.opus")
        folder.write("", to: "2026-11-22T10-03-17Z_family_empty.opus")
        write("target", [])
        let links = unsafe [
            symlink(folder("target"), folder("2026-11-22T10-03-17Z_family_link.opus")),
            mkfifo(folder("2026-11-22T10-03-17Z_family_pipe.opus"), 0o600),
        ]
        try #require(links == [0, 0])
        #expect(try entries() == [])
    }

    @Test func damagedFilesTrapNothing() throws {
        let name = "2026-11-22T10-03-17Z_family_alice.opus"
        write(name, [("TALKER", "alice")])
        let whole = Folder.bytes(of: folder(name))
        var random = SeededRandom(seed: 2)
        for _ in 0..<300 {
            var bytes = whole
            for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            folder.write(Array(bytes[..<random.below(bytes.count + 1)]), to: name)
            #expect(try entries().count <= 1)
        }
    }

    @Test func aMissingDirectoryIsToldWithItsRemedy() {
        #expect { try TransmissionLog(folder("missing")) } throws: {
            "\($0)" == "cannot read the recordings in \(folder("missing")): nothing was recorded there; "
                + "name the directory with --record"
        }
    }

    @Test func completedRecordingsAreNews() throws {
        let watch = try RecordingWatch(folder.path)
        #expect(watch.next(within: 0) == nil)
        folder.write("x", to: "other")
        #expect(watch.next(within: 1_000) == nil)
        let name = "2026-11-22T10-03-17Z_family_alice.opus"
        for _ in 0..<3 { write(name, []) }
        #expect(watch.next(within: 10_000) == .completed([name]))
        let scene = try RecorderScene(directory: folder.path)
        var bob = SimulatedSpeaker(2)
        scene.talk(&bob, for: .seconds(1))
        #expect(watch.next(within: 0) == nil)
        scene.leave(2)
        // It is closed when it is on the disk.
        scene.pass(.milliseconds(100))
        #expect(watch.next(within: 10_000) == .completed(["2026-11-22T10-03-17Z_family_bob.opus"]))
    }

    @Test func aRemovedDirectoryIsNews() throws {
        let path = folder("radio")
        let isMade = unsafe mkdir(path, 0o700) == 0
        try #require(isMade)
        let watch = try RecordingWatch(path)
        let isRemoved = unsafe rmdir(path) == 0
        try #require(isRemoved)
        #expect(watch.next(within: 10_000) == .isGone)
        #expect(throws: RecordingError.self) { try RecordingWatch(path) }
    }
}
