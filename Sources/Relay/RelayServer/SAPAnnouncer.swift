internal import TenfourAudioCore
internal import TenfourPackets
internal import TenfourSession
internal import TenfourUV

/// Announces the plain channels that go to multicast groups, so that receivers in the network find them by the Session
/// Announcement Protocol. On the thread of the loop.
final class SAPAnnouncer {
    /// A channel on a group, as its latest packet was coded.
    struct Session: Hashable {
        var channel: String
        var group: Endpoint
        var payloadType: UInt8
    }

    private let loop: EventLoop
    private let address: IPAddress
    /// The sockets by the address from which they send.
    private var sockets: [IPAddress: UDPSocket] = [:]
    private var announced: [Session: Announcement] = [:]

    private struct Announcement {
        var packet: SAPPacket
        var due: Instant
    }

    /// The time between two announcements of a session. PulseAudio creates a stream again only when it hears one.
    private static let interval = Duration.seconds(10)

    /// `address` is that of the socket from which the channels' packets are sent.
    init(on loop: EventLoop, sendingFrom address: IPAddress) {
        self.loop = loop
        self.address = address
    }

    /// Announces `sessions`, and takes back the announcements of all others. Call it about once per second. Returns the
    /// sessions that are announced for the first time.
    func update(_ sessions: Set<Session>, at now: Instant) -> [Session] {
        for (session, announcement) in announced where !sessions.contains(session) {
            end(session, announcement)
        }
        var new: [Session] = []
        for session in sessions {
            guard var announcement = announced[session] ?? first(of: session, at: now) else { continue }
            if announced[session] == nil { new.append(session) }
            if announcement.due <= now {
                send(announcement.packet, about: session)
                announcement.due = now + Self.interval
            }
            announced[session] = announcement
        }
        return new
    }

    /// Takes all announcements back.
    func close() {
        for (session, announcement) in announced { end(session, announcement) }
        for socket in sockets.values { socket.close() }
    }

    var statistics: SocketStatistics {
        sockets.values.reduce(into: SocketStatistics()) { $0.merge($1.statistics) }
    }

    /// Returns nil if the encoding is unknown, or while this machine has no way to the group.
    private func first(of session: Session, at now: Instant) -> Announcement? {
        guard let format = session.format, let source = source(for: session.group.address) else { return nil }
        let description = session.description(format, from: source)
        return Announcement(packet: SAPPacket(source: source, description: description), due: now)
    }

    /// The address from which packets to `group` leave.
    private func source(for group: IPAddress) -> IPAddress? {
        address.isUnspecified ? group.localSource : address
    }

    private func end(_ session: Session, _ announcement: Announcement) {
        var packet = announcement.packet
        packet.isDeletion = true
        send(packet, about: session)
        announced[session] = nil
    }

    private func send(_ packet: SAPPacket, about session: Session) {
        guard let socket = sockets[packet.source] ?? (try? open(at: packet.source)) else { return }
        sockets[packet.source] = socket
        for destination in SAPPacket.destinations(for: session.group.address) {
            socket.send(packet.bytes.span, to: destination)
        }
    }

    /// Opens a socket that sends by the interface by which the channel's packets leave.
    private func open(at source: IPAddress) throws(NetworkError) -> UDPSocket {
        var options = SocketOptions()
        options.serviceCodePoint = 0
        options.multicastInterface = "\(source)"
        return try UDPSocket(on: loop, bindingTo: Endpoint(source, port: 0), options: options)
    }
}

extension SAPAnnouncer.Session {
    /// The format of a payload type: those of G.711 are assigned, a dynamic one is Opus; nil for others.
    fileprivate var format: SessionDescription.Format? {
        switch payloadType {
        case 0: return .g711(.pcmu)
        case 8: return .g711(.pcma)
        case 96...127:
            var format = SessionDescription.Format.opus(payloadType: payloadType)
            // PulseAudio plays this payload type only, and only with its name in capitals.
            if payloadType == 127 { format.encoding?.name = "OPUS" }
            return format
        default: return nil
        }
    }

    fileprivate func description(_ format: SessionDescription.Format, from source: IPAddress) -> String {
        var connection = SessionDescription.Connection("\(group.address)")
        if case .v4 = group.address { connection.timeToLive = SocketOptions().multicastTimeToLive }
        // A relay that starts again announces the same session.
        let identity = SAPPacket.hash("\(channel) \(group) \(payloadType)") >> 1
        return SessionDescription(
            origin: .init(sessionID: identity, version: 1, address: .init("\(source)")), name: channel,
            connection: connection, port: group.port, formats: [format], multiplexesRTCP: false,
            direction: .receiveOnly
        ).text(endingLinesWith: "\n")
    }
}
