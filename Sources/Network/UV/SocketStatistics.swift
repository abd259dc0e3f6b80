public import TenfourSession

/// Counts of the datagrams of one `UDPSocket` since it was opened.
public struct SocketStatistics: Equatable, Sendable {
    /// Handed to the kernel, and handed to the receiver.
    public var sent = 0
    public var received = 0
    /// Had to wait in our queue because the kernel's was full.
    public var queued = 0
    /// Were the oldest in our queue when it was full.
    public var dropped = 0
    /// Arrived longer than `SocketOptions.longestDatagram`, and were not handed on.
    public var truncated = 0
    /// By `errno`: what the kernel refused at once, and what the network sent back later (ICMP).
    /// ECONNREFUSED: nothing listens there. EHOSTUNREACH, ENETUNREACH: no way there. EPERM: a firewall here.
    /// EMSGSIZE: longer than the path, or than `SocketOptions.longestDatagram`.
    public var failures: [Int32: Int] = [:]
    public var lastFailure: Failure?

    public init() {}

    public var failed: Int { failures.values.reduce(0, +) }

    public struct Failure: Equatable, Sendable, CustomStringConvertible {
        /// Where the datagram should have gone; nil when the trouble was with receiving.
        public var destination: Endpoint?
        /// `errno`.
        public var code: Int32

        public init(destination: Endpoint?, code: Int32) {
            self.destination = destination
            self.code = code
        }

        /// `192.0.2.1:5004: connection refused`.
        public var description: String {
            let text = NetworkError.text(for: code)
            return if let destination { "\(destination): \(text)" } else { text }
        }
    }

    /// Adds what another socket could not do: what it lost or refused, not what it sent or received.
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
