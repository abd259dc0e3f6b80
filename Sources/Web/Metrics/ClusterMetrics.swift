internal import TenfourNATS
internal import TenfourRelayCluster
internal import TenfourRelayServer

extension MetricsText {
    /// Adds the metrics of a relay's part in its cluster, and of its connection to NATS.
    mutating func addCluster(_ cluster: RelayServerStatus.Cluster) {
        addNATS(cluster.nats)
        let relays = cluster.relays
        add(
            "tenfour_cluster_relays", .gauge, "Other relays of the cluster that are present.", Double(relays.relayCount)
        )
        if let roundTrip = relays.roundTrip {
            add(
                "tenfour_cluster_round_trip_seconds", .gauge,
                "Time that a message takes to the relay that is farthest away, and back.", roundTrip / .seconds(1))
        }
        add(
            "tenfour_cluster_relays_gone_total", .counter, "Relays of the cluster that were present and are gone.",
            Double(relays.goneCount))
        add(
            "tenfour_cluster_messages_total", .counter,
            "Messages of the cluster that were sent, or received and accepted.",
            [Sample(relays.sentCount, (.direction, "sent")), Sample(relays.receivedCount, (.direction, "received"))])
        add(
            "tenfour_cluster_bytes_total", .counter, "Bytes of these messages.",
            [
                Sample(relays.sentByteCount, (.direction, "sent")),
                Sample(relays.receivedByteCount, (.direction, "received")),
            ])
        add(
            "tenfour_cluster_messages_discarded_total", .counter,
            "Messages of the cluster that were ignored, by reason.",
            ClusterDiscard.allCases.map { Sample(relays.discards[$0] ?? 0, (.reason, $0.label)) })
        add(
            "tenfour_cluster_packets_requested_total", .counter,
            "Packets that were missing and requested from other relays (NACK).", Double(relays.requestedCount))
        add(
            "tenfour_cluster_packets_retransmitted_total", .counter, "Packets retransmitted to other relays.",
            Double(relays.retransmittedCount))
    }

    private mutating func addNATS(_ nats: NATSStatus) {
        add(
            "tenfour_nats_connected", .gauge, "Whether a NATS server carries the cluster's messages: 1 or 0.",
            nats.isConnected ? 1 : 0)
        add(
            "tenfour_nats_connections_total", .counter, "Connections that a NATS server has accepted.",
            Double(nats.connectionCount))
        add(
            "tenfour_nats_messages_dropped_total", .counter,
            "Messages that could not be sent, or were not taken, in time.",
            [
                Sample(nats.droppedOutgoingCount, (.direction, "sent")),
                Sample(nats.droppedIncomingCount, (.direction, "received")),
            ])
    }
}

extension ClusterDiscard {
    /// The value of the label `reason`. It stays the same in later versions, because alert rules name it.
    var label: String {
        switch self {
        case .malformed: "malformed"
        case .replayed: "replayed"
        case .forged: "forged"
        case .stranger: "stranger"
        case .unknownChannel: "unknown_channel"
        }
    }
}
