import TenfourAudioCore
import TenfourChannelKeys
import TenfourPairing
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRelayCore

/// How often one host may guess, and who gives way to whom.
final class RendezvousTurnTests {
    private let room = RelayHarness(.pairing())
    private var randomness = SeededRandom(seed: 4)

    private func visitor(at endpoint: Endpoint) -> RelayVisitor {
        let visitor = RelayVisitor(at: endpoint, seed: UInt64(endpoint.port))
        visitor.knock(room)
        return visitor
    }

    /// Lets a station wait at an address, and returns its number.
    private func wait(at endpoint: Endpoint, _ share: SharePoint? = nil) throws -> RendezvousNumber {
        let share = share ?? KeyShare(using: &randomness).point
        guard case .number(let number, seconds: _)? = visitor(at: endpoint).placed(share, room) else {
            throw NoNumber()
        }
        return number
    }

    private struct NoNumber: Error {}

    private func passesOn(_ visitor: RelayVisitor, run: UInt64 = 1) -> Bool {
        room.receive(pairingMessage(.hello, run: run, byteCount: 20), from: visitor.endpoint) == .handled
    }

    // MARK: - Guesses

    /// An attacker begins runs with wrong words, and sends the messages of each again and again, because the responder
    /// forgets a run after 10 s.
    @Test func oneHostLeavesAGuessToOthers() throws {
        let station = WaitingStation(at: .host(1), from: room.now, seed: 1)
        let attacker = RelayVisitor(at: .host(2), seed: 2)
        var initiator = PairingInitiator(responder: pairingRelay, using: &randomness)
        var sent: [[UInt8]] = []
        var outcomes: Set<RendezvousMessage.MeetOutcome> = []
        for second in 0..<60 {
            attacker.knock(room)
            if second % 20 == 1 {
                sent = []
                initiator.cancel()
                _ = initiator.begin(PairingWords(using: &randomness), at: room.now)
            }
            if let number = station.number, let run = initiator.runNumber {
                if let outcome = attacker.met(number, run: run, room) { outcomes.insert(outcome) }
            }
            if second % 5 == 0 { for datagram in sent { room.receive(datagram, from: attacker.endpoint) } }
            for _ in 0..<10 {
                room.run(.milliseconds(100))
                try station.step(room)
                for datagram in attacker.take(room).others {
                    initiator.receive(datagram.span, from: pairingRelay, at: room.now)
                }
                initiator.timeElapsed(at: room.now)
                var isSending = true
                while isSending {
                    let datagram = [UInt8](capacity: 1_200) { isSending = initiator.nextDatagram(into: &$0) }
                    guard isSending else { break }
                    sent.append(datagram)
                    room.receive(datagram, from: attacker.endpoint)
                }
            }
        }
        let guesses = station.events.filter { if case .wrongWords = $0 { true } else { false } }
        #expect(guesses.count == 2 && outcomes == [.met, .tooManyRuns])
    }

    @Test func aRunWhoseConfirmationWasPassedOnBeginsOnce() throws {
        let number = try wait(at: .host(1))
        let visitor = visitor(at: .host(2))
        #expect(visitor.met(number, run: 9, room) == .met)
        func send(_ kind: PairingMessage.Kind, run: UInt64) -> Bool {
            room.receive(pairingMessage(kind, run: run, byteCount: 52), from: visitor.endpoint) == .handled
        }
        #expect(send(.share, run: 9) && send(.share, run: 9))
        #expect(send(.confirmation, run: 9) && send(.confirmation, run: 9))
        #expect(!send(.share, run: 9))
        #expect(visitor.met(number, run: 9, room) == .met)
        #expect(!send(.share, run: 9))
        #expect(visitor.met(number, run: 10, room) == .met)
        #expect(send(.share, run: 10))
    }

    @Test func noFurtherRunBeginsAfterThePlaceHasEnded() throws {
        let number = try wait(at: .host(1))
        let visitor = visitor(at: .host(2))
        #expect(visitor.met(number, run: 9, room) == .met)
        for _ in 0..<6 {
            room.run(.seconds(5))
            #expect(passesOn(visitor, run: 9))
        }
        #expect(visitor.met(number, run: 9, room) == .met)
        #expect(visitor.met(number, run: 10, room) == .unknown)
        #expect(passesOn(visitor, run: 9))
    }

    // MARK: - Turns at one station

    @Test func aHostThatHoldsANumberGivesWayToAHostThatHasMetItLessOften() throws {
        let share = KeyShare(using: &randomness).point
        let number = try wait(at: .host(1), share)
        let stranger = visitor(at: .host(2))
        let honest = visitor(at: .host(3))
        #expect(stranger.met(number, run: 1, room) == .met)
        for quarter in 1...40 {
            room.run(.milliseconds(250))
            if quarter < 40 {
                #expect(honest.met(number, run: 1, room) == .wait)
                #expect(stranger.met(number, run: UInt64(quarter), room) == .met)
            }
        }
        #expect(honest.met(number, run: 1, room) == .met)
        // The stranger has met the station as often, and so waits until the other one ends.
        for _ in 0..<15 {
            room.run(.seconds(1))
            #expect(passesOn(honest))
            #expect(stranger.met(number, run: 50, room) == .wait)
        }
        _ = try wait(at: .host(1), share)
        room.run(.seconds(10))
        #expect(stranger.met(number, run: 51, room) == .met)
        room.run(.seconds(9))
        #expect(honest.met(number, run: 2, room) == .wait)
        room.run(.seconds(1))
        #expect(honest.met(number, run: 2, room) == .met)
    }

