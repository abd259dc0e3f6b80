import Foundation
import TestSupport
import Testing

/// The Grafana board, the alert rules and the configuration of Prometheus in Tools/monitoring.
@Suite(.onItsOwnThread) struct MonitoringTests {
    private static let folder = "Tools/monitoring"

    private func text(_ name: String) -> String { Folder.text(of: Repository.path("\(Self.folder)/\(name)")) }

    /// The names of metrics in a text.
    private func metrics(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(?:tenfour|process)_[a-z_]+\b/).map { String($0.output) })
    }

    /// The source texts, which name all metrics; other tests show that each metric is written.
    private var sources: String {
        let folder = Repository.path("Sources/Web/Metrics")
        return Folder.entries(of: folder).filter { $0.hasSuffix(".swift") }.map { Folder.text(of: "\(folder)/\($0)") }
            .joined()
    }

    @Test(arguments: ["board.json", "alerts.yml"]) func onlyMetricsThatExistAreUsed(file: String) {
        let used = metrics(in: text(file))
        let known = metrics(in: sources)
        #expect(used.count > 8 && used.isSubset(of: known), "\(used.subtracting(known).sorted())")
    }

    @Test(arguments: ["board.json", "alerts.yml"]) func onlyLabelsThatExistAreUsed(file: String) {
        let reasons = text(file).replacing("\\\"", with: "\"").matches(of: /reason!?=~?"([a-z_|]+)"/).flatMap {
            $0.output.1.split(separator: "|")
        }
        #expect(!reasons.isEmpty)
        for reason in reasons { #expect(sources.contains("\"\(reason)\""), "\(reason)") }
    }

    /// Every metric but those of build and process is on the board.
    @Test func theBoardShowsTheMetrics() {
        let missing = metrics(in: sources).subtracting(metrics(in: text("board.json")))
        let left = missing.filter { $0.hasPrefix("tenfour_") }
        #expect(
            left.isSubset(of: [
                "tenfour_members", "tenfour_talker_sockets", "tenfour_icecast_connections_total",
                "tenfour_icecast_bytes_sent_total", "tenfour_icecast_bytes_dropped_total",
                "tenfour_nats_connections_total",
            ]), "\(left.sorted())")
    }

    @Test func theBoardIsABoard() throws {
        let board = try #require(
            try JSONSerialization.jsonObject(with: Data(text("board.json").utf8)) as? [String: Any])
        let panels = try #require(board["panels"] as? [[String: Any]])
        let identifiers = panels.compactMap { $0["id"] as? Int }
        #expect(board["title"] as? String == "tenfour" && panels.count > 10)
        #expect(Set(identifiers).count == panels.count)
        for panel in panels where panel["type"] as? String != "row" {
            let targets = try #require(panel["targets"] as? [[String: Any]])
            for target in targets { #expect((target["expr"] as? String)?.isEmpty == false) }
        }
    }

    @Test func prometheusAcceptsTheRulesAndTheConfiguration() throws {
        let rules = try Program.run("promtool", ["check", "rules", Repository.path("\(Self.folder)/alerts.yml")])
        #expect(rules.end == .code(0), "\(rules.output)\(rules.errors)")
        let configuration = try Program.run(
            "promtool", ["check", "config", Repository.path("\(Self.folder)/prometheus.yml")])
        #expect(configuration.end == .code(0), "\(configuration.output)\(configuration.errors)")
    }

    /// Prometheus evaluates the rules on series as a relay and a station write them.
    @Test func theAlertsFireWhenTheyShould() throws {
        let folder = Folder()
        folder.write(text("alerts.yml"), to: "alerts.yml")
        folder.write(
            """
            rule_files: [alerts.yml]
            evaluation_interval: 1m
            tests:
              - interval: 1m
                input_series:
                  - series: tenfour_uptime_seconds{instance="stuck",job="tenfour"}
                    values: 60x20
                  - series: tenfour_uptime_seconds{instance="well",job="tenfour"}
                    values: 0+60x20
                  - series: tenfour_rtp_packets_dropped_total{instance="a",channel="family",reason="congestion"}
                    values: 0+600x20
                  - series: tenfour_audio_concealed_seconds_total{instance="b",channel="family",peer="Anna"}
                    values: 0+3x20
                  - series: tenfour_talk_seconds_total{instance="b",channel="family",peer="Anna",direction="received"}
                    values: 0+50x20
                  - series: process_open_fds{instance="c"}
                    values: 90x20
                  - series: process_max_fds{instance="c"}
                    values: 100x20
                  - series: tenfour_build_info{instance="c"}
                    values: 1x20
                  - series: tenfour_nats_connected{instance="d"}
                    values: 1x15 0x5
                  - series: tenfour_cluster_relays{instance="d"}
                    values: 2x15 0x5
                  - series: tenfour_nats_connected{instance="e"}
                    values: 1x20
                  - series: tenfour_cluster_relays{instance="e"}
                    values: 2x15 1x5
                  - series: tenfour_nats_connected{instance="well"}
                    values: 1x20
                  - series: tenfour_cluster_relays{instance="well"}
                    values: 1x10 2x10
                promql_expr_test:
                  - expr: count by (alertname, instance) (ALERTS{alertstate="firing"})
                    eval_time: 19m
                    exp_samples:
                      - labels: '{alertname="TenfourStuck", instance="stuck"}'
                        value: 1
                      - labels: '{alertname="TenfourCongested", instance="a"}'
                        value: 1
                      - labels: '{alertname="TenfourAudioLost", instance="b"}'
                        value: 1
                      - labels: '{alertname="TenfourOpenFiles", instance="c"}'
                        value: 1
                      - labels: '{alertname="TenfourNATSDown", instance="d"}'
                        value: 1
                      - labels: '{alertname="TenfourClusterRelayGone", instance="e"}'
                        value: 1

            """, to: "test.yml")
        let result = try Program.run("promtool", ["test", "rules", "test.yml"], in: folder)
        #expect(result.end == .code(0), "\(result.output)\(result.errors)")
    }
}
