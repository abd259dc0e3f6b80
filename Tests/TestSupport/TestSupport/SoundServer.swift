import Glibc

/// A web server on this machine that serves the files of a folder. Parts of the path request faults; see
/// Tests/TestSupport/Servers/soundserver.py. It is stopped when the object is released.
///
/// It blocks the thread that starts it, so use it only in tests with their own thread (`.onItsOwnThread`).
public final class SoundServer {
    public let port: Int
    private let program: Program
    private let scheme: String

    /// Starts the server; with `certificate` (and its `key`, both PEM files) it serves https.
    public init(_ folder: Folder, certificate: String? = nil, key: String? = nil) throws {
        scheme = certificate == nil ? "http" : "https"
        let tls = [certificate, key].compactMap(\.self)
        let arguments = [folder.path] + (tls.isEmpty ? [] : ["--tls"] + tls)
        (program, port) = try Self.start("soundserver.py", arguments)
    }

    /// Returns the address of a file. `how` are parts of the path such as `slow=1000`.
    public func address(_ file: String, _ how: String..., host: String = "127.0.0.1") -> String {
        "\(scheme)://\(host):\(port)/" + (how + [file]).joined(separator: "/")
    }

    /// The requests received, one line each: method, path, Range, number of the connection, and other headers.
    public var requests: [[Substring]] {
        program.errors.split(separator: "\n").dropFirst().map { $0.split(separator: " ") }
    }

    /// The byte ranges requested, such as `0-`; empty for a request without a range.
    public var ranges: [String] { requests.map { String($0[2].drop { $0 != "=" }.dropFirst()) } }

    /// Kills the server, so that no request is answered any more.
    public func end() {
        program.send(SIGKILL)
        program.wait()
    }

    fileprivate static func start(_ script: String, _ arguments: [String]) throws -> (Program, port: Int) {
        let server = Repository.path("Tests/TestSupport/Servers/\(script)")
        let program = try Program("python3", ["-B", server] + arguments)
        guard program.says("port "), let line = program.errors.split(separator: "\n").first,
            let port = Int(line.dropFirst("port ".count))
        else { throw MissingProgram(name: "\(script) (\(program.errors))") }
        return (program, port)
    }
}

/// A proxy that speaks HTTP and SOCKS 5 and resolves every name to this machine; see
/// Tests/TestSupport/Servers/proxy.py.
public final class ProxyServer {
    public let port: Int
    private let program: Program

    /// Starts the proxy. `mood` is `refuse`, `silent` or nil.
    public init(_ mood: String? = nil) throws {
        (program, port) = try SoundServer.start("proxy.py", mood.map { [$0] } ?? [])
    }

    /// The requests received: `socks5 NAME`, or `http` and the first line of the request.
    public var requests: [Substring] { Array(program.errors.split(separator: "\n").dropFirst()) }
}
