public import TenfourJSON
public import TenfourPackets

/// The quality of a session, in the form that `tenfour --report`, replay and radiocheck write.
public struct QualityReport: Sendable {
    public var whole: QualitySummary
    public var seconds: [QualitySummary]
    public var talkers: [(ssrc: SSRC, whole: QualitySummary)]

    public init(
        whole: QualitySummary, seconds: [QualitySummary], talkers: [(ssrc: SSRC, whole: QualitySummary)]
    ) {
        self.whole = whole
        self.seconds = seconds
        self.talkers = talkers
    }

    /// Sets a round-trip time that was measured by other means than RTCP. The scores use half of it as the network's
    /// delay.
    public mutating func setRoundTrip(_ roundTrip: Duration) {
        whole.roundTrip = roundTrip
        for index in seconds.indices { seconds[index].roundTrip = roundTrip }
        for index in talkers.indices { talkers[index].whole.roundTrip = roundTrip }
    }

    /// The members of the JSON report: `whole`, `seconds` and `talkers`. `name` returns additional members for a
    /// talker.
    public func members(naming name: (SSRC) -> [(String, JSON)] = { _ in [] }) -> [(String, JSON)] {
        [
            ("whole", whole.json),
            (
                "seconds",
                .list(seconds.enumerated().map { .object([("second", .integer($0))] + $1.members) })
            ),
            (
                "talkers",
                .list(
                    talkers.map { talker in
                        .object([("ssrc", .text(talker.ssrc.digits))] + name(talker.ssrc) + talker.whole.members)
                    })
            ),
        ]
    }
}
