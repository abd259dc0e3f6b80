import Glibc

/// A child process. Its output is kept, and it is killed if it does not end in time.
///
/// It blocks the calling thread while it waits, so use it only in tests with their own thread (`.onItsOwnThread`).
@safe public final class Program {
    public let name: String

    private let child: ChildProcess
    private var end: End?
    private let folder: Folder?
    private let terminal: Terminal?

    public enum End: Equatable, Sendable {
        case code(Int32)
        case signal(Int32)
        /// The process did not end in time and was killed.
        case killed
    }

    public enum Stream {
        /// Input comes from `/dev/null`; output is kept in a file.
        case own
        /// An open file, such as one end of a `Pipe`. The caller still owns it.
        case descriptor(Int32)
    }

    /// Starts a program of this package by the name of its product, or a program in the PATH.
    ///
    /// If a `terminal` is given, it serves as all three streams and is the controlling terminal of the process.
    public init(
        _ name: String, _ arguments: [String], in folder: Folder? = nil, environment: [String: String] = [:],
        input: Stream = .own, output: Stream = .own, terminal: Terminal? = nil
    ) throws {
        self.name = name
        self.terminal = terminal
        let streams = Folder()
        self.folder = streams
        child = try ChildProcess(
            Spawning(name, arguments, in: folder, environment).spawn(
                input: input, output: output, errors: streams("errors"), keepingOutputIn: streams("output"),
                terminal: terminal?.device))
    }

    deinit {
        child.send(SIGKILL)
        child.waitForEnd()
    }

    public var processID: Int32 { child.process }

    /// The arguments, which every user of the machine can see, and the environment, which only the process's own user
    /// can see.
    public var shownArguments: String { Folder.text(of: "/proc/\(child.process)/cmdline") }
    public var shownEnvironment: String { Folder.text(of: "/proc/\(child.process)/environ") }

    /// The output written so far.
    public var output: [UInt8] { folder.map { Folder.bytes(of: $0("output")) } ?? [] }
    public var outputText: String { String(decoding: output, as: UTF8.self) }
    public var errors: String { folder.map { Folder.text(of: $0("errors")) } ?? "" }

    public var isRunning: Bool {
        reap()
        return end == nil
    }

    public func send(_ signal: Int32) { child.send(signal) }

    /// Waits for the process to end. A child that still runs after `time` is killed.
    @discardableResult
    public func wait(_ time: Duration = .seconds(60)) -> End {
        if !wait(time, until: { !isRunning }) {
            child.send(SIGKILL)
            wait(.seconds(10)) { !isRunning }
            end = .killed
        }
        return end ?? .killed
    }

    /// Waits for `text` on the standard error or on the terminal. Returns false if it does not appear in time or the
    /// process ends without it.
    public func says(_ text: String, within time: Duration = .seconds(60)) -> Bool {
        func hasSaid() -> Bool {
            guard let terminal else { return errors.contains(text) }
            return terminal.shown.contains(text) || terminal.inOneLine.contains(text)
        }
        return wait(time) { hasSaid() || !isRunning } && hasSaid()
    }

    /// Waits until a UDP port of this machine is bound. Returns false if it is not bound in time, or the program ends
    /// before.
    public func takes(port: UInt16, within time: Duration = .seconds(60)) -> Bool {
        wait(time) { UDPPort.isBound(port) || !isRunning } && UDPPort.isBound(port)
    }

    @discardableResult
    public func wait(_ time: Duration, until isThere: () -> Bool) -> Bool {
        let deadline = ContinuousClock.now + time
        while true {
            terminal?.read()
            if isThere() { return true }
            if ContinuousClock.now > deadline { return false }
            usleep(10_000)
        }
    }

    private func reap() {
        guard end == nil else { return }
        guard let ended = child.end else { return }
        terminal?.read()
        end = ended
    }

    /// The PATH for a shell, with the programs of this package first.
    public static var searchPath: String { "\(Spawning.ownFolder):\(Spawning.inherited["PATH"] ?? "/usr/bin:/bin")" }

    /// Whether an environment variable of the test process is set and not empty. Children do not inherit the
    /// variables of `tenfour`.
    public static func isSet(_ variable: String) -> Bool { !(Spawning.inherited[variable] ?? "").isEmpty }

    /// Returns the path of a program of this package, or of one in the PATH.
    public static func path(of name: String) throws -> String { try Spawning.find(name) }

    /// Returns the value that an environment variable had when the tests began.
    public static func environment(_ variable: String) -> String? { Spawning.inherited[variable] }

    /// Runs a program to its end and returns its output.
    @discardableResult
    public static func run(
        _ name: String, _ arguments: [String], in folder: Folder? = nil, environment: [String: String] = [:],
        for time: Duration = .seconds(300)
    ) throws -> (end: End, output: String, errors: String) {
        let program = try Program(name, arguments, in: folder, environment: environment)
        let end = program.wait(time)
        return (end, program.outputText, program.errors)
    }
}

/// A program that a test needs and that is not installed.
public struct MissingProgram: Error, CustomStringConvertible {
    public var name: String
    public var description: String { "\(name) is missing: apt-get install \(Self.packages[name] ?? name)" }

    private static let packages = [
        "gst-launch-1.0": "gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good",
        "arecord": "alsa-utils", "aplay": "alsa-utils", "soxi": "sox",
        "cvlc": "vlc-bin vlc-plugin-base", "opusinfo": "opus-tools",
    ]
}
