import Glibc

/// A session bus of its own, by `dbus-run-session`; it ends when the object is released.
///
/// It blocks the thread that starts it, so use it only in tests with their own thread (`.onItsOwnThread`).
public final class SessionBus {
    /// The address of the bus in D-Bus's notation.
    public let address: String
    private let program: Program
    private let end = Pipe()

    public init() throws {
        // The shell's last command ends with its standard input, and the bus ends with the command.
        program = try Program(
            "dbus-run-session", ["--", "sh", "-c", "echo address $DBUS_SESSION_BUS_ADDRESS >&2; exec cat"],
            input: .descriptor(end.output))
        end.closeOutput()
        guard program.says("address "),
            let line = program.errors.split(separator: "\n").first(where: { $0.hasPrefix("address ") })
        else { throw MissingProgram(name: "dbus-run-session (\(program.errors))") }
        address = String(line.dropFirst("address ".count))
    }

    deinit { stop() }

    /// Ends the bus and all its connections.
    public func stop() {
        end.closeInput()
        program.wait(.seconds(20))
    }

    /// The environment that makes a program use this bus.
    public var environment: [String: String] { ["DBUS_SESSION_BUS_ADDRESS": address] }

    /// Runs `playerctl` for the players of this program, and returns what it prints without the end of the line; nil
    /// if it fails.
    public func playerctl(_ arguments: String...) throws -> String? {
        let run = try Program.run("playerctl", ["--player=tenfour"] + arguments, environment: environment)
        guard run.end == .code(0) else { return nil }
        return run.output.hasSuffix("\n") ? String(run.output.dropLast()) : run.output
    }

    /// Waits until `playerctl` prints what `isRight` accepts. Returns false if it does not in time.
    public func playerctl(
        _ arguments: String..., within time: Duration = .seconds(60), until isRight: (String) -> Bool
    ) throws -> Bool {
        let deadline = ContinuousClock.now + time
        while true {
            let run = try Program.run("playerctl", ["--player=tenfour"] + arguments, environment: environment)
            if run.end == .code(0), isRight(run.output.split(separator: "\n").first.map(String.init) ?? "") {
                return true
            }
            if ContinuousClock.now > deadline { return false }
            usleep(50_000)
        }
    }
}
