import TenfourAudioCore
import TenfourChannelKeys
import TenfourDiagnosis
import TenfourPackets
import TenfourSeededRandom
import TenfourSession

/// Feeds the bytes as an answer to `tenfour doctor`: as a station's report, and as what a relay sends before and after its
/// cookie, with the nonce of the attempt.
func feedDoctor(_ bytes: Span<UInt8>) {
    let story = DoctorStory.shared
    var reader = story.reader
    reader.read(bytes, at: .start)
    checkShown(reader.name)
    precondition(reader.difference.map { $0 > .seconds(-1 << 32) && $0 < .seconds(1 << 32) } ?? true)
    let known = bytes.count >= 20 ? withNonce(of: story, bytes) : nil
    for relay in [story.asked, story.welcomed] {
        feed(bytes, to: relay)
        if let known { feed(known.span, to: relay) }
    }
}

/// Passes a datagram to an exchange with a relay, and checks that it is not taken for a welcome, which needs the key.
private func feed(_ datagram: Span<UInt8>, to relay: RelayExchange) {
    var relay = relay
    relay.receive(datagram, from: DoctorStory.endpoint, at: .start, clock: WallClock(milliseconds: 0))
    if case .welcome = relay.outcome { preconditionFailure("a stranger was believed") }
    var count = 0
    while isAnswered(&relay) { count += 1 }
    precondition(count <= JoinAttempt.maximumCookieCount, "more datagrams than cookies")
}

private func isAnswered(_ relay: inout RelayExchange) -> Bool {
    var isThere = false
    _ = [UInt8](capacity: 1_500) { isThere = relay.nextDatagram(into: &$0, at: .start) }
    return isThere
}

private func withNonce(of story: DoctorStory, _ bytes: Span<UInt8>) -> [UInt8] {
    [UInt8](capacity: bytes.count) {
        for index in bytes.indices { $0.append((4..<20).contains(index) ? story.nonce[index - 4] : bytes[index]) }
    }
}

/// A relay that was asked, and one that has sent its cookie.
private struct DoctorStory: Sendable {
    let reader = ReportReader(wallClock: NTPTime(rawValue: 0))
    let asked: RelayExchange
    let welcomed: RelayExchange
    let nonce: [UInt8]

    static let endpoint = Endpoint(.v4(0x0A00_0001), port: 5004)
    static let shared = DoctorStory()

    init() {
        var randomness = SeededRandom(seed: 17)
        let key = JoinKey(dummyUsing: &randomness)
        var relay = RelayExchange(
            Self.endpoint, relay: RelayID(host: "relay.example", port: 5004), key: key, at: .start, using: &randomness)
        let hello = [UInt8](capacity: 1_500) { _ = relay.nextDatagram(into: &$0, at: .start) }
        nonce = Array(hello[4..<20])
        asked = relay
        let cookie = Array(hello[..<2]) + [2, 0] + nonce + [UInt8](repeating: 7, count: 20)
        relay.receive(cookie.span, from: Self.endpoint, at: .start, clock: WallClock(milliseconds: 0))
        precondition(isAnswered(&relay), "a cookie is answered")
        welcomed = relay
    }
}
