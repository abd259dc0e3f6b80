import Glibc

/// A Python program of Tests/TestSupport/Servers that obeys commands on its standard input, and answers each with
/// `done` and the command; it ends when the object is released.
///
/// It blocks the thread that starts it, so use it only in tests with their own thread (`.onItsOwnThread`).
public final class ScriptedServer {
    private let program: Program
    private let commands = Pipe()
    private let folder = Folder()

    /// Starts the program, and waits until it prints `ready`. Its arguments are `arguments` and a folder of its own.
    public init(_ name: String, _ arguments: [String] = [], ready: String) throws {
        let server = Repository.path("Tests/TestSupport/Servers/\(name)")
        // Debian's own python3 has the required modules.
        program = try Program(
            "env", ["/usr/bin/python3", "-B", server] + arguments + [folder.path], input: .descriptor(commands.output))
        commands.closeOutput()
        guard program.says(ready) else { throw MissingProgram(name: "\(name): \(program.errors)") }
    }

    /// Returns the path of a file in the folder.
    public func path(_ name: String) -> String { folder(name) }

    /// Sends a command, and waits until it is done. Returns false if it is not done in time.
    @discardableResult
    public func send(_ command: String) -> Bool {
        let count = doneCount(command)
        let line = Array("\(command)\n".utf8)
        guard unsafe line.withUnsafeBytes({ unsafe write(commands.input, $0.baseAddress, $0.count) }) == line.count
        else { return false }
        return program.wait(.seconds(30)) { doneCount(command) > count }
    }

    /// The lines that it has printed so far.
    public var lines: [Substring] { program.errors.split(separator: "\n") }

    /// Waits for a condition, and returns whether it came true.
    public func wait(_ time: Duration = .seconds(60), until isTrue: () -> Bool) -> Bool {
        program.wait(time, until: isTrue)
    }

    private func doneCount(_ command: String) -> Int { lines.count { $0 == "done \(command)" } }
}
