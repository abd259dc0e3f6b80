import CMACs
import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// A stranger learns nothing from the way in which the relay refuses it.
struct ProofTests {
    private let family = ChannelKeys.drawn("family")
    private let former = ChannelKeys.drawn("former", seed: 8)
    private let crowded = ChannelKeys.drawn("crowded", seed: 9)

    /// The byte ranges of the fields of a JOIN.
    private enum Place {
        static let cookie = 20..<40
        static let relay = 56
        static let role = 72
        static let share = 80..<112
        static let proof = 112..<128
    }

    /// Returns a relay that carries two channels, one of which is full, and that used to carry a third.
    private func room(pairingWith key: RelayKey? = nil) -> RelayHarness {
        var configuration = RelayConfiguration([family, former, crowded])
        configuration.key = key
        configuration.pairing = key == nil ? nil : PairingConfiguration()
        configuration.channels[2].limits.members = 1
        let room = RelayHarness(configuration)
        #expect(SimulatedMember(crowded, .listen, at: .host(99)).join(room))
        configuration.channels.remove(at: 1)
        room.reload(configuration)
        room.inbox = [:]
        return room
    }

    private struct Outcome: Equatable {
        var reception: Relay.Reception
        var answers: [[UInt8]]
        var hmacCount: UInt
        var hmacByteCount: UInt
        var siphashCount: UInt
    }

    private func outcome(_ room: RelayHarness, of datagram: [UInt8], from sender: Endpoint) -> Outcome {
        let before = macs_of_this_thread()
        let reception = room.receive(datagram, from: sender)
        let after = macs_of_this_thread()
        return Outcome(
            reception: reception, answers: room.take(sender), hmacCount: after.hmacs - before.hmacs,
            hmacByteCount: after.hmac_bytes - before.hmac_bytes, siphashCount: after.siphashes - before.siphashes)
    }

    /// Returns the outcome of a JOIN made with `keys` and then corrupted by `change`.
    private func outcome(
        _ room: RelayHarness, _ keys: ChannelKeys, _ role: Role, host: Int, _ change: (inout [UInt8]) -> Void
    ) -> Outcome {
        let guesser = SimulatedMember(keys, role, at: .host(host))
        guesser.helloAndCookie(room)
        var join = guesser.joinDatagram
        change(&join)
        var outcome = outcome(room, of: join, from: guesser.endpoint)
        // Clears the nonce, which the guesser chose itself, and the tag, which looks random to anybody without the
        // key.
        for index in outcome.answers.indices {
            for place in Array(4..<20) + Array(24..<40) { outcome.answers[index][place] = 0 }
        }
        return outcome
    }

