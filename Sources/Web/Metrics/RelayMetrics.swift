internal import TenfourFloor
public import TenfourHTTPServer
internal import TenfourRelayCore
public import TenfourRelayServer
internal import TenfourUV

extension MetricsText {
    /// Adds the metrics of a relay. `version` is the program's.
    public mutating func addRelay(_ status: RelayServerStatus, version: String) {
        add(
            "tenfour_build_info", .gauge, "Version of tenfour as a label; the value is always 1.",
            [Sample(1, (.version, version))])
        add("tenfour_uptime_seconds", .gauge, "Time since the relay was started.", status.uptime / .seconds(1))
        add("tenfour_send_threads", .gauge, "Threads that send packets to members.", Double(status.workers))
        add("tenfour_talker_sockets", .gauge, "Talkers that have a socket of their own.", Double(status.talkerSockets))
        addChannels(RelayChannelCounts.all(of: status))
        addFloors(status.relay.channels)
        if let paired = status.relay.paired { addPaired(paired) }
        addRefusals(status)
        if let cluster = status.cluster { addCluster(cluster) }
    }

    /// Adds the listeners over HTTP of each channel that can be heard over HTTP.
    public mutating func addHTTPListeners(_ counts: [String: Int]) {
        add(
            "tenfour_http_listeners", .gauge, "Listeners over HTTP.",
            counts.sorted { $0.key < $1.key }.map { Sample($0.value, (.channel, $0.key)) })
    }

    /// Adds what the HTTP server has done.
    public mutating func addHTTP(_ status: HTTPServerStatus) {
        add(
            "tenfour_http_connections", .gauge, "Open connections to the HTTP server.",
            Double(status.connectionCount))
        add(
            "tenfour_http_requests_total", .counter, "Requests over HTTP that were answered.",
            [Sample(status.requestCount)])
        add(
            "tenfour_http_refusals_total", .counter,
            "Requests and connections over HTTP that were refused, or closed early, by reason.",
            status.counts.map { Sample($0.count, (.reason, $0.reason)) })
    }

    private mutating func addChannels(_ channels: [RelayChannelCounts]) {
        func samples(_ value: (RelayChannelCounts) -> Int?) -> [Sample] {
            channels.compactMap { channel in value(channel).map { Sample($0, (.channel, channel.name)) } }
        }
        add(
            "tenfour_members", .gauge, "Members of the channel, talkers and listeners together.",
            samples { $0.encrypted?.memberCount })
        add(
            "tenfour_listeners", .gauge,
            "Members that may only listen; in a plain channel, the addresses to which it is sent.",
            samples(\.listenerCount))
        add(
            "tenfour_talkers", .gauge, "Members that have sent a packet within the last ten seconds.",
            samples { $0.encrypted?.talkerCount })
        add(
            "tenfour_joins_total", .counter, "Joins that were accepted.",
            samples { $0.encrypted?.joinedCount })
        add(
            "tenfour_rtp_packets_received_total", .counter,
            "Packets from talkers that were forwarded; each counts once.",
            samples(\.receivedCount))
        add(
            "tenfour_rtp_bytes_received_total", .counter, "Bytes of the packets from talkers that were forwarded.",
            samples(\.receivedByteCount))
        add(
            "tenfour_rtp_packets_sent_total", .counter,
            "Packets sent to members; a packet counts once for each member.",
            samples(\.fanOut.sent))
        add(
            "tenfour_rtp_bytes_sent_total", .counter, "Bytes of the packets sent to members.",
            samples(\.fanOut.sentByteCount))
        add(
            "tenfour_rtp_packets_retransmitted_total", .counter,
            "Packets retransmitted to single members that requested them (NACK).",
            samples { $0.encrypted?.retransmittedCount })
        add(
            "tenfour_rtp_packets_requested_total", .counter,
            "Packets that the relay requested from talkers (NACK), because they had not arrived.",
            samples { $0.encrypted?.requestedCount })
    }

    private mutating func addPaired(_ paired: RelayStatus.Paired) {
        add(
            "tenfour_paired_channels", .gauge, "Channels of stations that have paired here, with a member.",
            Double(paired.channelCount))
        add(
            "tenfour_paired_members", .gauge, "Members of the channels of stations that have paired here.",
            Double(paired.memberCount))
        add(
            "tenfour_paired_joins_total", .counter, "Joins that were accepted in these channels.",
            [Sample(paired.joinedCount)])
        add(
            "tenfour_paired_rtp_packets_received_total", .counter,
            "Packets from talkers that were forwarded in these channels; each counts once.",
            [Sample(paired.forwardedCount)])
        add(
            "tenfour_paired_rtp_bytes_received_total", .counter, "Bytes of these packets; each packet counts once.",
            [Sample(paired.forwardedByteCount)])
    }

