internal import TenfourChannelKeys
internal import TenfourSession

/// Puts sealed records for members into the queue.
extension DatagramQueue {
    /// A record of anything but a report, for a member, at its address.
    mutating func put(_ record: Record, for member: MemberID, of sessions: inout SessionTable) {
        put(record, for: member, of: &sessions, to: sessions[member].endpoint)
    }

    mutating func put(_ record: Record, for member: MemberID, of sessions: inout SessionTable, to endpoint: Endpoint) {
        // Good-byes are said once, and are the last.
        if case .goodbye = record {} else if count >= Relay.mostWaiting { return }
        put(capacity: record.isLong ? ControlPacket.maximumByteCount : 96, to: endpoint) {
            sessions.keys.seal(record, for: member.number, into: &$0)
        }
    }

    /// A record of RTCP.
    mutating func put(report: Span<UInt8>, for member: MemberID, of sessions: inout SessionTable) {
        if count >= Relay.mostWaiting { return }
        put(capacity: report.count + 64, to: sessions[member].endpoint) {
            sessions.keys.seal(report: report, for: member.number, into: &$0)
        }
    }
}

extension Record {
    /// Whether it holds entries of members.
    fileprivate var isLong: Bool {
        switch self {
        case .roster(_, let entries), .rosterPage(_, let entries): !entries.isEmpty
        default: false
        }
    }
}
