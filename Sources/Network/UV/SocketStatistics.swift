public import TenfourSession

/// Counts of the datagrams of one `UDPSocket` since it was opened.
public struct SocketStatistics: Equatable, Sendable {
    /// Datagrams passed to the kernel, and datagrams passed to the receive handler.
    public var sent = 0
    public var received = 0
    /// Datagrams that waited in our queue because the kernel's buffer was full.
    public var queued = 0
    /// Datagrams dropped as the oldest when our queue was full.
    public var dropped = 0
    /// Datagrams that were longer than `SocketOptions.longestDatagram` on arrival, and discarded.
    public var truncated = 0
    /// Failures by `errno`: refused by the kernel at once, or reported later by the network (ICMP). ECONNREFUSED: no
    /// program listens at the port. EHOSTUNREACH, ENETUNREACH: no route. EPERM: a firewall on this machine. EMSGSIZE:
    /// longer than the path's MTU, or than `SocketOptions.longestDatagram`.
    public var failures: [Int32: Int] = [:]
    public var lastFailure: Failure?

    public init() {}

    public var failed: Int { failures.values.reduce(0, +) }

    public struct Failure: Equatable, Sendable, CustomStringConvertible {
        /// The destination of the datagram; nil for a failure of receiving.
        public var destination: Endpoint?
        /// `errno`.
        public var code: Int32

        public init(destination: Endpoint?, code: Int32) {
            self.destination = destination
            self.code = code
        }

        /// For example `192.0.2.1:5004: connection refused`.
        public var description: String {
            let text = NetworkError.text(for: code)
            return if let destination { "\(destination): \(text)" } else { text }
        }
    }

    /// Adds the losses and failures of another socket, not its sent and received datagrams.
    public mutating func merge(_ other: SocketStatistics) {
        dropped += other.dropped
        truncated += other.truncated
        failures.merge(other.failures, uniquingKeysWith: +)
        lastFailure = lastFailure ?? other.lastFailure
    }

    mutating func countFailure(_ code: Int32, to destination: Endpoint?) {
        failures[code, default: 0] += 1
        lastFailure = Failure(destination: destination, code: code)
    }
}