    private mutating func addFloors(_ channels: [RelayStatus.Channel]) {
        func samples(_ value: (FloorStatus) -> Int) -> [Sample] {
            channels.map { Sample($0.floor.map(value) ?? 0, (.channel, $0.name)) }
        }
        add(
            "tenfour_floor_taken", .gauge, "1 while a station has the floor; all relays of a cluster say the same.",
            samples { $0.talker == nil ? 0 : 1 })
        add(
            "tenfour_floor_waiting", .gauge,
            "Requests for the floor that wait; in a cluster only the relay that grants the floor counts them.",
            samples(\.waitingCount))
        add(
            "tenfour_floor_requests_total", .counter,
            "Requests for the floor, one for each press of the key; counted by the relay that grants the floor.",
            samples(\.totals.requestCount))
        add(
            "tenfour_floor_denied_total", .counter, "Requests for the floor that were denied.",
            samples(\.totals.deniedCount))
        let offences: [(reason: String, count: any KeyPath<FloorMemberCounts, Int> & Sendable)] = [
            ("messages_over_limit", \.limitedCount), ("overlong", \.overlongCount),
            ("foreign_ssrc", \.foreignSSRCCount), ("surplus_emergencies", \.surplusEmergencyCount),
            ("packets_without_floor", \.unpermittedPacketCount),
        ]
        add(
            "tenfour_floor_offences_total", .counter, "Offences of members against the rules of the floor, by kind.",
            channels.flatMap { channel in
                offences.map { offence in
                    Sample(
                        channel.floor?.totals[keyPath: offence.count] ?? 0, (.channel, channel.name),
                        (.reason, offence.reason))
                }
            })
    }

    private mutating func addRefusals(_ status: RelayServerStatus) {
        let reasons = RelayDiscard.allCases
        add(
            "tenfour_joins_refused_total", .counter, "Joins that were refused or ignored, by reason.",
            reasons.filter(\.isJoin).map { Sample(status.relay.discards[$0], (.reason, $0.label)) })
        var drops = reasons.filter { !$0.isJoin }.map { Sample(status.relay.discards[$0], (.reason, $0.label)) }
        drops.append(Sample(status.socket.truncated, (.reason, "too_long")))
        drops.append(Sample(status.socket.dropped, (.reason, "queue_full")))
        for channel in RelayChannelCounts.all(of: status) {
            drops.append(Sample(channel.fanOut.dropped, (.channel, channel.name), (.reason, "congestion")))
            drops.append(Sample(channel.fanOut.failed, (.channel, channel.name), (.reason, "network_error")))
        }
        for channel in status.plain {
            for reason in PlainDiscard.allCases {
                drops.append(
                    Sample(channel.discards[reason] ?? 0, (.channel, channel.name), (.reason, reason.label)))
            }
        }
        add(
            "tenfour_rtp_packets_dropped_total", .counter,
            "Received datagrams that were not forwarded, and packets that did not reach a member, by reason.", drops)
        add(
            "tenfour_network_errors_total", .counter,
            "Datagrams that this machine or the network refused, by the error that the system reported.",
            status.socket.failures.sorted { $0.key < $1.key }.map {
                Sample($0.value, (.reason, NetworkError.text(for: $0.key)))
            })
    }
}

/// The counts of one channel, encrypted or plain.
private struct RelayChannelCounts {
    var name: String
    var listenerCount: Int
    var receivedCount: Int
    var receivedByteCount: Int
    var fanOut: FanOutStatistics
    /// The counts that only an encrypted channel has.
    var encrypted: RelayStatus.Channel?

    static func all(of status: RelayServerStatus) -> [Self] {
        zip(status.relay.channels, status.fanOuts).map { channel, fanOut in
            Self(
                name: channel.name, listenerCount: channel.listenerCount, receivedCount: channel.forwardedCount,
                receivedByteCount: channel.forwardedByteCount, fanOut: fanOut, encrypted: channel)
        }
            + status.plain.map {
                Self(
                    name: $0.name, listenerCount: $0.targetCount, receivedCount: $0.received,
                    receivedByteCount: $0.receivedByteCount, fanOut: $0.fanOut)
            }
    }
}
