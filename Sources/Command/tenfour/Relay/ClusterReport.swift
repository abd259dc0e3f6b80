internal import TenfourJSON
import TenfourNATS
import TenfourRelayCluster
import TenfourRelayServer

extension RelayServerStatus.Cluster {
    /// The state of the cluster in one line.
    var line: String {
        guard nats.isConnected else {
            return "cluster: not connected to NATS" + (nats.failure.map { ", \($0)" } ?? "")
        }
        let others = "\(relays.relayCount) other \(relays.relayCount == 1 ? "relay" : "relays")"
        let tenths = relays.roundTrip.map { Int($0 / .microseconds(200)) }
        let delay = tenths.map { ", \($0 / 10).\($0 % 10) ms away" } ?? ""
        let drops = nats.droppedOutgoingCount + nats.droppedIncomingCount
        return "cluster: connected to NATS, \(others)\(delay); \(relays.sentCount) messages sent, "
            + "\(relays.receivedCount) received, \(drops) dropped"
    }

    var json: JSON {
        .object([
            ("connected", .boolean(nats.isConnected)), ("failure", nats.failure.map { .text($0) } ?? .null),
            ("connections", .integer(nats.connectionCount)), ("relays", .integer(relays.relayCount)),
            ("round_trip_ms", relays.roundTrip.map { .decimal($0 / .milliseconds(1), places: 3) } ?? .null),
            ("messages_sent", .integer(relays.sentCount)), ("bytes_sent", .integer(relays.sentByteCount)),
            ("messages_received", .integer(relays.receivedCount)),
            ("bytes_received", .integer(relays.receivedByteCount)),
            ("dropped_outgoing", .integer(nats.droppedOutgoingCount)),
            ("dropped_incoming", .integer(nats.droppedIncomingCount)),
            ("requested", .integer(relays.requestedCount)), ("retransmitted", .integer(relays.retransmittedCount)),
            (
                "ignored",
                .object(ClusterDiscard.allCases.map { ($0.rawValue, .integer(relays.discards[$0] ?? 0)) })
            ),
        ])
    }
}
