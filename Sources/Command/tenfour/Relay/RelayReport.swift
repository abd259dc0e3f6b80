import TenfourCallQuality
import TenfourCommandSupport
import TenfourFloor
import TenfourHTTPServer
internal import TenfourJSON
import TenfourRelayCore
import TenfourRelayServer
import TenfourUV
import TenfourWeb

/// A relay's status as a table for people and as JSON.
struct RelayReport {
    private let status: RelayServerStatus
    /// The number of listeners over HTTP of each channel that can be heard over HTTP.
    private let webListeners: [String: Int]

    /// The counts of the HTTP server; nil if there is none.
    private let http: HTTPServerStatus?
    private let feeds: [IcecastStatus]

    init(
        _ status: RelayServerStatus, _ webListeners: [String: Int] = [:], http: HTTPServerStatus? = nil,
        _ feeds: [IcecastStatus] = []
    ) {
        self.status = status
        self.webListeners = webListeners
        self.http = http
        self.feeds = feeds
    }

    /// The bytes that the status socket sends: the table, a zero byte, the JSON.
    var answer: [UInt8] { Array(text.utf8) + [0] + Array(json.text.utf8) }

    /// Splits the status socket's answer into the table and the JSON; nil if the answer is malformed.
    static func parts(of answer: [UInt8]) -> (text: String, json: String)? {
        guard let middle = answer.firstIndex(of: 0) else { return nil }
        return (
            String(decoding: answer[..<middle], as: UTF8.self), String(decoding: answer[(middle + 1)...], as: UTF8.self)
        )
    }

    private struct Row {
        var name: String
        var isEncrypted: Bool
        var members: Int
        var listeners: Int
        var talkers: Int
        var packets: Int
        var fanOut: FanOutStatistics
        var retransmitted = 0
        var requested = 0
        /// Who has the floor; nil if nobody has requested it.
        var floor: FloorStatus?
    }

    private var rows: [Row] {
        let encrypted = zip(status.relay.channels, status.fanOuts).map { channel, fanOut in
            Row(
                name: channel.name, isEncrypted: true, members: channel.memberCount, listeners: channel.listenerCount,
                talkers: channel.talkerCount, packets: channel.forwardedCount, fanOut: fanOut,
                retransmitted: channel.retransmittedCount, requested: channel.requestedCount,
                floor: channel.floor)
        }
        let plain = status.plain.map {
            Row(
                name: $0.name, isEncrypted: false, members: $0.targetCount, listeners: $0.targetCount, talkers: 0,
                packets: $0.received, fanOut: $0.fanOut)
        }
        return encrypted + plain
    }

    /// The number of dropped packets per reason and channel, most frequent first.
    private var drops: [(reason: String, channel: String?, count: Int)] {
        var drops = RelayDiscard.allCases.map { ("\($0)", String?.none, status.relay.discards[$0]) }
        for channel in status.plain {
            for (reason, count) in channel.discards { drops.append(("\(reason)", channel.name, count)) }
        }
        for row in rows { drops.append(("network congested", row.name, row.fanOut.dropped)) }
        drops.append(("\(RelayNotice.Reason.tooLong)", nil, status.socket.truncated))
        drops.append(("\(RelayNotice.Reason.queue)", nil, status.socket.dropped))
        for (code, count) in status.socket.failures { drops.append((NetworkError.text(for: code), nil, count)) }
        return drops.filter { $0.2 > 0 }
            .sorted { ($1.2, $0.0, $0.1 ?? "") < ($0.2, $1.0, $1.1 ?? "") }
            .map { (reason: $0.0, channel: $0.1, count: $0.2) }
    }

