import TenfourMetrics
import Testing

/// The text format of Prometheus.
@Suite struct MetricsTextTests {
    @Test func aMetricHasHelpTypeAndSamples() {
        var text = MetricsText()
        text.add(
            "tenfour_members", .gauge, "Members of the channel.",
            [.init(3, (.channel, "family")), .init(0.25, (.channel, "work"), (.peer, "Anna"))])
        text.add("tenfour_joins_total", .counter, "Joins.", 12_000_000_000)
        #expect(
            text.text == """
                # HELP tenfour_members Members of the channel.
                # TYPE tenfour_members gauge
                tenfour_members{channel="family"} 3
                tenfour_members{channel="work",peer="Anna"} 0.25
                # HELP tenfour_joins_total Joins.
                # TYPE tenfour_joins_total counter
                tenfour_joins_total 12000000000

                """)
    }

    @Test func labelsAndHelpAreEscaped() {
        var text = MetricsText()
        text.add("a", .gauge, "A \"b\"\nc\\", [.init(1, (.peer, "\"\\\n} 5 ä"))])
        #expect(text.text == "# HELP a A \"b\"\\nc\\\\\n# TYPE a gauge\na{peer=\"\\\"\\\\\\n} 5 ä\"} 1\n")
    }

    @Test func numbersThatAreNoneHaveNames() {
        var text = MetricsText()
        for value in [Double.nan, .infinity, -.infinity] { text.add("a", .gauge, "A.", value) }
        #expect(text.text.split(separator: "\n").filter { !$0.hasPrefix("#") } == ["a NaN", "a +Inf", "a -Inf"])
    }

    @Test func aMetricWithoutSamplesIsLeftOut() {
        var text = MetricsText()
        text.add("a", .gauge, "A.", [MetricsText.Sample]())
        #expect(text.text.isEmpty)
    }
}
