import TenfourJSON
import TenfourRelayCore
import TenfourRelayServer
import TenfourSession
import TenfourTransmissions
import Testing

@testable import tenfour

/// A figure has one name, in the table and in JSON. There, a unit or `share` may follow the name.
struct ColumnNameTests {
    private func columns(_ line: some StringProtocol) -> [String] {
        line.split(separator: "  ").map { $0.trimmingSpaces.lowercased().replacing(" ", with: "_") }
            .filter { !$0.isEmpty }
    }

    private func expect(_ columns: [String], in json: JSON, _ others: [String: String]) {
        for column in columns {
            let name = others[column] ?? column
            let isThere = [name, "\(name)_s", "\(name)_share"].contains { json.member($0) != nil }
            #expect(isThere, "\(column) is not in \(json.line)")
        }
    }

    @Test func theLogsColumnsAreItsNames() throws {
        let transmission = Transmission(
            start: 1_795_341_797, channel: "family", talker: "alice", duration: .seconds(3), lossShare: 0, score: 4)
        let entry = TransmissionLog.Entry(number: 1, transmission: transmission, path: "x", isComplete: true)
        let json = try JSON(parsing: Array(LogLine.json(entry).utf8))
        let columns = columns(LogLine.heading)
        #expect(columns.count == 7)
        expect(columns, in: json, ["#": "number"])
        #expect(LogLine.text(entry, now: 1_795_341_800).contains(" 0.0%"))
    }

    @Test func theRelaysColumnsAreItsNames() throws {
        var status = RelayServerStatus(listening: Endpoint(.loopbackV4, port: 5_004))
        status.plain = [.init(name: "studio", targetCount: 1)]
        var paired = RelayStatus.Paired()
        (paired.channelCount, paired.memberCount, paired.forwardedCount) = (1, 2, 30)
        status.relay.paired = paired
        let report = RelayReport(status, ["studio": 0])
        #expect(report.text.contains("\n\npairs stations: 1 paired channel, 2 members, 30 packets in\n"))
        #expect(report.json.member("pairing")?.line.contains("\"members\": 2") == true, "\(report.json.line)")
        let columns = columns(try #require(report.text.split(separator: "\n").dropFirst().first))
        #expect(columns.count == 10 && columns.contains("http_listeners") && columns.contains("retransmitted"))
        guard case .list(let channels)? = report.json.member("channels"), let channel = channels.first else {
            Issue.record("no channels in \(report.json.line)")
            return
        }
        expect(columns, in: channel, ["channel": "name"])
    }
}

extension StringProtocol {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
