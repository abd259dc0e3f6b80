import Glibc
public import TenfourSession

/// Counts of the datagrams of one `UDPSocket` since it was opened.
public struct SocketStatistics: Equatable, Sendable {
    /// The number of datagrams passed to the kernel.
    public var sent = 0
    /// The number of datagrams passed to the receive handler.
    public var received = 0
    /// The number of datagrams that waited in our queue because the kernel's buffer was full.
    public var queued = 0
    /// The number of datagrams that were dropped from our full queue, oldest first, to make space for newer ones.
    public var dropped = 0
    /// The number of received datagrams that were longer than `SocketOptions.longestDatagram`, and were discarded.
    public var truncated = 0
    /// The number of failures by `errno`: refused by the kernel immediately, or reported later by the network (ICMP).
    /// ECONNREFUSED: no program listens at the port. EHOSTUNREACH, ENETUNREACH: no route. EPERM: a firewall on this
    /// machine. EMSGSIZE: longer than the path's MTU, or than `SocketOptions.longestDatagram`.
    public var failures: [Int32: Int] = [:]
    /// The failure that was counted last; nil if there was none.
    public var lastFailure: Failure?

    /// The number of refused datagrams (ECONNREFUSED) of each of the first 32 destinations that refused any.
    public private(set) var refusals: [Endpoint: Int] = [:]

    /// The maximum number of `refusals`.
    private static let maximumRefusalCount = 32

    public init() {}

    public var failed: Int { failures.values.reduce(0, +) }

    public struct Failure: Equatable, Sendable, CustomStringConvertible {
        /// The destination of the datagram; nil if receiving has failed.
        public var destination: Endpoint?
        /// The `errno` of the failure.
        public var code: Int32
        /// Whether a machine on the way or at the destination refused the datagram (ICMP), and not this one.
        public var isOfNetwork: Bool

        public init(destination: Endpoint?, code: Int32, isOfNetwork: Bool = false) {
            self.destination = destination
            self.code = code
            self.isOfNetwork = isOfNetwork
        }

        /// A line for people, such as `192.0.2.1:5004: connection refused`.
        public var description: String {
            let text = NetworkError.text(for: code)
            return if let destination { "\(destination): \(text)" } else { text }
        }
    }

    /// Adds the losses and failures of another socket, but not its sent and received datagrams.
    public mutating func merge(_ other: SocketStatistics) {
        dropped += other.dropped
        truncated += other.truncated
        failures.merge(other.failures, uniquingKeysWith: +)
        lastFailure = lastFailure ?? other.lastFailure
        for (destination, count) in other.refusals { countRefusals(count, by: destination) }
    }

    package mutating func countFailure(_ code: Int32, to destination: Endpoint?, isOfNetwork: Bool = false) {
        failures[code, default: 0] += 1
        if code == ECONNREFUSED, let destination { countRefusals(1, by: destination) }
        lastFailure = Failure(destination: destination, code: code, isOfNetwork: isOfNetwork)
    }

    private mutating func countRefusals(_ count: Int, by destination: Endpoint) {
        guard refusals[destination] != nil || refusals.count < Self.maximumRefusalCount else { return }
        refusals[destination, default: 0] += count
    }
}
