public import TenfourWeb

extension MetricsText {
    /// Adds the metrics of a relay's feeds of Icecast servers.
    public mutating func addIcecast(_ feeds: [IcecastStatus]) {
        func samples(_ value: (IcecastStatus) -> Int) -> [Sample] {
            feeds.map { Sample(value($0), (.channel, $0.channel)) }
        }
        add(
            "tenfour_icecast_connected", .gauge, "Whether an Icecast server takes the channel's audio: 1 or 0.",
            samples { $0.isConnected ? 1 : 0 })
        add(
            "tenfour_icecast_connections_total", .counter, "Connections that the Icecast server has accepted.",
            samples(\.connectedCount))
        add(
            "tenfour_icecast_failures_total", .counter, "Connections that failed or ended, by reason.",
            feeds.flatMap { feed in
                IcecastFailure.allCases.map {
                    Sample(feed.failures[$0] ?? 0, (.channel, feed.channel), (.reason, $0.label))
                }
            })
        add(
            "tenfour_icecast_bytes_sent_total", .counter, "Bytes of Ogg pages sent to the Icecast server.",
            samples(\.sentByteCount))
        add(
            "tenfour_icecast_bytes_dropped_total", .counter,
            "Bytes of Ogg pages that were not sent, because the server was away or took them too slowly.",
            samples(\.droppedByteCount))
    }
}

extension IcecastFailure {
    /// The value of the label `reason`. It stays the same in later versions, because alert rules name it.
    var label: String {
        switch self {
        case .unreachable: "unreachable"
        case .silent: "silent"
        case .password: "wrong_password"
        case .mountInUse: "mount_in_use"
        case .encryption: "encryption"
        case .ended: "ended"
        case .stalled: "stalled"
        case .tooManyOpenFiles: "too_many_open_files"
        case .other: "other"
        }
    }
}
