import Glibc
internal import TenfourAudioCore

/// The process that uses a UDP port. It can be found if it belongs to this user, or if this user is root.
public struct PortHolder: Hashable, Sendable, CustomStringConvertible {
    public var process: Int32
    /// The name of the program as in `/proc/PID/comm`, at most 15 bytes. It is made safe for a terminal, because a
    /// program can choose its name.
    public var program: String
    /// Whether the process is this one.
    public var isThisProcess: Bool { process == getpid() }

    public var description: String { isThisProcess ? "this program itself" : "\(program) (process \(process))" }

    /// Finds the process that uses `port`; nil if none can be found. `/proc/net/udp` and `udp6` list the sockets of a
    /// port, `/proc/PID/fd` the sockets of a process. Tests pass another folder than `/proc` as `root`.
    public init?(of port: UInt16, root: String = "/proc") {
        let sockets = Self.sockets(of: port, root: root)
        guard !sockets.isEmpty else { return nil }
        let processes = Directory.names(in: root).compactMap { Int32($0) }
        let holder = processes.first { process in
            let folder = "\(root)/\(process)/fd"
            return Directory.names(in: folder).contains { sockets.contains(Self.target(of: "\(folder)/\($0)")) }
        }
        guard let holder else { return nil }
        process = holder
        let name = Self.bytes(of: "\(root)/\(holder)/comm").prefix { $0 != UInt8(ascii: "\n") }
        program = String(fromPeer: String(decoding: name, as: UTF8.self))
    }

    /// The sockets of this machine that are bound to the port, at any address.
    static func sockets(of port: UInt16, root: String = "/proc") -> Set<String> {
        Set(["udp", "udp6"].flatMap { sockets(of: port, inTable: "\(root)/net/\($0)") })
    }

    /// Returns the sockets of the port as `socket:[12345]`, the form of the links in `/proc/PID/fd`. A line of the
    /// table begins `  12: 00000000:138C 00000000:0000 07 …`, and its tenth column is the socket's inode.
    private static func sockets(of port: UInt16, inTable path: String) -> [String] {
        let digits = String(port, radix: 16, uppercase: true)
        let ending = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        return String(decoding: bytes(of: path), as: UTF8.self).split(separator: "\n").compactMap { line in
            let columns = line.split(separator: " ")
            return columns.count > 9 && columns[1].hasSuffix(ending) ? "socket:[\(columns[9])]" : nil
        }
    }

    private static func target(of link: String) -> String {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64) { room, count in
            count = unsafe room.withMemoryRebound(to: CChar.self) { unsafe max(readlink(link, $0.baseAddress!, 64), 0) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a file of `/proc`, which reports no length; returns an empty result if it cannot be read.
    static func bytes(of path: String) -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        // Reads in chunks up to 16 MiB, because a machine may have thousands of sockets.
        while bytes.count < 1 << 24 {
            let count = unsafe read(file, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }
}
