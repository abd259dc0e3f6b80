import TenfourFloor
import TenfourMetrics
import TenfourNATS
import TenfourPackets
import TenfourRelayCluster
import TenfourRelayServer
import TenfourSession
import TenfourUV
import TenfourWeb
import TestSupport
import Testing

@testable import TenfourRelayCore

/// The metrics of a relay, from a status in which every count has a value of its own.
@Suite(.onItsOwnThread) struct RelayMetricsTests {
    private var status: RelayServerStatus {
        var status = RelayServerStatus(listening: Endpoint(.loopbackV4, port: 5_004))
        status.uptime = .milliseconds(1_500)
        (status.workers, status.talkerSockets) = (2, 3)
        var channel = RelayStatus.Channel(name: "family")
        (channel.memberCount, channel.listenerCount, channel.talkerCount, channel.joinedCount) = (10, 7, 2, 40)
        (channel.forwardedCount, channel.forwardedByteCount) = (1_000, 100_000)
        (channel.retransmittedCount, channel.requestedCount) = (11, 12)
        channel.floor = floor
        status.relay.channels = [channel]
        var paired = RelayStatus.Paired()
        (paired.channelCount, paired.memberCount, paired.joinedCount) = (71, 72, 73)
        (paired.forwardedCount, paired.forwardedByteCount) = (74, 75)
        status.relay.paired = paired
        for reason in RelayDiscard.allCases {
            for _ in 0...reason.rawValue { status.relay.discards.count(reason) }
        }
        var fanOut = FanOutStatistics()
        (fanOut.sent, fanOut.sentByteCount, fanOut.dropped, fanOut.failed) = (9_000, 900_000, 13, 14)
        status.fanOuts = [fanOut]
        var plain = RelayServerStatus.Plain(name: "studio", targetCount: 4)
        (plain.received, plain.receivedByteCount) = (500, 50_000)
        plain.discards = [.stranger: 21, .malformed: 22, .control: 23, .tooMuch: 24]
        (plain.fanOut.sent, plain.fanOut.sentByteCount) = (2_000, 200_000)
        status.plain = [plain]
        (status.socket.truncated, status.socket.dropped) = (31, 32)
        status.socket.failures = [111: 33]
        status.cluster = cluster
        return status
    }

    private var floor: FloorStatus {
        var floor = FloorStatus()
        (floor.talker, floor.waitingCount) = (SSRC(7), 61)
        (floor.totals.requestCount, floor.totals.deniedCount, floor.totals.limitedCount) = (62, 63, 64)
        (floor.totals.overlongCount, floor.totals.foreignSSRCCount) = (65, 66)
        (floor.totals.surplusEmergencyCount, floor.totals.unpermittedPacketCount) = (67, 68)
        return floor
    }

    private var cluster: RelayServerStatus.Cluster {
        var cluster = RelayServerStatus.Cluster()
        (cluster.nats.isConnected, cluster.nats.connectionCount) = (true, 81)
        (cluster.nats.droppedOutgoingCount, cluster.nats.droppedIncomingCount) = (82, 83)
        (cluster.relays.relayCount, cluster.relays.roundTrip, cluster.relays.goneCount) = (2, .milliseconds(3), 84)
        (cluster.relays.sentCount, cluster.relays.sentByteCount) = (85, 86)
        (cluster.relays.receivedCount, cluster.relays.receivedByteCount) = (87, 88)
        (cluster.relays.requestedCount, cluster.relays.retransmittedCount) = (89, 90)
        for (index, reason) in ClusterDiscard.allCases.enumerated() { cluster.relays.discards[reason] = 91 + index }
        return cluster
    }

    private var feed: IcecastStatus {
        var feed = IcecastStatus(
            channel: "family", settings: IcecastSettings(host: "a", mount: "/b", password: "secret"))
        (feed.isConnected, feed.connectedCount, feed.sentByteCount, feed.droppedByteCount) = (true, 41, 42, 43)
        for failure in IcecastFailure.allCases { feed.failures[failure] = failure.rawValue + 51 }
        return feed
    }

