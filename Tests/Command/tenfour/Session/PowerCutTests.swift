import Glibc
import TenfourAudioCore
import TenfourTransmissions
import TestSupport
import Testing

/// A power cut leaves the recordings that were on the disk. While they are made, the content of the disk is copied at random
/// instants, and the copies are mounted as after a restart.
@Suite(.onItsOwnThread, .inRealTime) struct PowerCutTests {
    private let folder = Folder()
    private let port = UDPPort.free()
    private static let cutCount = Program.isSet("TENFOUR_LONG") ? 20 : 4

    /// The recordings that programs could read on the disk at an instant.
    private struct Sight {
        var time: ContinuousClock.Instant
        var recordings: [TransmissionLog.Entry]
        /// The length of the file of `-o`, in bytes.
        var byteCount: Int

        init(_ disk: LoopDisk) {
            time = .now
            recordings = (try? TransmissionLog(disk("radio")).entries()) ?? []
            let bytes = Folder.bytes(of: disk("heard.wav"))
            // Players read what the header states, or up to the end of the file.
            let stated = bytes.count < 44 ? 0 : (40..<44).reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) }
            byteCount = min(stated, bytes.count - 44)
        }

        func recordings(of talker: String) -> [TransmissionLog.Entry] {
            recordings.filter { $0.transmission.talker == talker }
        }
    }

    private func send(_ name: String, seconds: Int) throws -> Program {
        try Program(
            "tenfour", ["send", "--input", "tone.wav", "--name", name, "-d", "\(seconds)", "rtp://127.0.0.1:\(port)"],
            in: folder)
    }

    @Test(.enabled(if: LoopDisk.canBeMade, "needs root rights, ext4 and loop devices"))
    func whatIsCompleteStaysAndWhatIsOpenLosesLessThanFiveSeconds() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 20)]).wav(), to: "tone.wav")
        let disk = try LoopDisk()
        let receiver = try Program(
            "tenfour", ["recv", "-p", "\(port)", "-o", disk("heard.wav"), "--record", disk("radio")], in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        // Bob talks for long, and Alice for two seconds at a time.
        var bob = try send("bob", seconds: 15)
        var alice: Program?
        var aliceEnd: ContinuousClock.Instant? = .now
        var sights: [Sight] = []
        var cut = ContinuousClock.now + .seconds(6)
        var cuts = 0
        while cuts < Self.cutCount {
            usleep(50_000)
            sights.append(Sight(disk))
            if let end = aliceEnd {
                if .now - end > .milliseconds(1_300) { (alice, aliceEnd) = (try send("alice", seconds: 2), nil) }
            } else if alice?.isRunning == false {
                aliceEnd = .now
            }
            if !bob.isRunning { bob = try send("bob", seconds: 15) }
            guard .now >= cut else { continue }
            let (time, copy) = try disk.copied()
            expect(Sight(copy), after: sights, at: time)
            cuts += 1
            cut = .now + .milliseconds(Int.random(in: 800...3_000))
        }
        #expect(receiver.isRunning, "\(receiver.errors)")
        receiver.send(SIGTERM)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        // All is complete, at once.
        let (last, left) = (Sight(disk), Sight(try disk.copied().copy))
        #expect(left.byteCount == last.byteCount && left.byteCount > 500_000)
        #expect(left.recordings.map(\.transmission) == last.recordings.map(\.transmission))
        #expect(left.recordings.allSatisfy(\.isComplete) && left.recordings(of: "alice").count >= 2)
    }

    /// Expects what a power cut at `time` may not take of what was seen before.
    private func expect(_ left: Sight, after sights: [Sight], at time: ContinuousClock.Instant) {
        guard let before = sights.last(where: { time - $0.time >= .seconds(1) }),
            let earlier = sights.last(where: { time - $0.time >= .seconds(5) })
        else { return }
        for entry in before.recordings where entry.isComplete {
            let kept = left.recordings.first { $0.transmission == entry.transmission }
            #expect(kept?.isComplete == true, "\(entry) is not in \(left.recordings)")
        }
        #expect(left.byteCount >= earlier.byteCount, "of -o")
        // The audio of a recording that was begun at least five seconds before reaches to five seconds before the cut.
        for start in Set(earlier.recordings.map(\.transmission.start)) {
            let first = sights.first { $0.recordings.contains { $0.transmission.start == start } }
            guard let first, let open = before.recordings.last(where: { $0.transmission.start == start }),
                !open.isComplete
            else { continue }
            let kept = left.recordings.last { $0.transmission.start == start }?.transmission.duration ?? .zero
            #expect(kept >= time - first.time - .seconds(5), "\(kept) of \(time - first.time)")
        }
    }
}

/// A small ext4 file system in a file, on a loop device, for a process that may mount one.
private final class LoopDisk {
    private let folder = Folder()
    private let image: String
    private let mounted: String

    static let canBeMade = geteuid() == 0 && (try? LoopDisk()) != nil

    /// Makes an empty disk.
    convenience init() throws {
        try self.init { image in
            let file = unsafe open(image, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            let isLarge = ftruncate(file, 32 << 20) == 0
            close(file)
            let options = ["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", image]
            guard isLarge, try Program.run("mkfs.ext4", options).end == .code(0) else { throw NotMounted() }
        }
    }

    /// Mounts the file that `make` writes.
    private init(_ make: (String) throws -> Void) throws {
        (image, mounted) = (folder("image"), folder("disk"))
        try make(image)
        guard unsafe mkdir(mounted, 0o700) == 0 else { throw NotMounted() }
        let result = try Program.run("mount", ["-t", "ext4", "-o", "loop", image, mounted])
        guard result.end == .code(0) else {
            unsafe rmdir(mounted)
            throw NotMounted()
        }
    }

    private struct NotMounted: Error {}

    deinit {
        _ = unsafe umount2(mounted, Int32(MNT_DETACH))
        unsafe rmdir(mounted)
    }

    func callAsFunction(_ name: String) -> String { "\(mounted)/\(name)" }

    /// Mounts a copy of all that has reached the disk; it sees nothing of what waits in memory. Returns it and its instant.
    func copied() throws -> (time: ContinuousClock.Instant, copy: LoopDisk) {
        for _ in 0..<100 {
            // If two copies are equal, nothing was written from the first byte of one to the last of the other.
            let (time, bytes) = (ContinuousClock.now, Folder.bytes(of: image))
            guard bytes == Folder.bytes(of: image) else { continue }
            return (time, try LoopDisk { copy in Folder.write(bytes, toPath: copy) })
        }
        throw NotMounted()
    }
}

extension Folder {
    fileprivate static func write(_ bytes: [UInt8], toPath path: String) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes.span.extracting(start...).withUnsafeBytes {
                unsafe Glibc.write(file, $0.baseAddress, $0.count)
            }
            precondition(count > 0, "the copy of a disk can be written")
            start += count
        }
        close(file)
    }
}
