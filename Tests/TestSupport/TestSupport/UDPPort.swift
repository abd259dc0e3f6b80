import Glibc
import Synchronization

/// Free UDP ports for tests.
public enum UDPPort {
    private static let next = Atomic<Int>(Int(getpid()) % 1_000 * 8)

    /// Returns an even port that was free a moment ago, as were the three ports after it. No other test of this process
    /// gets it, and the system never assigns ports of this range itself.
    public static func free() -> UInt16 {
        while true {
            let port = UInt16(20_000 + next.add(4, ordering: .relaxed).oldValue % 12_000)
            if !(0..<4).contains(where: { isBound(port + $0) }) { return port }
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
}
