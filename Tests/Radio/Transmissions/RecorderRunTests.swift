import Glibc
import Synchronization
import TenfourAudioCore
import TenfourPackets
import TestSupport
import Testing

@testable import TenfourTransmissions

@Suite(.onItsOwnThread) struct RecorderRunTests {
    private var alice = SimulatedSpeaker(1)
    private var bob = SimulatedSpeaker(2)

    private func recorded(_ events: [RecorderEvent]) -> [Transmission] {
        events.compactMap { if case .ended(let transmission, _) = $0 { transmission } else { nil } }
    }

    @Test mutating func aTransmissionIsAFileWithThePacketsAsReceived() throws {
        let scene = try RecorderScene()
        var same = alice
        scene.talk(&alice, for: .seconds(3))
        #expect(scene.status.openCount == 1)
        scene.pass(.seconds(1))
        #expect(scene.status.openCount == 0 && scene.names == ["2026-11-22T10-03-17Z_family_alice.opus"])
        let file = scene.file(scene.names[0])
        #expect(file.audio == (0..<150).map { _ in same.next().payload })
        #expect(file.pages.map { $0.flags } == [2] + [UInt8](repeating: 0, count: file.pages.count - 2) + [4])
        #expect(file.pages.last?.granule == 150 * 960)
        #expect(file.pages.dropFirst(2).dropLast().allSatisfy { $0.packets.count == 11 })
        let entry = try #require(try scene.log().first)
        #expect(entry.transmission.talker == "alice" && entry.transmission.channel == "family")
        #expect(entry.transmission.start == RecorderScene.start && entry.isComplete && entry.number == 1)
        #expect(entry.transmission.duration == FrameCount(150 * 960 - 312).duration())
        #expect(entry.transmission.lossShare == 0 && (4.3...4.5).contains(entry.transmission.score ?? 0))
    }