    var text: String {
        let seconds = Int(status.uptime / .seconds(1))
        var lines = [
            "relaying on \(status.listening) for \(seconds / 3_600) h \(seconds / 60 % 60) min \(seconds % 60) s, sending from "
                + "\(status.workers) \(status.workers == 1 ? "thread" : "threads")",
            "",
        ]
        let heads =
            ["channel", "members", "listeners"] + (webListeners.isEmpty ? [] : ["HTTP listeners"])
            + ["talkers", "packets in", "sent", "dropped", "retransmitted", "requested"]
        let cells = rows.map { row in
            [row.isEncrypted ? row.name : "\(row.name) (plain)"]
                + [row.members, row.listeners].map(String.init) + webCells(of: row)
                + [row.talkers, row.packets, row.fanOut.sent, row.fanOut.dropped].map(String.init)
                + (row.isEncrypted ? ["\(row.retransmitted)", "\(row.requested)"] : ["", ""])
        }
        lines += Self.table([heads] + cells)
        let floors = rows.flatMap { row in row.floor?.lines(channel: row.name) ?? [] }
        if !floors.isEmpty { lines += [""] + floors }
        if let paired = status.relay.paired { lines += ["", paired.line] }
        if !feeds.isEmpty { lines += [""] + feeds.map { "channel \($0.channel) \($0.sentence)" } }
        if let http { lines += ["", http.line] }
        if let cluster = status.cluster { lines += ["", cluster.line] }
        if !drops.isEmpty { lines += ["", "dropped"] }
        for drop in drops {
            lines.append("  \(drop.count)  \(drop.reason)" + (drop.channel.map { ", channel \($0)" } ?? ""))
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private func webCells(of row: Row) -> [String] {
        webListeners.isEmpty ? [] : [webListeners[row.name].map(String.init) ?? ""]
    }

    /// Returns the rows as lines with aligned columns: names to the left, numbers to the right.
    private static func table(_ rows: [[String]]) -> [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].columnCount }.max() ?? 0 }
        return rows.map { row in
            let line = row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].columnCount)
                return column == 0 ? row[column] + padding : padding + row[column]
            }.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    var json: JSON {
        .object([
            ("listening", .text("\(status.listening)")),
            ("uptime_s", .decimal(status.uptime / .seconds(1), places: 1)),
            ("workers", .integer(status.workers)),
            ("cluster", status.cluster?.json ?? .null),
            ("talker_sockets", .integer(status.talkerSockets)),
            ("http", http?.json ?? .null),
            (
                "channels",
                .list(
                    rows.map { row in
                        .object([
                            ("name", .text(row.name)), ("encrypted", .boolean(row.isEncrypted)),
                            ("members", .integer(row.members)), ("listeners", .integer(row.listeners)),
                            ("http_listeners", webListeners[row.name].map { .integer($0) } ?? .null),
                            ("talkers", .integer(row.talkers)), ("packets_in", .integer(row.packets)),
                            ("offered", .integer(row.fanOut.offered)), ("sent", .integer(row.fanOut.sent)),
                            ("dropped", .integer(row.fanOut.dropped)), ("failed", .integer(row.fanOut.failed)),
                            ("retransmitted", .integer(row.retransmitted)), ("requested", .integer(row.requested)),
                            ("floor", row.floor?.json ?? .null),
                        ])
                    })
            ),
            ("pairing", status.relay.paired?.json ?? .null),
            (
                "icecast",
                .list(
                    feeds.map { feed in
                        .object([
                            ("channel", .text(feed.channel)), ("target", .text(feed.target)),
                            ("connected", .boolean(feed.isConnected)),
                            ("connections", .integer(feed.connectedCount)),
                            ("failures", .integer(feed.failures.values.reduce(0, +))),
                            ("last_failure", feed.lastFailure.map { .text("\($0)") } ?? .null),
                            ("sent_bytes", .integer(feed.sentByteCount)),
                            ("dropped_bytes", .integer(feed.droppedByteCount)),
                        ])
                    })
            ),
            (
                "drops",
                .list(
                    drops.map { drop in
                        .object([
                            ("reason", .text(drop.reason)), ("channel", drop.channel.map { .text($0) } ?? .null),
                            ("count", .integer(drop.count)),
                        ])
                    })
            ),
        ])
    }
}

extension RelayStatus.Paired {
    /// The line in the table for people, such as `pairs stations: 12 paired channels, 22 members`.
    fileprivate var line: String {
        "pairs stations: \(channelCount) paired \(channelCount == 1 ? "channel" : "channels"), "
            + "\(memberCount) \(memberCount == 1 ? "member" : "members"), \(forwardedCount) packets in"
    }

    fileprivate var json: JSON {
        .object([
            ("channels", .integer(channelCount)), ("members", .integer(memberCount)), ("joins", .integer(joinedCount)),
            ("packets_in", .integer(forwardedCount)), ("retransmitted", .integer(retransmittedCount)),
            ("requested", .integer(requestedCount)),
        ])
    }
}
