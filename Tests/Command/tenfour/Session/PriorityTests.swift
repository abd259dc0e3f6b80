import Glibc
import TestSupport
import Testing

/// Real-time priority for users without privileges, with a private message bus. ALSA's `null` device is the card.
@Suite(.onItsOwnThread) struct PriorityTests {
    private let port = UDPPort.free()
    private let user = OrdinaryUser()

    private func receive(on bus: String) throws -> Program {
        let program = try user.start(
            "tenfour", ["recv", "-D", "null", "-p", "\(port)"], environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus])
        try #require(program.says("Ctrl-C ends it"), "\(program.errors)")
        return program
    }

    /// Returns the kernel's scheduling policy of a thread (`/proc/PID/task/TID/stat`): 0 is SCHED_OTHER, 2 is
    /// SCHED_RR.
    private func policy(of thread: String, in program: Program) -> Int? {
        let tasks = "/proc/\(program.processID)/task"
        for task in Folder.entries(of: tasks) where Folder.text(of: "\(tasks)/\(task)/comm") == thread + "\n" {
            let fields = Folder.text(of: "\(tasks)/\(task)/stat").split(separator: ")").last?.split(separator: " ")
            return fields.flatMap { $0.count > 38 ? Int($0[38]) : nil }
        }
        return nil
    }

    /// Needs root, because the mock sets priorities as RealtimeKit does. Meanwhile the process is not dumpable.
    @Test(.needsRoot) func realtimeKitGrantsWhatTheKernelDoesNot() throws {
        let mock = try MockRealtimeKit(.grant)
        let program = try receive(on: mock.address)
        program.wait(.seconds(30)) { policy(of: "tf-audio-play", in: program) == 2 }
        #expect(policy(of: "tf-audio-play", in: program) == 2)
        let limits = Folder.text(of: "/proc/\(program.processID)/limits").split(separator: "\n")
        let timeout = try #require(limits.first { $0.hasPrefix("Max realtime timeout") }).split(separator: " ")
        #expect(timeout[3] == "100000" && timeout[4] == "200000", "\(timeout)")
        program.send(SIGINT)
        #expect(program.wait() == .code(0))
        #expect(!program.errors.contains("real-time"), "\(program.errors)")
    }

    @Test(arguments: [
        (MockRealtimeKit.Mood.none, "it is not installed): install and start rtkit, or put '@audio - rtprio"),
        (.deny, "it refused): log in at"), (.hang, "it did not answer): restart rtkit-daemon, or put"),
    ]) func aDenialIsReportedOnceWithTheRemedy(mood: MockRealtimeKit.Mood, remedy: String) throws {
        let mock = try MockRealtimeKit(mood)
        let program = try receive(on: mock.address)
        #expect(program.says(remedy), "\(program.errors)")
        usleep(500_000)
        program.send(SIGINT)
        #expect(program.wait() == .code(0))
        #expect(program.errors.split(separator: "no real-time priority").count == 2, "\(program.errors)")
    }

    /// Without a card there is no notice, since a late thread is not audible.
    @Test func withoutACardNothingIsReported() throws {
        let program = try user.start(
            "tenfour", ["recv", "-o", "/dev/null", "-p", "\(port)", "-d", "1s"],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"])
        #expect(program.wait() == .code(0), "\(program.errors)")
        #expect(!program.errors.contains("real-time"), "\(program.errors)")
    }
}
