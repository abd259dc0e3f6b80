public import TenfourAudioCore
internal import TenfourChannelKeys
public import TenfourSession

/// Asks whether a station still answers. A station that was found by DNS-SD may be listed long after it was cut off.
///
/// Opens no socket and reads no clock. Send what `nextDatagram` gives, and sleep until `nextDeadline`.
public struct StationProbe: Sendable {
    public enum Outcome: Hashable, Sendable {
        /// The station answered this long after the last probe.
        case answered(Duration, name: String)
        /// The station did not answer within 3 s. Stations that know no calls never do.
        case unanswered
    }

    public let endpoint: Endpoint
    /// Nil until the outcome is known.
    public private(set) var outcome: Outcome?
    public var nextDeadline: Instant? { outcome == nil ? deadline : nil }

    private let message: CallMessage
    private var lastSent: Instant
    private var sentCount = 0
    private var deadline: Instant

    static let interval = Duration.seconds(1)
    static let probeCount = 3

    /// `generator` must be unpredictable: the system's generator, outside tests.
    public init(_ endpoint: Endpoint, at now: Instant, using generator: inout some RandomNumberGenerator) {
        self.endpoint = endpoint
        message = CallMessage(.probe, caller: .random(in: 1 ... .max, using: &generator))
        lastSent = now
        deadline = now
    }

    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        guard sender == endpoint, outcome == nil, let reply = CallMessage(parsing: datagram),
            reply.kind == .probeReply, reply.caller == message.caller
        else { return }
        outcome = .answered(now - lastSent, name: reply.name)
    }

    /// Appends the next probe, 88 bytes, for `endpoint`. Returns false if none is due.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Bool {
        guard outcome == nil, deadline <= now, buffer.freeCapacity >= CallMessage.byteCount else { return false }
        guard sentCount < Self.probeCount else {
            outcome = .unanswered
            return false
        }
        sentCount += 1
        lastSent = now
        deadline = now + Self.interval
        buffer.append(message.bytes.span)
        return true
    }
}
