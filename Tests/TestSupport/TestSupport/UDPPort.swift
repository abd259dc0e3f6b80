import Glibc
import Synchronization

/// Ports that nobody has.
public enum UDPPort {
    private static let next = Atomic<Int>(Int(getpid()) % 1_000 * 8)

    /// An even port that was free a moment ago, with the three behind it. No other test of this process is given it, and the
    /// system gives ports of this range to nobody who does not ask for one.
    public static func free() -> UInt16 {
        while true {
            let port = UInt16(20_000 + next.add(4, ordering: .relaxed).oldValue % 12_000)
            if !(0..<4).contains(where: { isBound(port + $0) }) { return port }
        }
    }

    /// As the kernel lists them.
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