    @Test func anInitiatorWhosePortChangesGoesOn() throws {
        let number = try wait(at: .host(1))
        let before = visitor(at: .host(2))
        #expect(before.met(number, run: 9, room) == .met)
        let after = visitor(at: .host(2, port: 50_000))
        #expect(after.met(number, run: 8, room) == .wait)
        #expect(visitor(at: .host(3)).met(number, run: 9, room) == .wait, "another host")
        #expect(passesOn(before, run: 9))
        #expect(after.met(number, run: 9, room) == .met)
        #expect(passesOn(after, run: 9) && !passesOn(before, run: 9))
    }

    // MARK: - More than 32

    @Test func nobodyGivesWayForAShareOfLowOrder() throws {
        let strangers = try (0..<32).map { index in
            let number = try wait(at: .host(3_000 + index))
            let stranger = self.visitor(at: .host(5_000 + index))
            #expect(stranger.met(number, run: 1, room) == .met)
            return stranger
        }
        room.run(.seconds(2))
        let weak = try wait(at: .host(1), SharePoint(Bytes32([UInt8](repeating: 0, count: 32).span)))
        let right = try wait(at: .host(2))
        let visitor = visitor(at: .host(3))
        #expect(visitor.met(weak, run: 1, room) == .unknown)
        #expect(strangers.allSatisfy { passesOn($0) })
        // It has cost the host its turn, and one of its three wrong numbers.
        #expect(visitor.met(right, run: 1, room) == .wait)
        #expect(visitor.met(weak, run: 1, room) == .unknown && visitor.met(weak, run: 1, room) == .unknown)
        #expect(visitor.met(weak, run: 1, room) == .tooManyNumbers)
        #expect(self.visitor(at: .host(4)).met(right, run: 1, room) == .met)
    }

    /// A table of rendezvous, without the messages.
    private struct Table {
        var table: RendezvousTable
        var places: WaitingPlaces
        var generator: CSPRNG
        private var count = 0

        init(using randomness: inout SeededRandom) {
            generator = CSPRNG(using: &randomness)
            table = RendezvousTable(using: &generator)
            places = WaitingPlaces(using: &generator)
        }

        /// Returns the place of another station.
        private mutating func nextPlace(_ now: Instant) -> WaitingPlaces.Place? {
            count += 1
            let share = KeyShare(using: &generator).point
            guard
                case .number(let number, seconds: _) = places.wait(
                    share, at: .host(count), now, using: &generator)
            else { return nil }
            return places.place(number, at: now)
        }

        mutating func room(for initiator: Endpoint, at now: Instant) -> RendezvousTable.Room? {
            nextPlace(now).flatMap { table.room(for: initiator.address, at: $0, now) }
        }

        mutating func begin(_ initiator: Endpoint, at now: Instant) throws {
            guard let place = nextPlace(now), let room = table.room(for: initiator.address, at: place, now) else {
                throw NoNumber()
            }
            let pass = RendezvousMessage.met(nonce: 0, initiator: 0, .met)
            table.begin(Rendezvous(place, with: initiator, run: 1, pass: pass, at: now), in: room)
        }
    }

    @Test func aLargeNetworkGivesWayToItself() throws {
        var table = Table(using: &randomness)
        let site = { (host: UInt64) in Endpoint(.v6(high: 0x2001_0DB8_0001_0000 + host, low: 1, scope: 0), port: 9) }
        try table.begin(.host(5_000), at: .start)
        for host in 0..<31 { try table.begin(site(UInt64(host)), at: .start) }
        #expect(table.room(for: site(40), at: .start + Duration.milliseconds(1_999)) == nil)
        let room = table.room(for: site(40), at: .start + Duration.seconds(2))
        guard case .instead(of: let index)? = room else { throw NoNumber() }
        #expect(table.table[index].initiator == site(0), "the oldest of the network, and not the other host")
    }

    @Test func aHostHasATurn120SecondsAfterItsLastRendezvous() throws {
        var table = Table(using: &randomness)
        let second = { (count: Double) in Instant.start + Duration.seconds(count) }
        try table.begin(.host(9_000), at: second(1))
        for host in 0..<31 { try table.begin(.host(5_000 + host), at: second(115)) }
        try table.begin(.host(9_000), at: second(120))
        #expect(table.room(for: .host(9_000), at: second(122)) == nil)
        #expect(table.room(for: .host(9_001), at: second(122)) != nil)
        for host in 0..<32 { try table.begin(.host(6_000 + host), at: second(235)) }
        #expect(table.room(for: .host(9_000), at: second(239.999)) == nil)
        #expect(table.room(for: .host(9_000), at: second(240)) != nil)
    }
}
