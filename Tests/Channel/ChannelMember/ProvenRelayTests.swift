import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Members whose link has the relay's fingerprint, with relays of this and of earlier versions, and with impostors.
struct ProvenRelayTests {
    private func member(_ number: Int, _ role: Role, ssrc: UInt32, speech: Speech? = nil, isOld: Bool = false) -> Member
    {
        Member(
            number, Family.configuration(role, fingerprint: isOld ? nil : Family.fingerprint), ssrc: ssrc,
            speech: speech)
    }

    @Test func oldAndNewLinksMeetAtARelayWithAKey() {
        let talker = member(0, .talk, ssrc: 1, speech: Speech(beginning: .start + .seconds(1), count: 100))
        let listener = member(1, .listen, ssrc: 2)
        let old = member(2, .listen, ssrc: 3, isOld: true)
        let air = Airwaves([talker, listener, old], RealRelay(key: Family.relayKey))
        air.run(seconds: 4)
        for member in [talker, listener, old] { #expect(member.isJoined) }
        #expect(listener.heard(from: 1).count == 100 && old.heard(from: 1).count == 100)
    }

    /// `TinyRelay` speaks the control protocol as it was before relays had keys.
    @Test func anOldRelayIsNotJoinedAndTheUserIsToldWhy() {
        let relay = TinyRelay(Family.talk)
        let listener = member(0, .listen, ssrc: 2)
        let air = Airwaves([listener], relay)
        air.run(seconds: 10)
        #expect(listener.eventsOnly == [.relayDoubted(.noKey)])
        #expect(relay.joinCount == 0 && relay.helloCount >= 1)
    }

    @Test func aRelayWithoutAKeyIsNotJoined() {
        let listener = member(0, .listen, ssrc: 2)
        let air = Airwaves([listener], RealRelay())
        air.run(seconds: 10)
        #expect(listener.eventsOnly == [.relayDoubted(.noKey)])
    }

    @Test func aRelayWithAnotherKeyIsNotJoined() {
        var randomness = SeededRandom(seed: 45)
        let listener = member(0, .listen, ssrc: 2)
        let air = Airwaves([listener], RealRelay(key: RelayKey(using: &randomness)))
        air.run(seconds: 10)
        #expect(listener.eventsOnly == [.relayDoubted(.otherKey)])
    }

    /// An impostor at the relay's address has all keys of a listen link, and the relay's public values. It answers every
    /// HELLO2, and sends well-formed announcements and SRTP packets.
    @Test(arguments: [false, true]) func somebodyWithAListenLinkCannotPassForTheRelay(showsTheRelaysKey: Bool) throws {
        let impostor = Impostor(showsTheRelaysKey: showsTheRelaysKey)
        let listener = member(0, .listen, ssrc: 2)
        let air = Airwaves([listener], impostor)
        air.run(seconds: 1)
        let media = try impostor.media(count: 1_000)
        for datagram in media { air.inject(datagram, to: 0) }
        air.run(seconds: 10)
        for datagram in media { air.inject(datagram, to: 0) }
        #expect(listener.heard.isEmpty && listener.openedCount == 0 && !listener.isJoined)
        #expect(listener.receptions[.discarded(.beforeJoined)] == 2 * media.count)
        #expect(impostor.joinCount > 0 || !showsTheRelaysKey)
        // The same datagrams are heard by a listener whose link has no fingerprint: they are what a talker sends.
        let trusting = member(0, .listen, ssrc: 2, isOld: true)
        let other = Airwaves([trusting], impostor)
        other.run(seconds: 1)
        for datagram in media { other.inject(datagram, to: 0) }
        #expect(!trusting.heard.isEmpty)
    }
}
