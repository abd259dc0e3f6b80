import Glibc
import Testing

/// A real icecast2 on a loopback port, with the source password `hackme`.
public final class IcecastServer {
    public let port: UInt16
    private let folder = Folder()
    private var program: Program?

    /// With `certificate`, the path of a certificate and its key, it accepts only encrypted connections.
    public init(port: UInt16 = UDPPort.free(), certificate: String? = nil) throws {
        self.port = port
        // A server that is started by root gives up its rights, and writes its log to standard error.
        folder.write(
            """
            <icecast>
            <limits><sources>4</sources><burst-size>0</burst-size></limits>
            <authentication><source-password>hackme</source-password><admin-user>admin</admin-user>\
            <admin-password>\(port)</admin-password></authentication>
            <hostname>localhost</hostname><location>here</location><admin>none@localhost</admin>
            <listen-socket><port>\(port)</port><bind-address>127.0.0.1</bind-address>\
            <ssl>\(certificate == nil ? 0 : 1)</ssl></listen-socket>
            <fileserve>0</fileserve>
            <paths><basedir>/usr/share/icecast2</basedir><logdir>\(folder.path)</logdir>\
            <ssl-certificate>\(certificate ?? "")</ssl-certificate>\
            <webroot>/usr/share/icecast2/web</webroot><adminroot>/usr/share/icecast2/admin</adminroot></paths>
            <logging><accesslog>-</accesslog><errorlog>-</errorlog><loglevel>3</loglevel></logging>
            <security><chroot>0</chroot><changeowner><user>nobody</user><group>nogroup</group></changeowner></security>
            </icecast>
            """, to: "icecast.xml")
        try start()
    }

    public func start() throws {
        let program = try Program("icecast2", ["-c", folder("icecast.xml")])
        self.program = program
        let isOpen = program.wait(.seconds(20)) { TCPPort.isListening(port) || !program.isRunning }
        try #require(isOpen && program.isRunning, "\(program.errors)\(program.outputText)")
    }

    /// Kills the server without an orderly end.
    public func kill() {
        program?.send(SIGKILL)
        program?.wait()
        program = nil
    }

    public func url(_ mount: String) -> String { "http://127.0.0.1:\(port)\(mount)" }
}

/// TCP ports on loopback, for tests.
public enum TCPPort {
    /// Whether a program listens at the port, by the kernel's socket table; connecting would be an event for it.
    public static func isListening(_ port: UInt16) -> Bool {
        let digits = String(port, radix: 16, uppercase: true)
        let ending = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        return Folder.text(of: "/proc/net/tcp").split(separator: "\n").contains { line in
            let columns = line.split(separator: " ", maxSplits: 4)
            return columns.count > 3 && columns[1].hasSuffix(ending) && columns[3] == "0A"
        }
    }
}
