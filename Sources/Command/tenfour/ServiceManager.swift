import Glibc
import TenfourAudioCore
import TenfourSystem

/// The service manager (systemd) that has started this process. We tell it when the service is ready, reloads or stops,
/// and that it still works. Each message is one datagram to a Unix socket, as `sd_notify` would send it.
struct ServiceManager: Sendable {
    /// The address of the manager's socket.
    private let address: UnixSocketAddress
    /// The time after which the manager restarts a service that has not reported that it works; nil if it never does.
    let watchdog: Duration?

    /// Finds the manager in the environment. Returns nil if this process is not a service, or does not notify.
    init?() {
        guard let name = Self.variable("NOTIFY_SOCKET"), let address = Self.address(name) else { return nil }
        self.address = address
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
        let bytes = Array(message.utf8)
        _ = unsafe address.withSocketAddress {
            unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0, $1)
        }
    }

    /// Returns the address that NOTIFY_SOCKET names: an absolute path, or `@` and an abstract name.
    private static func address(_ name: String) -> UnixSocketAddress? {
        if name.hasPrefix("@") { return UnixSocketAddress(abstract: String(name.dropFirst())) }
        return name.hasPrefix("/") ? UnixSocketAddress(path: name) : nil
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
