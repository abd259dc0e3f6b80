import CFileSyncs
import Glibc
import Synchronization
import TenfourAudioCore
import TestSupport
import Testing

@testable import TenfourTransmissions

/// Recordings are removed from a directory, and brought to the disk, on a simulated clock.
@Suite(.onItsOwnThread) struct RecordingLimitTests {
    private var alice = SimulatedSpeaker(1)

    private func removed(_ events: [RecorderEvent]) -> [Int] {
        events.compactMap { if case .removed(let count) = $0 { count } else { nil } }
    }

    /// The clock is right, and files of the last year are there.
    @Test mutating func nothingIsRemovedForItsAgeUnlessAnAgeIsAskedFor() throws {
        #expect(RecordLimit.usual.description == "1G" && RecordLimit.usual.age == nil)
        let scene = try RecorderScene()
        let earlier = ["2025-11-22T10-03-17Z_family_bob.opus", "2026-10-01T00-00-00Z_family_bob.opus"]
        for name in earlier { scene.folder.write("kept", to: name) }
        scene.talk(&alice, for: .seconds(1))
        scene.pass(.seconds(100))
        scene.talk(&alice, for: .seconds(1))
        scene.pass(.seconds(10))
        #expect(earlier.allSatisfy(scene.names.contains) && removed(scene.takeEvents()) == [])
    }

    /// They were made while the clock was not set: their age is not known.
    @Test mutating func filesOf1970AreNotOld() throws {
        let folder = Folder()
        let unset = ["1970-01-01T00-00-09Z_family_bob.opus", "2000-01-01T00-02-00Z_family_bob.opus"]
        let old = ["2026-11-01T00-00-00Z_family_bob.opus", "2026-11-02T00-00-00Z_family_bob.opus"]
        for name in unset + old { folder.write("kept", to: name) }
        let scene = try RecorderScene(limit: RecordLimit(byteCount: nil, age: 86_400), directory: folder.path)
        scene.pass(.seconds(1))
        let names = Folder.entries(of: folder.path).filter { $0.hasSuffix(".opus") }.sorted()
        #expect(names == unset)
        #expect(removed(scene.takeEvents()) == [2])
    }

    /// Not even what this process has made, and knows the age of.
    @Test mutating func nothingIsRemovedForItsAgeBeforeTheClockIsSet() throws {
        let scene = try RecorderScene(limit: RecordLimit(byteCount: nil, age: 60))
        scene.isClockSet.value.store(false, ordering: .relaxed)
        scene.folder.write("kept", to: "2025-11-22T10-03-17Z_family_bob.opus")
        scene.talk(&alice, for: .seconds(1))
        scene.pass(.seconds(100))
        scene.talk(&alice, for: .seconds(1))
        scene.pass(.seconds(100))
        #expect(scene.names.count == 3)
        scene.isClockSet.value.store(true, ordering: .relaxed)
        scene.pass(.seconds(1))
        #expect(scene.names == [])
        #expect(removed(scene.takeEvents()) == [3])
    }

    /// A stranger who talks under a new name each second, at the limits.
    @Test(arguments: [true, false]) func aStrangerWithManyNamesDoesNotRemoveAll(isByCount: Bool) throws {
        let folder = Folder()
        for minute in 10..<60 {
            folder.write([UInt8](repeating: 0, count: 20_000), to: "2026-11-21T10-\(minute)-00Z_rtp_alice.opus")
        }
        var limit = RecordLimit(byteCount: 1_000_000, age: nil)
        if isByCount { (limit.byteCount, limit.fileCount) = (nil, 50) }
        let scene = try RecorderScene(channel: "rtp", limit: limit, directory: folder.path)
        for number in UInt32(10)..<210 {
            var stranger = SimulatedSpeaker(number, byteCount: 1_200)
            scene.setName("stranger \(number)", of: number)
            scene.talk(&stranger, for: .milliseconds(400))
            scene.leave(number)
            scene.pass(.milliseconds(200))
        }
        scene.finish()
        let names = Folder.entries(of: folder.path).filter { $0.hasSuffix(".opus") }
        let kept = names.count { $0.hasSuffix("_alice.opus") }
        #expect((37...40).contains(kept), "\(kept)")
        #expect(isByCount ? names.count <= 50 : scene.status.byteCount <= 1_000_000)
        // Once a minute, and at the end: 200 were made in two minutes.
        let counts = removed(scene.takeEvents())
        #expect((2...4).contains(counts.count), "\(counts)")
        #expect(counts.reduce(0, +) == 250 - names.count, "\(counts)")
    }

    /// Its parts are removed, and not the recordings of others.
    @Test func anEndlessTransmissionRemovesNoOthers() throws {
        let folder = Folder()
        for minute in 10..<40 {
            folder.write([UInt8](repeating: 0, count: 10_000), to: "2026-11-21T10-\(minute)-00Z_rtp_alice.opus")
        }
        let scene = try RecorderScene(
            channel: "rtp", limit: RecordLimit(byteCount: 1_000_000, age: nil), directory: folder.path)
        var loud = SimulatedSpeaker(2, byteCount: 1_200)
        scene.talk(&loud, for: .seconds(60))
        scene.finish()
        let kept = Folder.entries(of: folder.path).count { $0.hasSuffix("_alice.opus") }
        #expect(kept == 30)
    }

    @Test mutating func anOpenRecordingIsBroughtToTheDiskEachTwoSecondsAndAClosedOneAtOnce() throws {
        let scene = try RecorderScene()
        var last = (count: syncs_of_this_thread(), now: scene.now)
        var longest = Duration.zero
        for _ in 0..<100 {
            scene.talk(&alice, for: .milliseconds(200))
            if syncs_of_this_thread() > last.count { last = (syncs_of_this_thread(), scene.now) }
            longest = max(longest, scene.now - last.now)
        }
        #expect(longest < .milliseconds(2_500) && longest > .seconds(1), "\(longest)")
        let before = syncs_of_this_thread()
        scene.pass(.milliseconds(900))
        #expect(scene.status.openCount == 1)
        let open = syncs_of_this_thread()
        #expect(open - before <= 1)
        scene.pass(.milliseconds(200))
        let closed = syncs_of_this_thread()
        #expect(scene.status.openCount == 0 && (1...2).contains(closed - open))
        // Nothing is left to do.
        scene.pass(.seconds(60))
        #expect(syncs_of_this_thread() == closed)
    }

    @Test mutating func theEndOfTheProgramBringsAllToTheDisk() throws {
        let scene = try RecorderScene()
        scene.talk(&alice, for: .milliseconds(100))
        let before = syncs_of_this_thread()
        scene.finish()
        #expect(syncs_of_this_thread() > before)
    }

    @Test(arguments: [EINVAL, EROFS, ENOTSUP, EIO]) func aDiskThatCannotBeWaitedForIsNoError(code: Int32) throws {
        let scene = try RecorderScene()
        var alice = SimulatedSpeaker(1)
        fail_syncs_of_this_thread(code)
        defer { fail_syncs_of_this_thread(0) }
        scene.talk(&alice, for: .seconds(1))
        scene.pass(.seconds(2))
        let hasFailed = scene.takeEvents().contains { if case .failed = $0 { true } else { false } }
        #expect(hasFailed == (code == EIO))
    }
}
