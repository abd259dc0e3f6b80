import Glibc
import TenfourJSON
import TenfourPushToTalk
import TestSupport
import Testing

/// `tenfour talk` without cards, with a runtime directory of its own, observed through its control socket.
final class TalkSession {
    let program: Program
    let runtime: RuntimeFolder
    private var client: PTTClient?

    /// The time within which the microphone must be closed when a holder has gone.
    static let limit = Duration.milliseconds(500)

    /// Starts the session and waits until its control socket serves it.
    init(
        _ options: [String] = [], in folder: Folder, sending input: [UInt8] = longTone, to port: UInt16 = 9,
        from own: UInt16 = UDPPort.free(),
        terminal: Terminal? = nil,
        runtime: RuntimeFolder = RuntimeFolder()
    ) throws {
        self.runtime = runtime
        folder.write(input, to: "long.wav")
        program = try Program(
            "tenfour",
            ["talk", "127.0.0.1:\(port)", "-p", "\(own)", "--input", "long.wav", "-o", "heard.wav"]
                + options,
            in: folder, environment: ["XDG_RUNTIME_DIR": runtime.path], terminal: terminal)
        let path = runtime.socket(of: program)
        var connected: PTTClient?
        let isThere = program.wait(.seconds(20)) {
            connected = try? PTTClient(connectingTo: path)
            return connected != nil || !program.isRunning
        }
        client = connected
        try #require(isThere && client != nil, "\(terminal?.shown ?? program.errors)")
        let isServed = program.wait(.seconds(20)) { !program.isRunning || (status()?.microphone ?? "none") != "none" }
        try #require(isServed && program.isRunning, "\(terminal?.shown ?? program.errors)")
    }

    /// The state as the control socket tells it; nil if the session has ended.
    func status() -> (microphone: String, holders: String)? {
        guard client?.send(.status) == true, case .json(let json)? = client?.next(within: 10_000),
            case .text(let microphone)? = json.member("microphone"), let holders = json.member("holders")
        else { return nil }
        return (microphone, holders.line)
    }

    /// Sends a request, a line of JSON, and returns the answer. Empty if the session has ended.
    func ask(_ request: String) -> String {
        guard let json = try? JSON(parsing: Array(request.utf8)), client?.send(json) == true,
            case .json(let answer)? = client?.next(within: 10_000)
        else { return "" }
        return answer.line
    }

    /// Waits until the microphone is in this state. A session that has ended counts as closed.
    func becomes(_ state: String, within time: Duration = .seconds(10)) -> Bool {
        program.wait(time) { (status()?.microphone ?? "closed") == state }
    }

    /// Runs `tenfour ptt` with this session.
    func ptt(_ arguments: [String]) throws -> (end: Program.End, output: String, errors: String) {
        try Program.run("tenfour", ["ptt"] + arguments, environment: ["XDG_RUNTIME_DIR": runtime.path])
    }

    /// Starts `tenfour ptt down`, which stays.
    func pttDown() throws -> Program {
        try Program("tenfour", ["ptt", "down"], environment: ["XDG_RUNTIME_DIR": runtime.path])
    }
}

/// A runtime directory, which holds the directory of control sockets.
final class RuntimeFolder {
    private let folder = Folder()

    var path: String { folder.path }

    deinit {
        let sockets = path + "/tenfour"
        for name in Folder.entries(of: sockets) { _ = unsafe unlink("\(sockets)/\(name)") }
        _ = unsafe rmdir(sockets)
    }

    /// `env`, which starts the programs of tests, becomes the program, so that the number of the process is the same.
    func socket(of program: Program) -> String { "\(path)/tenfour/ptt-\(program.processID).sock" }
}
