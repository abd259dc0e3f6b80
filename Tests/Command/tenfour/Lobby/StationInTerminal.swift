import Glibc
import TestSupport
import Testing

/// A station that waits, in a terminal of its own.
final class StationInTerminal {
    let port = UDPPort.free()
    let terminal: Terminal
    let home = Folder()
    let program: Program

    init(
        _ name: String, _ options: [String] = [], command: String = "talk", in folder: Folder, hasTerminal: Bool = true,
        environment: [String: String] = [:], on terminal: Terminal = Terminal(columns: 100)
    ) throws {
        self.terminal = terminal
        program = try Program(
            "tenfour",
            [command, "-p", "\(port)", "--name", name, "--input", "long.wav", "-o", "/dev/null"] + options,
            in: folder,
            environment: [
                "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "XDG_CONFIG_HOME": home.path,
                "XDG_STATE_HOME": home.path,
                "XDG_RUNTIME_DIR": home.path,
            ].merging(environment) { $1 }, terminal: hasTerminal ? terminal : nil)
        try #require(program.takes(port: port), "\(terminal.shown)\(program.errors)")
    }

    func type(_ keys: String) { terminal.type(keys) }

    /// Types the address of another station, once this one shows its list.
    func call(_ other: StationInTerminal) { call(port: other.port) }

    func call(port: UInt16) {
        says("q quits")
        type("a")
        says("address: _")
        type("127.0.0.1:\(port)\n")
    }

    @discardableResult
    func says(_ text: String, _ location: SourceLocation = #_sourceLocation) -> Bool {
        let isSaid = program.says(text)
        #expect(isSaid, "\(text) is missing in: \(terminal.shown)\(program.errors)", sourceLocation: location)
        return isSaid
    }

    /// Types q until the program ends: for a second after the other end has hung up, the key does nothing.
    func quits(_ location: SourceLocation = #_sourceLocation) {
        for _ in 0..<40 where program.isRunning {
            type("q")
            program.wait(.milliseconds(500)) { !program.isRunning }
        }
        #expect(program.wait() == .code(0), "\(terminal.shown)", sourceLocation: location)
    }
}
