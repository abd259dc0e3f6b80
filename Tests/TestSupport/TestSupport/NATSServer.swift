import Glibc
import Testing

/// A real nats-server on a loopback port.
public final class NATSServer {
    public let port: UInt16
    private var program: Program?

    /// Starts the server with more `arguments`, such as `--user`.
    public init(_ arguments: String..., port: UInt16 = UDPPort.free()) throws {
        self.port = port
        try start(arguments)
    }

    /// Starts the server again, at the same port.
    public func start(_ arguments: [String] = []) throws {
        let program = try Program("nats-server", ["-a", "127.0.0.1", "-p", "\(port)"] + arguments)
        self.program = program
        try #require(program.says("Server is ready"), "\(program.errors)")
    }

    /// The server's log.
    public var log: String { program?.errors ?? "" }

    public func send(_ signal: Int32) { program?.send(signal) }

    /// Kills the server without an orderly end.
    public func kill() {
        program?.send(SIGKILL)
        program?.wait()
        program = nil
    }
}
