import Glibc
import Synchronization

/// Free ports for tests, UDP and TCP.
public enum UDPPort {
    /// The first port of this process's share, which no other test process has unless all shares are taken.
    private static let first = share()
    private static let next = Atomic<Int>(0)

    private static let lowest = 20_000
    /// Enough for four runs of the tests at once, each of which has two processes.
    private static let shareCount = 8
    private static let portsInAShare = 1_500

    /// Returns an even port that was free a moment ago, as were the three ports after it. The next 374 calls in this process
    /// return others, and the system never assigns ports of this range itself.
    public static func free() -> UInt16 {
        while true {
            let port = UInt16(first + next.add(4, ordering: .relaxed).oldValue % portsInAShare)
            if !(0..<4).contains(where: { isBound(port + $0) || TCPPort.isListening(port + $0) }) { return port }
        }
    }

    /// Whether the kernel's socket tables list the port.
    public static func isBound(_ port: UInt16) -> Bool {
        let digits = String(port, radix: 16, uppercase: true)
        let ending = ":" + String(repeating: "0", count: 4 - digits.count) + digits
        return ["/proc/net/udp", "/proc/net/udp6"].contains { table in
            Folder.text(of: table).split(separator: "\n").contains { line in
                let columns = line.split(separator: " ", maxSplits: 2)
                return columns.count > 1 && columns[1].hasSuffix(ending)
            }
        }
    }

    /// Takes one of the shares by a name that only one process can bind and that the kernel gives up with the process: an
    /// abstract Unix socket. Where all are taken, two processes have the same share.
    private static func share() -> Int {
        let start = Int(getpid())
        for number in 0..<shareCount {
            let index = (start + number) % shareCount
            if holdsName("\0tenfour-tests-ports-\(index)") { return lowest + index * portsInAShare }
        }
        return lowest + start % shareCount * portsInAShare
    }

    /// Binds a name of the abstract namespace until the process ends. Returns false if another process holds it.
    private static func holdsName(_ name: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name.utf8) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
        }
        if code != 0 { close(descriptor) }
        return code == 0
    }
}
