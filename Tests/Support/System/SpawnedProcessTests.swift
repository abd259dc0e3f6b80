import Glibc
import TestSupport
import Testing

@testable import TenfourSystem

@Suite(.onItsOwnThread) struct SpawnedProcessTests {
    private let folder = Folder()

    /// Runs a script of the shell with its output in a file, and returns how it ended and what it wrote.
    private func run(
        _ script: String, environment: [String]? = nil, hasErrors: Bool = false
    ) throws -> (end: SpawnedProcess.End, text: String) {
        folder.write("", to: "output")
        let output = unsafe open(folder("output"), O_WRONLY | O_CLOEXEC)
        defer { close(output) }
        let process = try SpawnedProcess(
            ["sh", "-c", script], environment: environment, output: output, errors: hasErrors ? output : nil)
        return (process.wait(), Folder.text(of: folder("output")))
    }

    @Test func theEndIsToldAsCodeOrSignal() throws {
        #expect(try run("exit 0").end == .exit(code: 0))
        #expect(try run("exit 7").end == .exit(code: 7))
        #expect(try run("kill -TERM $$").end == .signal(SIGTERM))
    }

    @Test func errorsGoWhereTheyAreWanted() throws {
        let script = "echo told; echo wrong >&2"
        #expect(try run(script).text == "told\n")
        #expect(try run(script, hasErrors: true).text == "told\nwrong\n")
    }

    @Test func theEnvironmentIsOursOrTheGivenOne() throws {
        unsafe setenv("SPAWNED_PROCESS_TEST", "ours", 1)
        defer { unsafe unsetenv("SPAWNED_PROCESS_TEST") }
        let script = "echo \"<$SPAWNED_PROCESS_TEST> <$OTHER>\""
        #expect(try run(script).text == "<ours> <>\n")
        #expect(try run(script, environment: ["OTHER=a b"]).text == "<> <a b>\n")
        #expect(SpawnedProcess.environment.contains("SPAWNED_PROCESS_TEST=ours"))
    }

    @Test func aBlockedOrIgnoredSignalIsNotInherited() throws {
        let old = signal(SIGUSR2, SIG_IGN)
        defer { signal(SIGUSR2, old) }
        #expect(try run("kill -USR2 $$; sleep 1").end == .signal(SIGUSR2))
    }

    @Test func killEndsTheChildrenToo() throws {
        folder.write("", to: "output")
        let process = try SpawnedProcess(
            ["sh", "-c", "sleep 1000 & echo $! > \(folder("new")); mv \(folder("new")) \(folder("id")); wait"],
            output: STDERR_FILENO, errors: nil)
        let deadline = ContinuousClock.now + .seconds(60)
        while Folder.bytes(of: folder("id")).isEmpty, ContinuousClock.now < deadline { usleep(5_000) }
        #expect(process.collect() == nil)
        let child = try #require(Int32(Folder.text(of: folder("id")).dropLast()))
        process.kill()
        #expect(process.wait() == .signal(SIGKILL))
        #expect(process.collect() == .unknown)
        while isRunning(child), ContinuousClock.now < deadline { usleep(5_000) }
        #expect(!isRunning(child))
    }

    /// A child that nobody collects stays as a zombie.
    private func isRunning(_ process: Int32) -> Bool {
        let state = Folder.text(of: "/proc/\(process)/stat").split(separator: ") ").last?.first
        return state != nil && state != "Z" && state != "X"
    }

    @Test func aMissingProgramIsAnError() {
        #expect(throws: SpawnError(code: ENOENT)) {
            try SpawnedProcess([folder("missing")], output: STDERR_FILENO, errors: nil)
        }
    }
}