    @Test mutating func talkersAndTransmissionsHaveFilesOfTheirOwn() throws {
        let scene = try RecorderScene()
        for _ in 0..<50 {
            scene.talk(&alice, for: .milliseconds(20))
            scene.now = scene.now - .milliseconds(20)
            scene.talk(&bob, for: .milliseconds(20))
        }
        alice.skip(.milliseconds(900))
        scene.pass(.milliseconds(900))
        scene.talk(&alice, for: .seconds(1))
        scene.pass(.seconds(2))
        scene.talk(&alice, for: .seconds(1))
        scene.leave(1)
        #expect(
            scene.names == [
                "2026-11-22T10-03-17Z_family_alice.opus", "2026-11-22T10-03-17Z_family_bob.opus",
                "2026-11-22T10-03-21Z_family_alice.opus",
            ])
        // A pause of 900 ms is part of a transmission: audio, 45 packets without audio, audio.
        let file = scene.file(scene.names[0])
        #expect(file.audio.count == 145 && file.audio[50..<95].allSatisfy { $0 == [9 << 3] })
        #expect(try scene.log().map(\.transmission.lossShare) == [0, 0, 0])
    }

    @Test mutating func whatIsLostIsMarkedAndCounted() throws {
        let scene = try RecorderScene()
        scene.talk(&alice, for: .seconds(4)) { (50..<60).contains($0) || (100..<110).contains($0) }
        scene.pass(.seconds(1))
        let file = scene.file(scene.names[0])
        #expect(file.audio.count == 200 && file.pages.last?.granule == 200 * 960)
        #expect(file.audio.indices.filter { file.audio[$0] == [9 << 3] } == Array(50..<60) + Array(100..<110))
        let transmission = try #require(try scene.log().first).transmission
        #expect(transmission.lossShare == 0.1)
        #expect(try #require(transmission.score) < 3)
        #expect(recorded(scene.takeEvents()).map(\.lossShare) == [0.1])
    }

    @Test mutating func whatIsRetransmittedIsInItsPlace() throws {
        let scene = try RecorderScene()
        var late: [SimulatedSpeaker.Sent] = []
        for index in 0..<100 {
            var sent = alice.next()
            if index % 10 == 5 {
                sent.packet.origin = .retransmitted
                late.append(sent)
            } else {
                scene.receive(sent.payload, sent.packet)
            }
            // They arrive 800 ms later.
            if index >= 45, index % 10 == 5 {
                for _ in 0..<2 { scene.receive(late[index / 10 - 4].payload, late[index / 10 - 4].packet) }
            }
            scene.pass(.milliseconds(20))
        }
        scene.pass(.seconds(1))
        let file = scene.file(scene.names[0])
        let lost = file.audio.indices.filter { file.audio[$0].count == 1 }
        #expect(file.audio.count == 100 && lost == [65, 75, 85, 95])
    }

    @Test mutating func aFileIsNeverOverwrittenAndNoLinkIsFollowed() throws {
        let scene = try RecorderScene()
        scene.folder.write("kept", to: "2026-11-22T10-03-17Z_family_alice.opus")
        let target = scene.folder("target")
        let isLinked = unsafe symlink(target, scene.folder("2026-11-22T10-03-17Z_family_alice-2.opus")) == 0
        try #require(isLinked)
        scene.talk(&alice, for: .seconds(1))
        scene.pass(.seconds(1))
        #expect(Folder.text(of: scene.folder("2026-11-22T10-03-17Z_family_alice.opus")) == "kept")
        #expect(Folder.bytes(of: target).isEmpty)
        #expect(scene.file("2026-11-22T10-03-17Z_family_alice-3.opus").audio.count == 50)
        #expect(try scene.log().map(\.number) == [3])
        var status = stat()
        let path = scene.folder("2026-11-22T10-03-17Z_family_alice-3.opus")
        let isThere = unsafe stat(path, &status) == 0
        #expect(isThere && status.st_mode & 0o777 == 0o600)
    }

    @Test mutating func aHostileNameStaysInTheDirectory() throws {
        let scene = try RecorderScene(channel: "../x")
        scene.setName("/../\u{1B}[31m\n../" + String(repeating: "日", count: 3_000), of: 1)
        scene.talk(&alice, for: .seconds(1))
        scene.pass(.seconds(1))
        let name = try #require(scene.names.first)
        #expect(name.hasPrefix("2026-11-22T10-03-17Z_x_31m-日日") && name.utf8.count < 255)
        let talker = try #require(try scene.log().first).transmission.talker
        #expect(talker.hasPrefix("/../\u{FFFD}[31m\u{FFFD}../日") && talker.count == 65)
    }

    @Test mutating func aNameThatIsKnownLateIsInTheFile() throws {
        let scene = try RecorderScene()
        scene.setName(nil, of: 1)
        scene.talk(&alice, for: .seconds(1))
        scene.setName("alice", of: 1)
        scene.pass(.seconds(1))
        #expect(scene.names == ["2026-11-22T10-03-17Z_family_alice.opus"])
        #expect(try scene.log().map(\.transmission.talker) == ["alice"])
    }

    @Test mutating func whatIsNotOpusIsToldOnce() throws {
        let scene = try RecorderScene()
        for _ in 0..<50 {
            let sent = alice.next([UInt8](repeating: 0x55, count: 160), encoding: .pcma)
            scene.receive(sent.payload, sent.packet)
            let broken = alice.next([0xFF, 0])
            scene.receive(broken.payload, broken.packet)
            let empty = alice.next([])
            scene.receive(empty.payload, empty.packet)
        }
        #expect(scene.names == [] && scene.takeEvents() == [.notRecorded(.pcma)])
    }

    @Test mutating func silenceAloneIsNoTransmissionAndProlongsNone() throws {
        let scene = try RecorderScene()
        func silence() {
            for _ in 0..<5 {
                let sent = alice.next([9 << 3])
                scene.receive(sent.payload, sent.packet)
                scene.pass(.milliseconds(400))
                alice.skip(.milliseconds(380))
            }
        }
        silence()
        #expect(scene.names == [])
        scene.talk(&alice, for: .seconds(1))
        silence()
        #expect(scene.status.openCount == 0 && scene.names.count == 1)
    }

    @Test func manyTalkersAreBounded() throws {
        let scene = try RecorderScene()
        var speakers = (1...40).map { SimulatedSpeaker(UInt32($0)) }
        for _ in 0..<10 {
            for index in speakers.indices {
                let sent = speakers[index].next()
                scene.receive(sent.payload, sent.packet)
            }
            scene.pass(.milliseconds(20))
        }
        #expect(scene.status.openCount == RecorderRun.maximumOpenCount)
        scene.finish()
        #expect(scene.names.count == RecorderRun.maximumOpenCount && scene.status.openCount == 0)
    }

    @Test mutating func anHourContinuesInAnotherFile() throws {
        let scene = try RecorderScene()
        // A packet of 120 ms each 900 ms: the rest is pause.
        for _ in 0..<4_100 {
            let sent = alice.next([11 << 3 | 3, 2, 1, 2, 3, 4])
            scene.receive(sent.payload, sent.packet)
            alice.skip(.milliseconds(880))
            scene.pass(.milliseconds(900))
        }
        scene.finish()
        let log = try scene.log()
        let seconds = log.map { Int(($0.transmission.duration ?? .zero) / .seconds(1)) }
        #expect(seconds.count == 2 && abs(seconds[0] - 3_600) <= 1 && abs(seconds[1] - 90) <= 1, "\(seconds)")
    }

    @Test mutating func aDirectoryThatGoesAwayIsToldOnceAndMadeAgain() throws {
        let parent = Folder()
        let directory = parent("radio")
        let scene = try RecorderScene(directory: directory)
        try #require(try Program.run("rm", ["-r", directory]).end == .code(0))
        parent.write("in the way", to: "radio")
        for _ in 0..<5 {
            scene.talk(&alice, for: .seconds(5))
            scene.pass(.seconds(2))
        }
        let events = scene.takeEvents()
        #expect(events.count == 1)
        if case .failed? = events.first {} else { Issue.record("\(events)") }
        #expect(scene.status.hasFailed)
        try #require(try Program.run("rm", [directory]).end == .code(0))
        scene.pass(.seconds(10))
        scene.talk(&alice, for: .seconds(1))
        scene.pass(.seconds(1))
        #expect(scene.takeEvents().first == .recovered && !scene.status.hasFailed)
        #expect(try TransmissionLog(directory).entries().count == 1)
        try Program.run("rm", ["-r", directory])
    }

    /// A full disk costs the recordings of that time, and no more.
    @Test(.enabled(if: FullDisk.canBeMade, "needs root rights")) mutating func aFullDiskIsToldOnceAndTriedAgain() throws
    {
        let disk = try FullDisk(kilobytes: 64)
        let scene = try RecorderScene(directory: disk.path)
        scene.talk(&alice, for: .seconds(30))
        scene.pass(.seconds(1))
        var events = scene.takeEvents()
        #expect(events.count { if case .failed = $0 { true } else { false } } == 1, "\(events)")
        // The file ends with a whole page.
        let entry = try #require(try TransmissionLog(disk.path).entries().first)
        let (bytes, file) = (Folder.bytes(of: entry.path), OggFile(path: entry.path))
        #expect(file.pages.last?.end == bytes.count && bytes.count > 30_000)
        #expect(entry.transmission.duration == FrameCount((file.pages.last?.granule ?? 0) - 312).duration())
        try Program.run("rm", [entry.path])
        scene.pass(.seconds(10))
        scene.talk(&alice, for: .seconds(2))
        scene.pass(.seconds(1))
        events = scene.takeEvents()
        #expect(events.first == .recovered && recorded(events).count == 1, "\(events)")
    }

    /// A day of transmissions with a limit of 1.5 MB and of three hours.
    @Test func aDayStaysWithinTheLimits() throws {
        let scene = try RecorderScene(limit: RecordLimit(byteCount: 1_500_000, age: 3 * 3_600))
        scene.folder.write([UInt8](repeating: 0, count: 3_000_000), to: "mine.opus")
        scene.folder.write("old", to: "2020-01-01T00-00-00Z_family_alice.opus")
        scene.folder.write("kept", to: "2020-01-01T00-00-00Z_notes.txt")
        var speakers = [SimulatedSpeaker(1, byteCount: 240), SimulatedSpeaker(2, byteCount: 240)]
        var (largest, oldest, count) = (0, 0, 0)
        for turn in 0..<2_880 {
            // Packets of 60 ms, for 2 to 5 s of each 30 s. Nobody talks from 10 to 16 o'clock.
            let isQuiet = (1_200..<1_900).contains(turn)
            let packetCount = isQuiet ? 0 : 33 + turn % 8 * 8
            for _ in 0..<packetCount {
                var sent = speakers[turn % 2].next()
                sent.payload[0] = 11 << 3
                scene.receive(sent.payload, sent.packet)
                speakers[turn % 2].skip(.milliseconds(40))
                scene.now = scene.now + .milliseconds(60)
            }
            scene.pass(.seconds(30) - .milliseconds(60 * packetCount))
            count += packetCount > 0 ? 1 : 0
            guard turn % 16 == 15 else { continue }
            let sizes = scene.names.map { name -> Int in
                guard let parsed = RecordingName(parsing: name) else { return 0 }
                oldest = max(oldest, scene.seconds - parsed.start)
                return Folder.bytes(of: scene.folder(name)).count
            }
            largest = max(largest, sizes.reduce(0, +))
            #expect(sizes.reduce(0, +) == scene.status.byteCount)
        }
        #expect(largest <= 1_500_000 && largest > 1_400_000, "\(largest)")
        #expect(oldest <= 3 * 3_600 && oldest > 3_500, "\(oldest)")
        #expect(Folder.bytes(of: scene.folder("mine.opus")).count == 3_000_000)
        #expect(Folder.text(of: scene.folder("2020-01-01T00-00-00Z_notes.txt")) == "kept")
        #expect(recorded(scene.takeEvents()).count == count)
    }

    @Test func aClockThatIsNotSetRemovesNothing() throws {
        let scene = try RecorderScene(limit: RecordLimit(byteCount: nil, age: 30 * 86_400))
        let earlier = "2026-11-01T00-00-00Z_family_alice.opus"
        scene.folder.write("kept", to: earlier)
        scene.isClockSet.value.store(false, ordering: .relaxed)
        var speaker = SimulatedSpeaker(1)
        // The directory is read again when a recording begins.
        func talk() {
            scene.talk(&speaker, for: .seconds(2))
            scene.pass(.seconds(70))
        }
        talk()
        scene.leap = 64 * 365 * 86_400
        talk()
        talk()
        #expect(scene.names.contains(earlier))
        scene.isClockSet.value.store(true, ordering: .relaxed)
        talk()
        #expect(!scene.names.contains(earlier))
    }

    /// A machine without a battery for its clock begins in the past, and its clock is set later.
    @Test func whatWasRecordedBeforeTheClockWasSetIsKept() throws {
        let scene = try RecorderScene(limit: RecordLimit(byteCount: nil, age: 86_400))
        var speaker = SimulatedSpeaker(1)
        scene.talk(&speaker, for: .seconds(2))
        scene.pass(.seconds(2))
        let before = scene.names
        #expect(before.count == 1)
        scene.leap = 40 * 86_400
        scene.talk(&speaker, for: .seconds(2))
        scene.pass(.seconds(80_000))
        #expect(scene.names.contains(before[0]))
        scene.pass(.seconds(7_000))
        #expect(!scene.names.contains(before[0]))
    }

    @Test func talkersBeyondTheSixteenthAreReportedOnce() throws {
        let scene = try RecorderScene()
        var speakers = (1...18).map { SimulatedSpeaker(UInt32($0)) }
        for _ in 0..<50 {
            for index in speakers.indices {
                let sent = speakers[index].next()
                scene.receive(sent.payload, sent.packet)
            }
            scene.pass(.milliseconds(20))
        }
        let events = scene.takeEvents()
        #expect(events.count { $0 == .lost(.talkers) } == 1)
        #expect(events.count { if case .began = $0 { true } else { false } } == 16)
    }

    @Test func aLossIsNewsAgainAfterAMinuteWithout() {
        var losses = RecorderLosses()
        let counts: [(RecorderLoss, Int, seconds: Int)] = [
            (.packets, 0, 0), (.packets, 3, 0), (.packets, 4, 50), (.packets, 5, 100), (.hooks, 1, 100),
            (.packets, 5, 200), (.packets, 6, 201),
        ]
        let news = counts.map { losses.isNews($0, count: $1, at: .start + .seconds($2)) }
        #expect(news == [false, true, false, false, true, false, true])
    }

    /// A transmission that is larger than the limit: its newest part is kept.
    @Test func aTransmissionMayNotExceedTheLimit() throws {
        let scene = try RecorderScene(limit: RecordLimit(byteCount: 1_000_000, age: nil))
        var loud = SimulatedSpeaker(1, byteCount: 1_200)
        var largest = 0
        for _ in 0..<60 {
            scene.talk(&loud, for: .seconds(1))
            largest = max(largest, scene.names.reduce(0) { $0 + Folder.bytes(of: scene.folder($1)).count })
        }
        #expect(largest <= 1_010_000 && scene.status.openCount == 1, "\(largest)")
        scene.finish()
        let log = try scene.log()
        #expect(log.count == 1 && log[0].transmission.start > RecorderScene.start + 20)
    }
}

/// A small file system in memory, for a process that may mount one.
private final class FullDisk {
    private let folder = Folder()
    let path: String

    static var canBeMade: Bool { geteuid() == 0 && (try? FullDisk(kilobytes: 64)) != nil }

    init(kilobytes: Int) throws {
        path = folder("disk")
        let isMade = unsafe mkdir(path, 0o700) == 0
        try #require(isMade)
        let mounted = try Program.run("mount", ["-t", "tmpfs", "-o", "size=\(kilobytes)k", "tenfour-test", path])
        guard mounted.end == .code(0) else {
            unsafe rmdir(path)
            throw NotMounted()
        }
    }

    private struct NotMounted: Error {}

    deinit {
        _ = unsafe umount2(path, Int32(MNT_DETACH))
        unsafe rmdir(path)
    }
}
