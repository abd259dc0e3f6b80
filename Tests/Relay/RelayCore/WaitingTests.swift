import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// Datagrams that wait while the socket accepts none.
struct WaitingTests {
    private let family = ChannelKeys.drawn("family")
    private let room: RelayHarness
    private let talker: SimulatedMember
    private let listener: SimulatedMember

    init() {
        (room, talker, listener) = RelayHarness.withTalkerAndListener(of: family)
        room.isBlocked = true
    }

    /// Sends 50 packets a second for this number of seconds, each of which all `askers` request again.
    private func askAllTheTime(_ askers: [SimulatedMember], seconds: Int) {
        for _ in 0..<seconds * 50 {
            let packet = talker.packet()
            room.receive(talker.tagged(packet), from: talker.endpoint)
            for asker in askers { asker.ask(room, for: [packet], of: talker) }
            room.run(.milliseconds(20))
        }
    }

    @Test func repeatedRecordsDoNotAccumulate() {
        room.isBlocked = false
        let askers = (10..<40).map { SimulatedMember(family, .listen, at: .host($0)) }
        for asker in askers { asker.join(room) }
        room.inbox = [:]
        room.isBlocked = true
        askAllTheTime(askers, seconds: 2)
        let before = room.relay.waitingByteCount
        askAllTheTime(askers, seconds: 8)
        // Only the relay's reports to the talker are added, about one a second.
        #expect(room.relay.waitingByteCount < before + 16_384 && before < 200_000)
        // Retransmissions that are too late are dropped instead of sent.
        room.run(.milliseconds(501))
        listener.renew(room)
        room.isBlocked = false
        room.flush()
        #expect(askers.allSatisfy { asker in room.take(asker.endpoint).allSatisfy { !RelayHarness.isMedia($0) } })
        // Beside the answer, one request how it receives the talker.
        let records = listener.records(room).records
        #expect(records.count { if case .hearingRequest = $0 { true } else { false } } <= 1)
        #expect(records.count { if case .renewed = $0 { true } else { false } } == 1 && records.count <= 2)
    }

    @Test func answersGoBeforeWhatIsSentAgain() throws {
        askAllTheTime([listener], seconds: 1)
        listener.renew(room)
        room.isBlocked = false
        room.flush()
        let all = room.take(listener.endpoint)
        let first = try #require(all.firstIndex { RelayHarness.isMedia($0) })
        #expect(all.contains { RelayHarness.isMedia($0) })
        #expect(all[first...].allSatisfy { RelayHarness.isMedia($0) })
    }

    @Test func strangersAndThoseWhoProveNothingDoNotPileUp() {
        room.isBlocked = false
        // While the output is not blocked, each of the HELLOs is answered; proofs take almost no time.
        room.relay.failedProofs(take: .microseconds(1))
        var joins: [(Endpoint, [UInt8])] = []
        for number in 0..<5_000 {
            let guesser = SimulatedMember(family, .listen, at: .host(1_000 + number))
            guesser.helloAndCookie(room)
            var join = guesser.joinDatagram
            join[127] ^= 1
            joins.append((guesser.endpoint, join))
        }
        room.inbox = [:]
        room.isBlocked = true
        for (endpoint, join) in joins { room.receive(join, from: endpoint) }
        #expect(room.relay.status.discards[.unproved] == 4_096)
        room.isBlocked = false
        room.flush()
        #expect(room.inbox.count == 4_096)
    }

    @Test func membersDoNotPileUpEither() {
        room.isBlocked = false
        let members = (10..<710).map { SimulatedMember(family, .listen, at: .host($0)) }
        for member in members { member.join(room) }
        room.inbox = [:]
        room.isBlocked = true
        for member in members { for _ in 0..<99 { member.renew(room) } }
        room.isBlocked = false
        room.flush()
        #expect(members.reduce(0) { $0 + room.take($1.endpoint).count } == 65_536)
    }

    @Test func aQueueThatIsNeverEmptyDoesNotGrow() {
        var queue = DatagramQueue()
        let endpoint = Endpoint.host(1)
        for number in 0..<10 { queue.put([UInt8](repeating: UInt8(number), count: 100).span, to: endpoint) }
        var taken: [UInt8] = []
        for number in 10..<100_000 {
            let datagram = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100)
            queue.put(datagram.span, to: endpoint)
            let next = [UInt8](capacity: 100) { _ = queue.next(into: &$0) }
            taken.append(next[99])
        }
        #expect(queue.count == 10 && queue.capacity < 100_000)
        #expect(taken.enumerated().allSatisfy { $1 == UInt8(truncatingIfNeeded: $0) })
    }
}
