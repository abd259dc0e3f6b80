import Glibc
import TenfourAudioCore
import TestSupport
import Testing

@testable import TenfourTransmissions

@Suite(.onItsOwnThread) struct HookTests {
    private let folder = Folder()
    private let transmission = Transmission(
        start: RecorderScene.start, channel: "family", talker: "$(touch owned) \"a\0b", duration: .milliseconds(12_340),
        lossShare: 0.0125, score: 4.213)

    /// Writes a script and returns a hook that runs it with one argument of its own. The shell reads the script: the kernel
    /// would not run a file that a child of another thread still holds open for writing (ETXTBSY).
    private func hook(_ script: String) -> RecordingHook {
        folder.write(script, to: "hook")
        return RecordingHook(arguments: ["/bin/sh", folder("hook"), "own argument"])
    }

    /// Polls until nothing runs any more. Time does not pass for the runner.
    private func finish(_ runner: inout HookRunner, at now: Instant = .start, within time: Duration = .seconds(60)) {
        let deadline = ContinuousClock.now + time
        repeat {
            _ = runner.poll(at: now)
            usleep(5_000)
        } while runner.isBusy && ContinuousClock.now < deadline
    }

    @Test func theHookLearnsEverythingWithoutAShell() throws {
        let hook = hook("cd \(folder.path)\n{ printf '<%s>' \"$@\"; env; } > told.$2\n")
        var runner = HookRunner()
        unsafe setenv("TENFOUR_LINK_OF_A_TEST", "secret", 1)
        defer { unsafe unsetenv("TENFOUR_LINK_OF_A_TEST") }
        for event in [RecordingHook.Event.start, .end] {
            runner.add(RecordingHook.Run(hook, event, transmission, path: "/r/a b.opus"))
        }
        finish(&runner)
        let (start, end) = (Folder.text(of: folder("told.start")), Folder.text(of: folder("told.end")))
        #expect(start.hasPrefix("<own argument><start></r/a b.opus>") && !start.contains("TRANSMISSION_SCORE"))
        #expect(end.hasPrefix("<own argument><end></r/a b.opus>"))
        for line in [
            "TRANSMISSION_EVENT=end", "TRANSMISSION_FILE=/r/a b.opus", "TRANSMISSION_CHANNEL=family",
            "TRANSMISSION_TALKER=$(touch owned) \"ab", "TRANSMISSION_START=2026-11-22T10:03:17Z",
            "TRANSMISSION_SECONDS=12.34", "TRANSMISSION_LOSS=1.25", "TRANSMISSION_SCORE=4.21",
        ] {
            #expect(end.split(separator: "\n").contains { $0.hasSuffix(line) }, "\(line) in \(end)")
        }
        #expect(end.contains("PATH=") && !end.contains("TENFOUR_"))
        #expect(Folder.bytes(of: folder("owned")).isEmpty)
    }

    @Test func theHookHasNoDescriptorOfOurs() throws {
        let kept = unsafe open("/dev/null", O_RDONLY)
        defer { close(kept) }
        let hook = hook("ls /proc/self/fd > \(folder("files")); readlink /proc/self/fd/0 >> \(folder("files"))\n")
        var runner = HookRunner()
        runner.add(RecordingHook.Run(hook, .start, transmission, path: "/r"))
        finish(&runner)
        // ls opens 3 itself.
        let words = Folder.text(of: folder("files")).split(separator: "\n")
        #expect(words == ["0", "1", "2", "3", "/dev/null"], "\(words)")
    }

    @Test func fewRunAtOnceAndMoreWait() throws {
        let hook = hook("echo >> \(folder("begun"))\nwhile [ ! -e \(folder("go")) ]; do sleep 0.01; done\n")
        var runner = HookRunner()
        for _ in 0..<100 { runner.add(RecordingHook.Run(hook, .start, transmission, path: "/r")) }
        #expect(runner.droppedCount == 36)
        _ = runner.poll(at: .start)
        let deadline = ContinuousClock.now + .seconds(60)
        while Folder.bytes(of: folder("begun")).count < 4, ContinuousClock.now < deadline { usleep(5_000) }
        for _ in 0..<20 {
            _ = runner.poll(at: .start)
            usleep(5_000)
        }
        #expect(runner.startedCount == 4 && Folder.bytes(of: folder("begun")).count == 4)
        folder.write("", to: "go")
        finish(&runner)
        #expect(runner.startedCount == 64 && Folder.bytes(of: folder("begun")).count == 64)
    }

    /// The hook and its child ignore requests to end, and are killed after ten seconds.
    @Test func aHookThatHangsIsKilledWithItsChildren() throws {
        let hook = hook(
            "trap '' TERM INT HUP\nsleep 1000 &\necho $$ $! > \(folder("new"))\nmv \(folder("new")) \(folder("ids"))\nwait\n"
        )
        var runner = HookRunner()
        runner.add(RecordingHook.Run(hook, .start, transmission, path: "/r"))
        _ = runner.poll(at: .start)
        let deadline = ContinuousClock.now + .seconds(60)
        while Folder.bytes(of: folder("ids")).isEmpty, ContinuousClock.now < deadline { usleep(5_000) }
        let ids = Folder.text(of: folder("ids")).split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
        try #require(ids.count == 2)
        _ = runner.poll(at: .start + .milliseconds(9_999))
        #expect(runner.isBusy && kill(ids[0], 0) == 0 && kill(ids[1], 0) == 0)
        finish(&runner, at: .start + .seconds(10))
        let isBusy = runner.isBusy
        #expect(!isBusy)
        while ids.contains(where: isRunning), ContinuousClock.now < deadline { usleep(5_000) }
        #expect(!ids.contains(where: isRunning))
    }

    /// Whether a process exists that has not ended. A child that nobody collects stays as a zombie.
    private func isRunning(_ process: Int32) -> Bool {
        let state = Folder.text(of: "/proc/\(process)/stat").split(separator: ") ").last?.first
        return state != nil && state != "Z" && state != "X"
    }

    @Test func aHookThatDoesNotExistIsToldOnce() throws {
        let scene = try RecorderScene(hook: RecordingHook(arguments: [folder("missing")]))
        var alice = SimulatedSpeaker(1)
        for _ in 0..<3 {
            scene.talk(&alice, for: .seconds(1))
            scene.pass(.seconds(2))
        }
        let failures = scene.takeEvents().compactMap { if case .hookFailed(let text) = $0 { text } else { nil } }
        #expect(failures.count == 1 && failures[0].contains("No such file") && failures[0].contains("--record-hook"))
    }

    @Test func aRecordingRunsTheHookAtItsStartAndItsEnd() throws {
        let hook = hook("test -s \"$TRANSMISSION_FILE\" && echo $2 $TRANSMISSION_SECONDS >> \(folder("told"))\n")
        let scene = try RecorderScene(hook: hook)
        var alice = SimulatedSpeaker(1)
        scene.talk(&alice, for: .milliseconds(200))
        let deadline = ContinuousClock.now + .seconds(60)
        while Folder.text(of: folder("told")) != "start\n", ContinuousClock.now < deadline { usleep(5_000) }
        scene.talk(&alice, for: .milliseconds(800))
        scene.finish()
        #expect(Folder.text(of: folder("told")) == "start\nend 0.99\n")
    }
}
