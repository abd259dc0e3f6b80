import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// Replayed datagrams of a listener cause no media, neither to another address nor to the listener's old address.
struct ReflectorTests {
    private let tap = Tap(RealRelay())
    private let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
    private let listener = Member(1, Family.configuration(.listen), ssrc: 5)
    private let air: Airwaves
    private let elsewhere = Endpoint(.v4(0xC000_0301), port: 9)

    init() { air = Airwaves([talker, listener], tap) }

    /// Replays `datagrams` from another address, and also from the listener's address unless `fromElsewhereOnly`.
    private func sendJoin(_ datagrams: [[UInt8]], fromElsewhereOnly: Bool = false) {
        for datagram in datagrams {
            tap.repeated(datagram, from: elsewhere, at: air.now)
            if !fromElsewhereOnly { tap.repeated(datagram, from: listener.endpoint, at: air.now) }
        }
        air.settleRelay()
    }

    @Test func aReplayedListenerRecordingStartsNoMedia() {
        air.run(seconds: 25)
        let session = tap.said(by: listener.endpoint)
        // The recording contains a HELLO, a JOIN and several renewals.
        #expect(session.count { $0.starts(with: [99, 1, 6]) } > 3)
        #expect(session[0].starts(with: [99, 1, 1]) && session.contains { $0.starts(with: [99, 1, 3]) })

        // While the listener is present, it receives nothing twice and the other address receives nothing.
        var before = tap.mediaCount(to: listener.endpoint)
        sendJoin(session)
        air.run(seconds: 5)
        #expect((249...251).contains(tap.mediaCount(to: listener.endpoint) - before))
        #expect(tap.mediaCount(to: elsewhere) == 0)

        // After the listener has left.
        listener.leave(at: air.now)
        air.flush(1)
        air.run(seconds: 0.1)
        before = tap.mediaCount(to: listener.endpoint)
        let all = tap.said(by: listener.endpoint)
        #expect(all.count > session.count)
        for pause in [0, 0.5, 1, 31, 60, 90] {
            air.run(seconds: pause)
            sendJoin(all)
        }
        air.run(seconds: 5)
        // After a restart of the relay, where the talker has joined again.
        air.replace(relay: tap)
        tap.relay = RealRelay(now: air.now, seed: 2)
        air.run(seconds: 2)
        sendJoin(all)
        air.run(seconds: 2)
        #expect(talker.isJoined)
        #expect(tap.mediaCount(to: listener.endpoint) == before && tap.mediaCount(to: elsewhere) == 0)
    }

    /// The lease ends although all datagrams of the listener are replayed from its address.
    @Test func aListenerThatFallsSilentHearsNothingAfterItsLease() throws {
        air.run(seconds: 25)
        let session = tap.said(by: listener.endpoint)
        let last = try #require(tap.lastSent[listener.endpoint])
        air.change(1, out: NetworkModel(loss: .random(1)))
        for _ in 0..<20 {
            air.run(seconds: 5)
            sendJoin(session)
        }
        let heard = try #require(tap.lastMedia[listener.endpoint])
        #expect(heard - last <= .seconds(30) && heard - last > .seconds(15), "\(heard - last)")
        #expect(talker.isJoined && tap.mediaCount(to: elsewhere) == 0)
    }
}

/// A relay that records the datagrams it receives and counts the media it sends.
private final class Tap: RelayEnd {
    var relay: RealRelay
    private var words: [Endpoint: [[UInt8]]] = [:]
    private var mediaCounts: [Endpoint: Int] = [:]
    private(set) var lastSent: [Endpoint: Instant] = [:]
    private(set) var lastMedia: [Endpoint: Instant] = [:]
    private var now = Instant.start

    init(_ relay: RealRelay) { self.relay = relay }

    func said(by endpoint: Endpoint) -> [[UInt8]] { words[endpoint] ?? [] }
    func mediaCount(to endpoint: Endpoint) -> Int { mediaCounts[endpoint] ?? 0 }

    /// Passes on a replayed datagram without recording it.
    func repeated(_ datagram: [UInt8], from sender: Endpoint, at now: Instant) {
        self.now = now
        relay.receive(datagram, from: sender, at: now)
    }

    var endpoint: Endpoint { relay.endpoint }
    var nextDeadline: Instant? { relay.nextDeadline }

    func receive(_ datagram: [UInt8], from sender: Endpoint, at now: Instant) {
        words[sender, default: []].append(datagram)
        lastSent[sender] = now
        repeated(datagram, from: sender, at: now)
    }

    func timeElapsed(at now: Instant) {
        self.now = now
        relay.timeElapsed(at: now)
    }

    func nextDatagram() -> (bytes: [UInt8], to: Endpoint)? {
        guard let next = relay.nextDatagram() else { return nil }
        if (128...191).contains(next.bytes[0]) {
            mediaCounts[next.to, default: 0] += 1
            lastMedia[next.to] = now
        }
        return next
    }
}