    private func text(_ status: RelayServerStatus) -> MetricsText {
        var text = MetricsText()
        text.addRelay(status, version: "1.2")
        text.addHTTPListeners(["family": 5])
        text.addIcecast([feed])
        text.addProcess()
        return text
    }

    @Test func everyCountHasItsSeries() {
        let found = samples(text(status))
        let expected: [String: Double] = [
            "tenfour_build_info{version=\"1.2\"}": 1, "tenfour_uptime_seconds": 1.5, "tenfour_send_threads": 2,
            "tenfour_talker_sockets": 3, "tenfour_http_listeners{channel=\"family\"}": 5,
            "tenfour_members{channel=\"family\"}": 10, "tenfour_listeners{channel=\"family\"}": 7,
            "tenfour_listeners{channel=\"studio\"}": 4, "tenfour_talkers{channel=\"family\"}": 2,
            "tenfour_joins_total{channel=\"family\"}": 40,
            "tenfour_rtp_packets_received_total{channel=\"family\"}": 1_000,
            "tenfour_rtp_packets_received_total{channel=\"studio\"}": 500,
            "tenfour_rtp_bytes_received_total{channel=\"family\"}": 100_000,
            "tenfour_rtp_bytes_received_total{channel=\"studio\"}": 50_000,
            "tenfour_rtp_packets_sent_total{channel=\"family\"}": 9_000,
            "tenfour_rtp_packets_sent_total{channel=\"studio\"}": 2_000,
            "tenfour_rtp_bytes_sent_total{channel=\"family\"}": 900_000,
            "tenfour_rtp_bytes_sent_total{channel=\"studio\"}": 200_000,
            "tenfour_rtp_packets_retransmitted_total{channel=\"family\"}": 11,
            "tenfour_rtp_packets_requested_total{channel=\"family\"}": 12,
            "tenfour_rtp_packets_dropped_total{channel=\"family\",reason=\"congestion\"}": 13,
            "tenfour_rtp_packets_dropped_total{channel=\"family\",reason=\"network_error\"}": 14,
            "tenfour_rtp_packets_dropped_total{channel=\"studio\",reason=\"unknown_sender\"}": 21,
            "tenfour_rtp_packets_dropped_total{channel=\"studio\",reason=\"malformed_media\"}": 22,
            "tenfour_rtp_packets_dropped_total{channel=\"studio\",reason=\"rtcp\"}": 23,
            "tenfour_rtp_packets_dropped_total{channel=\"studio\",reason=\"rate_limit\"}": 24,
            "tenfour_rtp_packets_dropped_total{reason=\"too_long\"}": 31,
            "tenfour_rtp_packets_dropped_total{reason=\"queue_full\"}": 32,
            "tenfour_network_errors_total{reason=\"\(NetworkError.text(for: 111))\"}": 33,
            "tenfour_icecast_connected{channel=\"family\"}": 1,
            "tenfour_icecast_connections_total{channel=\"family\"}": 41,
            "tenfour_icecast_bytes_sent_total{channel=\"family\"}": 42,
            "tenfour_icecast_bytes_dropped_total{channel=\"family\"}": 43,
            "tenfour_icecast_failures_total{channel=\"family\",reason=\"unreachable\"}": 51,
            "tenfour_icecast_failures_total{channel=\"family\",reason=\"too_many_open_files\"}": 58,
            "tenfour_icecast_failures_total{channel=\"family\",reason=\"other\"}": 59,
            "tenfour_nats_connected": 1, "tenfour_nats_connections_total": 81,
            "tenfour_nats_messages_dropped_total{direction=\"sent\"}": 82,
            "tenfour_nats_messages_dropped_total{direction=\"received\"}": 83,
            "tenfour_cluster_relays": 2, "tenfour_cluster_round_trip_seconds": 0.003,
            "tenfour_cluster_relays_gone_total": 84,
            "tenfour_cluster_messages_total{direction=\"sent\"}": 85,
            "tenfour_cluster_bytes_total{direction=\"sent\"}": 86,
            "tenfour_cluster_messages_total{direction=\"received\"}": 87,
            "tenfour_cluster_bytes_total{direction=\"received\"}": 88,
            "tenfour_cluster_packets_requested_total": 89, "tenfour_cluster_packets_retransmitted_total": 90,
            "tenfour_cluster_messages_discarded_total{reason=\"malformed\"}": 91,
            "tenfour_cluster_messages_discarded_total{reason=\"replayed\"}": 92,
            "tenfour_cluster_messages_discarded_total{reason=\"forged\"}": 93,
            "tenfour_cluster_messages_discarded_total{reason=\"stranger\"}": 94,
            "tenfour_cluster_messages_discarded_total{reason=\"unknown_channel\"}": 95,
            "tenfour_joins_refused_total{reason=\"wrong_secret\"}": Double(RelayDiscard.unproved.rawValue + 1),
            "tenfour_rtp_packets_dropped_total{reason=\"forged_media\"}": Double(RelayDiscard.forgedMedia.rawValue + 1),
        ]
        for (name, value) in expected { #expect(found[name] == value, "\(name): \(found[name] ?? .nan)") }
    }

    @Test func pairedChannelsHaveTheirSeriesWhereStationsCanPair() {
        let found = samples(text(status))
        let expected: [String: Double] = [
            "tenfour_paired_channels": 71, "tenfour_paired_members": 72, "tenfour_paired_joins_total": 73,
            "tenfour_paired_rtp_packets_received_total": 74, "tenfour_paired_rtp_bytes_received_total": 75,
        ]
        for (name, value) in expected { #expect(found[name] == value, "\(name): \(found[name] ?? .nan)") }
        var without = status
        without.relay.paired = nil
        #expect(!samples(text(without)).keys.contains { $0.contains("paired") })
    }

    @Test func theFloorHasItsSeries() {
        let found = samples(text(status))
        let expected: [String: Double] = [
            "tenfour_floor_taken{channel=\"family\"}": 1, "tenfour_floor_waiting{channel=\"family\"}": 61,
            "tenfour_floor_requests_total{channel=\"family\"}": 62,
            "tenfour_floor_denied_total{channel=\"family\"}": 63,
            "tenfour_floor_offences_total{channel=\"family\",reason=\"messages_over_limit\"}": 64,
            "tenfour_floor_offences_total{channel=\"family\",reason=\"overlong\"}": 65,
            "tenfour_floor_offences_total{channel=\"family\",reason=\"foreign_ssrc\"}": 66,
            "tenfour_floor_offences_total{channel=\"family\",reason=\"surplus_emergencies\"}": 67,
            "tenfour_floor_offences_total{channel=\"family\",reason=\"packets_without_floor\"}": 68,
        ]
        for (name, value) in expected { #expect(found[name] == value, "\(name): \(found[name] ?? .nan)") }
    }

    /// Each reason to discard is counted in one series of its own.
    @Test func everyReasonHasItsSeries() {
        let names = ["tenfour_rtp_packets_dropped_total{reason", "tenfour_joins_refused_total"]
        let reasons = samples(text(status)).filter { names.contains(where: $0.key.hasPrefix) }
        let counts = reasons.filter { $0.value <= Double(RelayDiscard.allCases.count) }
        let others = reasons.filter { $0.key.contains("too_long") || $0.key.contains("queue_full") }
        #expect(reasons.count == RelayDiscard.allCases.count + others.count)
        #expect(Set(counts.values).count == RelayDiscard.allCases.count)
    }

    @Test func prometheusAcceptsThem() throws { try checkByPrometheus(text(status)) }

    @Test func theProcessIsDescribed() throws {
        let found = samples(text(status))
        #expect(try #require(found["process_resident_memory_bytes"]) > 1e6)
        #expect(try #require(found["process_virtual_memory_bytes"]) > 1e6)
        #expect(try #require(found["process_open_fds"]) >= 3)
        #expect(try #require(found["process_max_fds"]) >= 64)
        #expect(try #require(found["process_cpu_seconds_total"]) > 0)
        let start = try #require(found["process_start_time_seconds"])
        let age = Double(RealTimeClock.milliseconds) / 1_000 - start
        #expect(age > 0 && age < 86_400, "started \(age) s ago")
    }
}
