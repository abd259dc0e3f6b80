import TenfourAudioCore
internal import TenfourPackets
import TenfourSession

/// Detects a station that talks to this one by plain RTP, without an invitation. One at a time is shown to the person.
///
/// Opens no socket and reads no clock, and sends nothing: the sender's address is not proved.
struct PlainCallerDetector: Sendable {
    enum Event: Hashable, Sendable {
        /// RTP or RTCP comes from this endpoint. The name is safe to display, and empty if none was sent.
        case appeared(Endpoint, name: String)
        /// Nothing has come for 15 s, or the sender has sent an RTCP BYE.
        case left(Endpoint, name: String)
    }

    private(set) var current: (endpoint: Endpoint, name: String)?
    private var heard = Instant.start
    /// The time at which the caller is reported without a name; nil if it has been reported.
    private var reportDue: Instant?
    private var ignored: [(address: IPAddress, until: Instant)] = []
    private var events: [Event] = []

    /// The time that a caller has to send its name in RTCP, before it is reported without one.
    static let nameTime = Duration.milliseconds(500)
    /// The time after which a silent caller has left. RTCP comes every few seconds.
    static let silence = Duration.seconds(15)
    /// The time for which a caller that the person does not want is not shown again.
    static let ignoredTime = Duration.seconds(60)
    private static let maximumIgnoredCount = 16
    private static let maximumNameLength = 64

    /// Returns whether a datagram may be RTP or RTCP (RFC 7983).
    static func mayBeMedia(_ datagram: Span<UInt8>) -> Bool { datagram.count >= 8 && (128...191).contains(datagram[0]) }

    mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        timeElapsed(at: now)
        let isControl = RTCPCompound.isRTCP(secondByte: datagram[1])
        var name = ""
        if isControl {
            guard let report = Report(datagram) else { return }
            if report.isGoodbye { return leave(sender) }
            name = report.name
        } else if (try? RTPHeader(parsing: datagram)) == nil {
            return
        }
        if let current {
            guard current.endpoint == sender else { return }
            heard = now
            if current.name.isEmpty, reportDue != nil { self.current = (sender, name) }
        } else {
            guard !ignored.contains(where: { $0.address == sender.address && $0.until > now }) else { return }
            current = (sender, name)
            heard = now
            reportDue = now + Self.nameTime
        }
        if !name.isEmpty { report() }
    }

    private mutating func report() {
        guard reportDue != nil, let current else { return }
        reportDue = nil
        events.append(.appeared(current.endpoint, name: current.name))
    }

    /// The person does not want to talk to the present caller.
    mutating func ignore(at now: Instant) {
        guard let current else { return }
        ignored.removeAll { $0.until <= now || $0.address == current.endpoint.address }
        if ignored.count == Self.maximumIgnoredCount { ignored.removeFirst() }
        ignored.append((current.endpoint.address, now + Self.ignoredTime))
        self.current = nil
        reportDue = nil
    }

    /// Returns the present caller, to whom the person wants to talk, and forgets it.
    mutating func take() -> (endpoint: Endpoint, name: String)? {
        defer { (current, reportDue) = (nil, nil) }
        return current
    }

    var nextDeadline: Instant? { current == nil ? nil : reportDue ?? heard + Self.silence }

    mutating func timeElapsed(at now: Instant) {
        if let reportDue, reportDue <= now { report() }
        if let current, now - heard >= Self.silence { leave(current.endpoint) }
    }

    mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    private mutating func leave(_ sender: Endpoint) {
        guard let current, current.endpoint == sender else { return }
        if reportDue == nil { events.append(.left(sender, name: current.name)) }
        self.current = nil
        reportDue = nil
    }

    /// The parts of an RTCP datagram that matter here.
    private struct Report {
        var name = ""
        var isGoodbye = false

        init?(_ datagram: Span<UInt8>) {
            do throws(RTCPParseError) {
                var packets = try RTCPCompound(parsing: datagram, allowsReducedSize: true)
                while let packet = try packets.next() { apply(packet) }
            } catch {
                return nil
            }
        }

        private mutating func apply(_ packet: RTCPPacket) {
            switch packet {
            case .sourceDescription(let description):
                let text = description.chunks.first?[.name]?.text ?? ""
                if name.isEmpty { name = String(fromPeer: text, limit: PlainCallerDetector.maximumNameLength) }
            case .goodbye: isGoodbye = true
            default: break
            }
        }
    }
}
