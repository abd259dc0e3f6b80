import Glibc
import TenfourAudioCore

/// The service manager (systemd) that has started this process. We tell it when the service is ready, reloads or stops,
/// and that it still works. Each message is one datagram to a Unix socket, as `sd_notify` would send it.
struct ServiceManager: Sendable {
    /// The path of the manager's socket; an abstract socket begins with `@`.
    private let path: String
    /// The time after which the manager restarts a service that has not reported that it works; nil if it never does.
    let watchdog: Duration?

    /// Finds the manager in the environment. Returns nil if this process is not a service, or does not notify.
    init?() {
        guard let path = Self.variable("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@"),
            path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        self.path = path
        // WATCHDOG_PID names the process that the manager watches, which may be another one.
        let isWatched = Self.variable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        let microseconds = isWatched ? Self.variable("WATCHDOG_USEC").flatMap { Int64($0) } : nil
        watchdog = microseconds.flatMap { $0 > 0 ? .microseconds($0) : nil }
    }

    /// Tells the manager that the service is ready, at its start and after a reload.
    func isReady(_ status: String) { send("READY=1\nSTATUS=\(status)") }

    /// Tells the manager that the service reads its configuration again; `isReady` must follow.
    func isReloading(at now: Instant) {
        send("RELOADING=1\nMONOTONIC_USEC=\(now.nanoseconds / 1_000)")
    }

    /// Tells the manager that the service works, with a line for `systemctl status`.
    func isAlive(_ status: String) { send("WATCHDOG=1\nSTATUS=\(status)") }

    func isStopping() { send("STOPPING=1") }

    /// Sends without waiting. A message that the manager cannot take now is lost, since the next one follows soon.
    private func send(_ message: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            for (index, byte) in path.utf8.enumerated() { unsafe room[index] = byte }
            // The name of an abstract socket begins with a zero byte, and its length is that of the address.
            if path.hasPrefix("@") { unsafe room[0] = 0 }
        }
        let isAbstract = path.hasPrefix("@")
        let size = MemoryLayout<sa_family_t>.size + path.utf8.count + (isAbstract ? 0 : 1)
        let bytes = Array(message.utf8)
        unsafe withUnsafeBytes(of: &address) { address in
            _ = unsafe sendto(
                descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT),
                address.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(size))
        }
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
