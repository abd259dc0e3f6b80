import CUV
import Glibc
import TenfourSystem

/// A marker which shows that a socket yields its UDP port to the next program of this machine that needs the port.
///
/// `SO_REUSEADDR` alone cannot be the marker: many programs set it and do not intend to give up the port. The marker is
/// a Unix socket with the port in its abstract name, which every process can see in `/proc/net/unix`. It disappears
/// when its process ends for any reason.
struct YieldedPort: ~Copyable {
    private let sign: Int32

    private static let title = "tenfour/yields-udp"

    /// The longest time from binding a port until its marker exists, in microseconds: 50 ms, enough on a busy machine.
    static let longestMarking: UInt32 = 50_000

    /// Creates the marker; nil if the system has no socket left. Without the marker, no program can take the port. The
    /// C functions are `socket` and `bind`.
    init?(_ port: UInt16) {
        let sign = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard sign >= 0 else { return nil }
        // The name contains the process ID and the descriptor, because several sockets may yield the same port.
        let address = UnixSocketAddress(abstract: "\(Self.title)/\(port)/\(getpid())/\(sign)")
        guard unsafe address?.withSocketAddress({ unsafe Glibc.bind(sign, $0, $1) }) == 0 else {
            close(sign)
            return nil
        }
        self.sign = sign
    }

    deinit { close(sign) }

    /// Whether a socket of this machine yields the port.
    static func isMarked(_ port: UInt16) -> Bool {
        String(decoding: PortHolder.bytes(of: "/proc/net/unix"), as: UTF8.self).contains("@\(title)/\(port)/")
    }
}
