internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// What a member has from being let in until it is not any more.
struct ChannelSession: Sendable {
    let number: UInt64
    let endpoint: Endpoint
    /// Where the relay sees us.
    var seen: PeerAddress
    var sealer: RecordSealer
    var opener: RecordOpener
    var tagger: HopTagger
    var keepalive: LeaseKeepalive
    /// What the relay said last that only we have received.
    var receipt: UInt64 = 0
    /// What was told of how much the relay takes.
    var limits: TalkerLimits?

    init(_ keys: SessionKeys, _ terms: Welcome.Terms, endpoint: Endpoint, token: UInt64, at now: Instant) {
        number = keys.session
        self.endpoint = endpoint
        seen = terms.address
        sealer = keys.sealer(for: .member)
        opener = keys.opener(for: .member)
        tagger = keys.hopTagger(for: .member)
        keepalive = LeaseKeepalive(lease: .seconds(Int(terms.lease)), token: token, at: now)
    }

    /// Opens the record that the first `count` of `bytes` are.
    mutating func open(_ bytes: inout [UInt8], count: Int) throws(RecordOpener.Failure) -> Record {
        var span = bytes.mutableSpan
        var record = span._mutatingExtracting(..<count)
        return try opener.open(&record)
    }
}
