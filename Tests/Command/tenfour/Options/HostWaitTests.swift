import Glibc
import TenfourAudioCore
import TenfourRadio
import TestSupport
import Testing

@testable import tenfour

@Suite struct HostWaitTests {
    private static let unknown = {
        var error = RadioError(.unavailable, "no host is called bob.invalid")
        error.isUnknownHost = true
        return error
    }()

    /// Looks up a host that is found by lookup number `number`. Returns the time waited in seconds, and the lines.
    private func find(
        at number: Int, isPatient: Bool = true, limit: Duration? = nil, failure: RadioError = unknown
    ) -> (result: Result<Int, RadioError>, waited: Double, lines: [String]) {
        var (waited, lines, lookups): (Double, [String], Int) = (0, [], 0)
        let wait = HostWait(
            isPatient: isPatient, limit: limit, say: { lines.append($0) },
            clock: { Instant.start + Duration.seconds(waited) }, pause: { waited += $0 / .seconds(1) })
        do throws(RadioError) {
            let found = try wait.find { () throws(RadioError) in
                lookups += 1
                guard lookups >= number else { throw failure }
                return lookups
            }
            return (.success(found), waited, lines)
        } catch {
            return (.failure(error), waited, lines)
        }
    }

    @Test func aKnownHostIsFoundWithoutALine() {
        let (result, waited, lines) = find(at: 1)
        #expect(result == .success(1))
        #expect(waited == 0)
        #expect(lines.isEmpty)
    }

    @Test func anUnknownHostIsLookedUpEachSecondAndReportedOnce() {
        let (result, waited, lines) = find(at: 60)
        #expect(result == .success(60))
        #expect(waited == 59)
        #expect(
            lines == [
                "tenfour: no host is called bob.invalid; waiting until it is found", "tenfour: the host is found now",
            ])
    }

    @Test func withoutWaitTheFirstErrorCounts() {
        let (result, waited, lines) = find(at: 2, isPatient: false)
        #expect(result == .failure(Self.unknown))
        #expect(waited == 0)
        #expect(lines.isEmpty)
    }

    @Test func anotherErrorIsNotWaitedFor() {
        let busy = RadioError(.unavailable, "the port is in use")
        #expect(find(at: 2, failure: busy).result == .failure(busy))
    }

    @Test func theDurationIsTheLimit() {
        let (result, waited, _) = find(at: 100, limit: .seconds(5))
        #expect(result == .failure(Self.unknown))
        #expect(waited == 5)
    }
}

/// Programs that begin before their name server knows the host.
@Suite(.onItsOwnThread, .inRealTime, .enabled(if: NetworkNamespace.isPossible)) struct LateHostTests {
    private let folder = Folder()

    /// Runs `tenfour` with a hosts file of its own.
    private func run(_ arguments: [String]) throws -> Program {
        let path = try Program.path(of: "tenfour")
        let script = "mount --bind hosts /etc/hosts && exec \"$@\""
        return try Program(
            "unshare", ["--mount", "sh", "-c", script, "sh", path] + arguments, in: folder,
            environment: ["XDG_CONFIG_HOME": folder("config")])
    }

    @Test(arguments: [
        ["send", "--wait", "--input", "tone.wav", "rtp://late.example:5004", "-d", "30"],
        ["listen", "family", "-D", "null", "-d", "30"],
    ]) func aHostThatIsFoundLaterIsWaitedFor(arguments: [String]) throws {
        try folder.writeTone()
        folder.write("127.0.0.1 localhost\n", to: "hosts")
        let channel = ["channel", "new", "family", "--relay", "late.example", "--save"]
        let saving = try Program.run("tenfour", channel, environment: ["XDG_CONFIG_HOME": folder("config")])
        #expect(saving.end == .code(0), "\(saving.errors)")
        let program = try run(arguments)
        #expect(program.says("late.example"))
        #expect(program.says("; waiting until it is found"))
        program.wait(.seconds(2)) { !program.isRunning }
        #expect(program.isRunning, "\(program.errors)")
        folder.write("127.0.0.1 localhost late.example\n", to: "hosts")
        #expect(program.says("tenfour: the host is found now"), "\(program.errors)")
        program.send(SIGINT)
        program.wait()
    }
}