    @Test(arguments: [false, true])
    func whateverFailsBeforeTheKeyIsProvedLooksAlikeAndIsTheSameWork(pairs: Bool) {
        var randomness = SeededRandom(seed: 3)
        let key = RelayKey(using: &randomness)
        let room = room(pairingWith: pairs ? key : nil)
        let passed = ChannelKeys(
            name: "pair", secret: Secret(.talk, using: &randomness), pass: PassMaker(key).drawPass(using: &randomness))
        if pairs { #expect(SimulatedMember(passed, .talk, at: .host(98)).join(room)) }
        room.inbox = [:]
        let first = outcome(room, .drawn("elsewhere", seed: 10), .talk, host: 1) { _ in }
        #expect(first.reception == .discarded(.unproved) && first.answers.map(\.count) == [40])
        // Two HMACs check the proof and two tag the refusal; one SipHash checks the cookie. Where stations can pair, three
        // give the key of the pass.
        #expect(first.hmacCount == (pairs ? 7 : 4) && first.hmacByteCount > 0 && first.siphashCount == 1)
        let spoiled: [(ChannelKeys, Role, (inout [UInt8]) -> Void)] = [
            (.drawn("elsewhere", seed: 10), .listen, { _ in }),
            (family, .talk, { $0[Place.proof.lowerBound] ^= 1 }),
            (family, .talk, { $0[Place.proof.upperBound - 1] ^= 1 }),
            (family, .listen, { for place in Place.proof { $0[place] ^= 0xFF } }),
            (family, .talk, { $0[Place.relay] ^= 1 }),
            (family, .talk, { $0[Place.role] = Role.listen.rawValue }),
            (family, .talk, { for place in Place.share { $0[place] = 0 } }),
            (former, .talk, { $0[Place.proof.lowerBound] ^= 1 }),
            (former, .listen, { $0[Place.relay] ^= 1 }),
            (crowded, .listen, { $0[Place.proof.lowerBound] ^= 1 }),
            (passed, .talk, { $0[Place.proof.lowerBound] ^= 1 }),
            (passed, .talk, { $0[Place.role] = Role.listen.rawValue }),
        ]
        // The label of the key of a pass has two letters more for listeners. The sender chooses the role.
        func same(_ outcome: Outcome, as first: Outcome) -> Bool {
            var outcome = outcome
            if pairs, outcome.hmacByteCount == first.hmacByteCount + 2 { outcome.hmacByteCount -= 2 }
            return outcome == first
        }
        for (number, (keys, role, change)) in spoiled.enumerated() {
            #expect(same(outcome(room, keys, role, host: 2 + number, change), as: first), "\(number)")
        }
        room.stop()
        let late = outcome(room, family, .talk, host: 50) { $0[Place.proof.lowerBound] ^= 1 }
        #expect(late == first)
    }

    /// A member that has proved its key is told the reason, and each refusal is counted under this reason only.
    @Test(arguments: [Refusal.Reason.full, .limited, .refused, .rekeyed])
    func aMemberThatProvedTheKeyGetsTheReasonAndCountsOnce(reason: Refusal.Reason) {
        let room = room()
        let counted: RelayDiscard
        let member: SimulatedMember
        var relay = RelayHarness.name
        switch reason {
        case .full:
            (member, counted) = (SimulatedMember(crowded, .listen, at: .host(1)), .full)
        case .limited:
            // The largest number of unconfirmed sessions that one host may have.
            for port: UInt16 in 1...1_000 { SimulatedMember(family, .listen, at: .host(1, port: port)).knock(room) }
            (member, counted) = (SimulatedMember(family, .listen, at: .host(1, port: 1_001)), .tooManyJoins)
        case .refused:
            relay = RelayID(host: "elsewhere", port: 5004)
            (member, counted) = (SimulatedMember(family, .talk, at: .host(1)), .refused)
        default:
            room.reload(RelayConfiguration([.drawn("family", seed: 11), crowded]))
            (member, counted) = (SimulatedMember(family, .listen, at: .host(1)), .rekeyed)
        }
        let before = room.relay.status.discards
        let answer = member.knock(room, relay: relay)
        guard case .refusal(reason) = answer else {
            Issue.record("\(answer)")
            return
        }
        let after = room.relay.status.discards
        #expect(after[counted] == before[counted] + 1)
        #expect(after.total == before.total + 1)
    }

    @Test func aJoinWithoutACookieIsOneSipHashAndNothingElse() {
        let room = room()
        let member = SimulatedMember(family, .talk, at: .host(1))
        let nothing = Outcome(
            reception: .discarded(.cookie), answers: [], hmacCount: 0, hmacByteCount: 0, siphashCount: 1)
        member.helloAndCookie(room)
        for place in Place.cookie {
            var join = member.joinDatagram
            join[place] ^= 1
            #expect(outcome(room, of: join, from: member.endpoint) == nothing, "\(place)")
        }
        #expect(outcome(room, of: member.joinDatagram, from: .host(2)) == nothing)
        #expect(outcome(room, of: member.joinDatagram, from: .host(1, port: 1)) == nothing)
        // The relay's cookie key changes every minute, for all peers.
        room.now = room.now + .seconds(121)
        SimulatedMember(family, .talk, at: .host(3)).helloAndCookie(room)
        #expect(outcome(room, of: member.joinDatagram, from: member.endpoint) == nothing)
    }
}
