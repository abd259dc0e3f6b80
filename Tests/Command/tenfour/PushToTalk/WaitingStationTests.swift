import Glibc
import TestSupport
import Testing

/// A station while no session runs: it waits for a call, a card or a name.
@Suite(.onItsOwnThread, .inRealTime) struct WaitingStationTests {
    private let folder = Folder()
    private let runtime = RuntimeFolder()

    private var environment: [String: String] {
        [
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "XDG_CONFIG_HOME": folder.path,
            "XDG_RUNTIME_DIR": runtime.path,
        ]
    }

    private func radio(_ configuration: String, runtime: String? = nil) throws -> Program {
        folder.write(configuration, to: "radio.conf")
        return try Program(
            "tenfour", ["radio", "--config", "radio.conf"], in: folder,
            environment: environment.merging(runtime.map { ["XDG_RUNTIME_DIR": $0] } ?? [:]) { $1 })
    }

    private func ptt(_ command: String) throws -> (end: Program.End, output: String, errors: String) {
        try Program.run("tenfour", ["ptt", command], environment: environment)
    }

    /// Waits until `tenfour ptt status` begins like this.
    private func status(becomes text: String, of program: Program) -> Bool {
        program.wait(.seconds(20)) { (try? ptt("status").output.hasPrefix(text)) == true }
    }

    @Test func inTheListOfStationsSignalsDoNoHarmAndTheSocketAnswers() throws {
        let port = UDPPort.free()
        let terminal = Terminal()
        let talk = try Program(
            "tenfour", ["talk", "-p", "\(port)"], in: folder, environment: environment, terminal: terminal)
        try #require(talk.says("q quits"), "\(terminal.shown)")
        for number in [SIGUSR1, SIGUSR2, SIGUSR1] { talk.send(number) }
        #expect(try ptt("status").output == "no session runs now: waiting for calls\n", "\(terminal.shown)")
        let down = try ptt("down")
        #expect(down.end == .code(69) && down.errors == "tenfour: no session runs now: waiting for calls\n")
        terminal.type("q")
        #expect(talk.wait() == .code(0), "\(terminal.shown)")
        #expect(unsafe access(runtime.socket(of: talk), F_OK) != 0, "the socket is removed")
    }

    @Test func withoutACardSignalsDoNoHarmAndTheSocketAnswers() throws {
        let radio = try radio("talk = 127.0.0.1:9\nport = \(UDPPort.free())\ndevice = notthere\n")
        try #require(radio.says("trying again in 1 s"), "\(radio.errors)")
        for number in [SIGUSR1, SIGUSR2] { radio.send(number) }
        #expect(status(becomes: "no session runs now: no sound card named 'notthere'", of: radio), "\(radio.errors)")
        radio.send(SIGTERM)
        #expect(radio.wait() == .code(0), "\(radio.errors)")
    }

    /// The socket stays from one call to the next.
    @Test func aCallIsASessionOfTheSameSocket() throws {
        let port = UDPPort.free()
        folder.write(longTone, to: "long.wav")
        let radio = try radio(
            """
            port = \(port)
            input = long.wav
            output = /dev/null
            [stations]
            auto-answer = yes
            """)
        try #require(radio.takes(port: port), "\(radio.errors)")
        #expect(status(becomes: "no session runs now: waiting for calls", of: radio), "\(radio.errors)")
        let home = Folder()
        let terminal = Terminal(columns: 100)
        let bob = try Program(
            "tenfour", ["talk", "-p", "\(UDPPort.free())", "--input", "long.wav", "-o", "/dev/null"], in: folder,
            environment: environment.merging(["XDG_RUNTIME_DIR": home.path]) { $1 }, terminal: terminal)
        for _ in 0..<2 {
            #expect(bob.wait(.seconds(20)) { terminal.lines.last?.contains("q quits") == true }, "\(terminal.shown)")
            terminal.type("a")
            #expect(bob.wait(.seconds(20)) { terminal.lines.last?.contains("address: _") == true }, "\(terminal.shown)")
            terminal.type("127.0.0.1:\(port)\n")
            #expect(status(becomes: "closed", of: radio), "\(radio.errors)")
            #expect(try ptt("toggle").end == .code(0))
            #expect(status(becomes: "open, held by a toggle or --open", of: radio), "\(radio.errors)")
            #expect(bob.wait(.seconds(20)) { terminal.lines.last?.contains("closed") == true }, "\(terminal.shown)")
            terminal.type("q")
            #expect(status(becomes: "no session runs now: waiting for calls", of: radio), "\(radio.errors)")
        }
        radio.send(SIGTERM)
        #expect(radio.wait() == .code(0), "\(radio.errors)")
    }

    @Test func withoutASessionMetricsAreServed() throws {
        let port = UDPPort.free()
        let radio = try radio(
            "talk = 127.0.0.1:9\nport = \(UDPPort.free())\ndevice = notthere\nmetrics = \(port)\n")
        try #require(radio.says("trying again in 1 s"), "\(radio.errors)")
        let health = HTTPExchange.get("/healthz", port: port)
        #expect(health.status == 200 && health.text == "ok\n")
        #expect(HTTPExchange.get("/metrics", port: port).text.contains("tenfour_build_info"))
        radio.send(SIGTERM)
        #expect(radio.wait() == .code(0), "\(radio.errors)")
    }

    /// The socket may be the only key of a station without a terminal.
    @Test func aServiceWithoutASocketWarns() throws {
        folder.write(longTone, to: "long.wav")
        let radio = try radio(
            "talk = 127.0.0.1:9\nport = \(UDPPort.free())\ninput = long.wav\noutput = heard.wav\n", runtime: "/nowhere")
        #expect(
            radio.says("tenfour ptt cannot reach this station: cannot make the directory /nowhere/tenfour"),
            "\(radio.errors)")
        #expect(radio.says("the microphone is closed, and there is no keyboard to open it: start with --open\n"))
        radio.send(SIGTERM)
        #expect(radio.wait() == .code(0), "\(radio.errors)")
    }
}
