import Foundation
import TenfourAudioCore
import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Datagrams that strangers, eavesdroppers and malicious members can send.
struct HostileTests {
    private let family = ChannelKeys.drawn("family")
    private let other = ChannelKeys.drawn("other", seed: 8)

    /// Returns the number of iterations: `ordinary`, or `long` if TENFOUR_LONG is set.
    private func count(_ ordinary: Int, long: Int) -> Int {
        ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? ordinary : long
    }

    @Test func nothingForgedReplayedCrossedOrLateIsForwarded() {
        let room = RelayHarness([family, other], limits: .wide)
        var traffic = HostileTraffic(in: room, family: family, other: other)
        let talker = traffic.talker
        var (validCount, forwardedCount, hostileForwardedCount) = (0, 0, 0)
        let total = count(100_000, long: 2_000_000)
        for round in 0..<total {
            if round % 20 == 0 {
                room.now = room.now + .milliseconds(11)
                if round % 10_000 == 0 { traffic.renewLeases(in: room) }
                guard let packet = traffic.nextValidPacket(holdsBack: round % 400 == 0) else { continue }
                validCount += 1
                if case .forward = room.receive(packet, from: talker.endpoint) { forwardedCount += 1 }
            } else if let (datagram, address) = traffic.nextHostileDatagram(mayBeLate: round > total / 2) {
                if case .forward = room.receive(datagram, from: address) { hostileForwardedCount += 1 }
            }
        }
        #expect(hostileForwardedCount == 0)
        #expect(forwardedCount == validCount && validCount > total / 25)
        let discards = room.relay.status.discards
        for reason in [
            RelayDiscard.forgedMedia, .replayedMedia, .listenerMedia, .strangerMedia, .unannounced, .replayedRecord,
            .forgedRecord, .malformedMedia,
        ] { #expect(discards[reason] > 0, "\(reason)") }
        #expect(room.relay.status.channels[0].memberCount == 3)
        // No member was moved or removed.
        #expect(!room.events.contains { if case .moved = $0 { true } else if case .left = $0 { true } else { false } })
        #expect(talker.announce(room) == .forward(.announced, byteCount: 56, channel: 0, talker: 0))
    }

    /// The state that a relay is in when strangers arrive.
    enum State: CaseIterable { case empty, talking, full, rekeyed, stopping }

    /// Returns a relay in that state and the members that have joined it.
    private func room(_ state: State) -> (room: RelayHarness, members: [SimulatedMember]) {
        var configuration = RelayConfiguration([family])
        if state == .full { configuration.channels[0].limits.members = 2 }
        let room = RelayHarness(configuration)
        var members: [SimulatedMember] = []
        if state != .empty {
            members = [
                SimulatedMember(family, .talk, at: .host(100)), SimulatedMember(family, .listen, at: .host(101)),
            ]
            for member in members { #expect(member.join(room)) }
            members[0].announce(room)
            members[0].talk(room)
        }
        if state == .rekeyed { room.reload(RelayConfiguration([.drawn("family", seed: 11)])) }
        if state == .stopping { room.stop() }
        if state == .rekeyed || state == .stopping { members = [] }
        room.inbox = [:]
        _ = room.takeEvents()
        return (room, members)
    }

    @Test(arguments: State.allCases)
    func beforeProofNoMoreGoesOutThanCameInAndNothingIsKept(state: State) {
        let (room, members) = room(state)
        // Every fourth stranger knows the channel's name and id, but not its secret.
        let strangers = (0..<64).map { (number: Int) -> SimulatedMember in
            let keys = number % 4 == 3 ? family : ChannelKeys.drawn("nobody", seed: UInt64(number))
            return SimulatedMember(keys, number % 8 < 4 ? .talk : .listen, at: .host(number))
        }
        let forwardedCount = room.relay.status.channels[0].forwardedCount
        var (strangeIn, strangeOut) = (0, 0)
        var randomness = SeededRandom(seed: 22)
        for round in 0..<count(20_000, long: 2_000_000) {
            if round % 20_000 == 0 {
                for _ in 0..<5 {
                    room.run(.seconds(10))
                    for member in members { #expect(member.renew(room) == .handled) }
                }
                for stranger in strangers {
                    stranger.helloAndCookie(room)
                    if stranger.keys.name == family.name { stranger.joinDatagram[127] ^= 0x80 }
                }
                room.inbox = [:]
                // Discards the events of members whose talkspurt ended in the meantime.
                _ = room.takeEvents()
            }
            room.now = room.now + .microseconds(20)
            let stranger = strangers[Int(randomness.next() % 64)]
            let datagram = stranger.strangeDatagram(&randomness)
            let sender =
                randomness.next() % 8 == 0 ? strangers[Int(randomness.next() % 64)].endpoint : stranger.endpoint
            if case .forward = room.receive(datagram, from: sender) { Issue.record("a hostile datagram was forwarded") }
            // Nobody has saved-up credit: the answers to one datagram go to its sender only and are together no
            // longer than it.
            let answers = room.inbox.removeValue(forKey: sender) ?? []
            let byteCount = answers.reduce(0) { $0 + $1.count }
            if byteCount > datagram.count { Issue.record("more than came in: \(datagram)") }
            if !room.inbox.isEmpty { Issue.record("sent to somebody else: \(datagram)") }
            room.inbox.removeAll()
            (strangeIn, strangeOut) = (strangeIn + datagram.count, strangeOut + byteCount)
        }
        #expect(strangeOut > 0 && strangeOut < strangeIn)
        #expect(room.events.isEmpty && (room.relay.nextDeadline == nil) == members.isEmpty)
        let channel = room.relay.status.channels[0]
        #expect(channel.memberCount == members.count && channel.forwardedCount == forwardedCount)
        let discards = room.relay.status.discards
        for reason in [
            RelayDiscard.unproved, .cookie, .unknownSession, .malformedControl, .strangerMedia, .unknownProtocol,
            .unexpectedControl, .tooManyFailures,
        ] { #expect(discards[reason] > 0, "\(reason)") }
    }

    @Test func aReplayedRecordingStartsNoMedia() {
        let room = RelayHarness([family])
        let talker = SimulatedMember(family, .talk, at: .host(1))
        let listener = SimulatedMember(family, .listen, at: .host(2))
        talker.join(room)
        listener.join(room)
        let leave = listener.sealed(.leave)
        let session = [
            listener.helloDatagram, listener.joinDatagram, listener.sealed(.renewal(token: 3)),
            listener.sealed(.renewal(token: 4)),
        ]
        for datagram in session[2...] { room.receive(datagram, from: listener.endpoint) }
        _ = room.takeEvents()

        // The recording is replayed from elsewhere while the listener is present.
        room.inbox = [:]
        for datagram in session { room.receive(datagram, from: .host(66)) }
        #expect(room.take(.host(66)).reduce(0) { $0 + $1.count } <= session.reduce(0) { $0 + $1.count })
        #expect(room.takeEvents().isEmpty)

        // After the listener has left: from elsewhere and from its old address.
        room.receive(leave, from: listener.endpoint)
        #expect(room.takeEvents() == [.left(member: 1, channel: 0)])
        for pause in [0, 1, 31, 90, 86_400] {
            room.run(.seconds(pause))
            for datagram in session + [leave] {
                for address in [listener.endpoint, .host(66)] { room.receive(datagram, from: address) }
            }
        }
        #expect(!room.takeEvents().contains { if case .joined = $0 { true } else { false } })

        // At the same relay after a restart.
        let again = RelayHarness([family], seed: 77)
        for datagram in session { again.receive(datagram, from: listener.endpoint) }
        #expect(again.events.isEmpty && again.relay.status.channels[0].memberCount == 0)
    }

    @Test func noBytesTrapARelayThatHasMembers() {
        let room = RelayHarness([family])
        let talker = SimulatedMember(family, .talk, at: .host(1))
        talker.join(room)
        talker.announce(room)
        var randomness = SeededRandom(seed: 23)
        for round in 0..<20_000 {
            room.now = room.now + .milliseconds(25)
            if round % 400 == 0 { talker.renew(room) }
            let inside = (0..<Int(1 + randomness.next() % 80)).map { place in
                UInt8(truncatingIfNeeded: place == 0 ? randomness.next() % 10 : randomness.next())
            }
            // A report whose beginning is that of a valid RTCP packet.
            var body = inside
            if body[0] == 8, body.count > 9 {
                let kind: UInt8 = [200, 201, 202, 203, 205, 207].randomElement(using: &randomness)!
                body.replaceSubrange(1..<5, with: [0x80, kind, 0, UInt8((body.count - 1) / 4 - 1)])
            }
            if body[0] == 3 { body[0] = 1 }
            if randomness.next() % 2 == 0 {
                room.receive(
                    [UInt8](capacity: 200) { talker.sealer!.seal(inside: body.span, into: &$0) }, from: .host(1))
            } else {
                room.receive(talker.tagged([0x80] + inside), from: .host(1))
            }
        }
        #expect(talker.announce(room) == .forward(.announced, byteCount: 56, channel: 0, talker: 0))
    }
}

extension SimulatedMember {
    /// Returns a datagram that a peer can send which has proved nothing.
    fileprivate func strangeDatagram(_ randomness: inout SeededRandom) -> [UInt8] {
        func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: randomness.next()) } }
        func control(_ kind: UInt8, _ count: Int) -> [UInt8] { [UInt8(ascii: "c"), 1, kind, 0] + noise(count - 4) }
        switch randomness.next() % 12 {
        case 0: return [UInt8(ascii: "c"), 1, 1, 0] + noise(16) + [UInt8](repeating: 0, count: 108)
        case 1: return joinDatagram
        case 2:
            var join = joinDatagram
            join[Int(randomness.next() % 128)] ^= 1
            return join
        case 3: return control(6, 37 + Int(randomness.next() % 80))
        case 4: return control(7, 12)
        case 5: return control(8, randomness.next() % 2 == 0 ? 56 : 68)
        case 6: return packet(byteCount: 30 + Int(randomness.next() % 60))
        case 7: return control(UInt8(randomness.next() % 12), Int(4 + randomness.next() % 140))
        case 8: return [0x80, 200] + noise(40)
        case 9:
            return control(
                [2, 4, 5].randomElement(using: &randomness)!, [40, 105, 40].randomElement(using: &randomness)!)
        case 10: return [0x90] + noise(11)
        default: return noise(Int(randomness.next() % 60))
        }
    }
}
