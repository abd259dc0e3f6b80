internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Encrypts records for members, and queues them and repeated packets for sending.
extension DatagramQueue {
    /// Queues a record, which must not be a report, for sending to the member's address.
    mutating func put(_ record: Record, for member: MemberID, of sessions: inout SessionTable) {
        put(record, for: member, of: &sessions, to: sessions[member].endpoint)
    }

    mutating func put(_ record: Record, for member: MemberID, of sessions: inout SessionTable, to endpoint: Endpoint) {
        // Drops the record if the queue is full. GOODBYE is queued nevertheless, because it is sent only once, and is a
        // session's last record.
        if case .goodbye = record {} else if count >= Relay.mostWaiting { return }
        put(capacity: record.isLong ? ControlPacket.maximumByteCount : 96, to: endpoint) {
            sessions.keys.seal(record, for: member.number, into: &$0)
        }
    }

    /// Queues a record of a channel with an owner. `content` is its type and body. Drops it if the queue is full.
    mutating func put(managed content: Span<UInt8>, for member: MemberID, of sessions: inout SessionTable) {
        if count >= Relay.mostWaiting { return }
        put(capacity: content.count + 64, to: sessions[member].endpoint) {
            sessions.keys.seal(managed: content, for: member.number, into: &$0)
        }
    }

    /// Queues an SRTP packet or an announcement that the relay repeats to one member, with its trailer if the member's
    /// datagrams have one.
    mutating func put(
        repeated packet: Span<UInt8>, for member: MemberID, of sessions: inout SessionTable, at moment: Instant = .start
    ) {
        guard hasRoom else { return }
        put(capacity: packet.count + RelayTrailer.byteCount, to: sessions[member].endpoint, at: moment) {
            for index in packet.indices { $0.append(packet[index]) }
            sessions.appendTrailer(of: packet, for: member, to: &$0)
        }
    }

    /// Queues a record that contains an RTCP compound packet. Drops it if the queue is full.
    mutating func put(report: Span<UInt8>, for member: MemberID, of sessions: inout SessionTable) {
        if count >= Relay.mostWaiting { return }
        put(capacity: report.count + 64, to: sessions[member].endpoint) {
            sessions.keys.seal(report: report, for: member.number, into: &$0)
        }
    }
}

extension Record {
    /// Whether the record contains entries, which make it long.
    fileprivate var isLong: Bool {
        switch self {
        case .roster(_, let entries), .rosterPage(_, let entries): !entries.isEmpty
        case .hearingList: true
        default: false
        }
    }
}
