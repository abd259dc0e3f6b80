import Glibc
import TenfourAudioCore
import TenfourPlayer
import TestSupport
import Testing

@testable import tenfour

struct ResumePositionsTests {
    private let hour = Duration.seconds(3_600)
    private let talk = MediaIdentity(address: "https://name:secret@host/talk.mp3?token=secret", byteCount: 9)

    private func place(
        _ identity: MediaIdentity, _ seconds: Int, of duration: Duration? = .seconds(3_600)
    ) -> HeardPlace {
        HeardPlace(identity: identity, position: .seconds(seconds), duration: duration)
    }

    private var empty: ResumePositions { ResumePositions(salt: String(repeating: "0f", count: 16)) }

    @Test func aPlaceIsFoundAgainAfterTheTextWasWritten() throws {
        var positions = empty
        positions.record(place(talk, 1_234))
        let read = try #require(ResumePositions(parsing: positions.text))
        #expect(read == positions)
        #expect(read.position(of: talk, duration: hour) == .seconds(1_234))
        #expect(!positions.text.contains("secret") && !positions.text.contains("host"))
    }

    @Test func anotherVersionOfAnItemStartsAtItsStart() {
        var positions = empty
        positions.record(place(talk, 1_234))
        let changes: [(inout MediaIdentity) -> Void] = [
            { $0.address += "4" }, { $0.byteCount = 10 }, { $0.byteCount = nil }, { $0.modified = 1 },
            { $0.start = .seconds(1) },
        ]
        for change in changes {
            var other = talk
            change(&other)
            #expect(positions.position(of: other, duration: hour) == nil)
        }
        #expect(positions.position(of: talk, duration: .seconds(599)) == nil)
        #expect(positions.position(of: talk, duration: nil) == nil)
        #expect(positions.position(of: talk, duration: .seconds(1_240)) == nil, "it was left where it ends now")
    }

    @Test func whatIsShortOrOverOrHardlyBegunIsNotRemembered() {
        var positions = empty
        positions.record(place(talk, 300, of: .seconds(599)))
        positions.record(place(talk, 300, of: nil))
        #expect(positions.entries.isEmpty)
        for seconds in [9, 3_591, 3_600] {
            positions.record(place(talk, 300))
            positions.record(place(talk, seconds))
            #expect(positions.entries.isEmpty)
        }
    }

    @Test func theTableIsBoundedAndKeepsTheNewest() throws {
        var positions = empty
        for index in 0..<700 { positions.record(place(MediaIdentity(address: "\(index)"), 100 + index)) }
        positions.record(place(MediaIdentity(address: "300"), 999))
        #expect(positions.entries.count == ResumePositions.maximumCount)
        #expect(positions.text.utf8.count <= ResumePositions.maximumByteCount)
        let read = try #require(ResumePositions(parsing: positions.text))
        #expect(read.position(of: MediaIdentity(address: "300"), duration: hour) == .seconds(999))
        #expect(read.position(of: MediaIdentity(address: "100"), duration: hour) == nil)
    }

    @Test func aQueueIsFoundAgainByWhatWasTyped() throws {
        var positions = empty
        let book = ["file:///book"]
        positions.record(("file:///book/7.mp3", "file:///book"), ofQueue: book)
        let read = try #require(ResumePositions(parsing: positions.text))
        #expect(read == positions && !positions.text.contains("book"))
        let queue = try #require(read.queue(of: book))
        #expect(read.queue(of: ["file:///other"]) == nil && read.queue(of: book + book) == nil)
        let folder = (name: "file:///book", typed: "file:///book")
        #expect(read.index(of: queue, among: [("file:///a", "file:///a"), folder]) == 1, "the item is in the folder")
        let items = (1...9).map { (name: "file:///book/\($0).mp3", typed: "file:///book") }
        #expect(read.index(of: queue, among: items) == 6)
        #expect(read.index(of: queue, among: Array(items[..<6])) == nil)
        positions.record(nil, ofQueue: book)
        #expect(positions == empty, "it was heard to its end")
        for number in 0..<300 { positions.record(("a", "b"), ofQueue: ["\(number)"]) }
        #expect(positions.queues.count == ResumePositions.maximumQueueCount)
    }

    @Test func otherTextsAreRefusedAndBrokenLinesLeftOut() {
        let head = "tenfour resume positions 1\n\(String(repeating: "0", count: 32))\n"
        for text in ["", "tenfour", "tenfour resume positions 1\nxyz\n", head + String(repeating: "x", count: 1 << 16)]
        {
            #expect(ResumePositions(parsing: text) == nil)
        }
        let key = String(repeating: "a", count: 64)
        let lines = "\(key) 5\nx 5\n\(key) -5\n\(key) 99999999999999999999\n\(key) 5 5\n\u{1B}\n"
        #expect(ResumePositions(parsing: head + lines)?.entries == [.init(key: key, milliseconds: 5)])
    }

    @Test func theFileIsPrivateAndAnItemIsResumedOnce() throws {
        let folder = Folder()
        let path = folder("positions")
        ResumeFile(path: path).update(place(talk, 500))
        let file = ResumeFile(path: path)
        #expect(file.position(of: talk, duration: hour) == nil, "nothing was written yet")
        file.update(place(talk, 500))
        file.finish()
        var status = stat()
        #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let next = ResumeFile(path: path)
        #expect(next.position(of: talk, duration: hour) == .seconds(500))
        #expect(next.position(of: talk, duration: hour) == nil, "played again, it starts at its start")
        next.update(place(talk, 700))
        next.update(place(MediaIdentity(address: "other"), 20))
        #expect(ResumeFile(path: path).position(of: talk, duration: hour) == .seconds(700))
        #expect(Folder.entries(of: folder.path).count == 3, "no other file is left")
    }

    @Test func aFileThatCannotBeWrittenIsNoError() {
        let file = ResumeFile(path: "/proc/none/positions")
        file.update(place(talk, 500))
        file.finish()
        #expect(file.position(of: talk, duration: hour) == nil)
    }
}
