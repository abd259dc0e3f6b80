import TenfourAudioCore
import TenfourChannelKeys
import TenfourPairing
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRelayCore

/// What a relay passes on between two stations, and what it keeps from strangers.
struct RendezvousTests {
    private let room = RelayHarness(.pairing())
    private let home = RelayVisitor(at: .host(1), seed: 1)
    private let visitor = RelayVisitor(at: .host(2), seed: 2)
    private let share: KeyShare
    private let number: RendezvousNumber
    private var randomness = SeededRandom(seed: 4)

    init() throws {
        share = KeyShare(using: &randomness)
        home.knock(room)
        visitor.knock(room)
        guard case .number(let number, seconds: 300)? = home.placed(share.point, room) else {
            throw NoNumber()
        }
        self.number = number
    }

    private struct NoNumber: Error {}

    private func passes(_ station: RelayVisitor) -> [SealedPass] {
        station.take(room).rendezvous.compactMap { if case .pass(let pass) = $0 { pass } else { nil } }
    }

    /// Returns other stations that wait, each of a network of its own, and their numbers.
    private mutating func waiting(_ count: Int) -> [RendezvousNumber] {
        (0..<count).compactMap { index in
            let station = RelayVisitor(at: .host(3_000 + index), seed: UInt64(index))
            station.knock(room)
            let share = KeyShare(using: &randomness).point
            if case .number(let number, seconds: _)? = station.placed(share, room) { return number }
            return nil
        }
    }

    private func visitor(at endpoint: Endpoint) -> RelayVisitor {
        let visitor = RelayVisitor(at: endpoint, seed: UInt64(endpoint.port))
        visitor.knock(room)
        return visitor
    }

    @Test func theStationGetsAPassThatTheRelayKnows() throws {
        #expect(visitor.met(number, run: 9, room) == .met)
        let sealed = try #require(passes(home).first)
        let pass = try #require(sealed.opened(by: share))
        let key = try #require(RelayConfiguration.pairing().key)
        #expect(PassMaker(key).pass(pass.id) == pass)
        // A lost PASS is sent again, the same bytes, for each MEET.
        #expect(visitor.met(number, run: 9, room) == .met)
        #expect(passes(home) == [sealed])
        // Further runs of the same initiator have the same pass. Two of them may have a guess.
        for run in 10...12 as ClosedRange<UInt64> {
            #expect(visitor.met(number, run: run, room) == .met)
            #expect(passes(home) == [sealed])
        }
        for run in [9, 10] as [UInt64] {
            #expect(visitor.met(number, run: run, room) == .met)
            let guess = pairingMessage(.confirmation, run: run, byteCount: 52)
            for _ in 0..<3 { #expect(room.receive(guess, from: visitor.endpoint) == .handled) }
        }
        #expect(visitor.met(number, run: 10, room) == .met)
        _ = home.take(room)
        #expect(visitor.met(number, run: 11, room) == .tooManyRuns)
        #expect(passes(home).isEmpty)
        #expect(room.relay.status.discards[.tooManyRuns] == 1)
    }

    @Test func messagesArePassedOnBetweenTheTwoOnly() {
        #expect(visitor.met(number, run: 9, room) == .met)
        _ = home.take(room)
        let stranger = visitor(at: .host(3))
        let byteCounts: [PairingMessage.Kind: Int] = [
            .hello: 20, .challenge: 20, .share: 52, .shareReply: 52, .confirmation: 52, .link: 200, .receipt: 36,
            .refusal: 24,
        ]
        for (kind, byteCount) in byteCounts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let isOfInitiator = kind.rawValue % 2 == 1
            let right = pairingMessage(kind, run: 9, byteCount: byteCount)
            for (sender, other) in [(visitor, home), (home, visitor)] {
                let isRight = (sender === visitor) == isOfInitiator
                #expect(room.receive(right, from: sender.endpoint) == (isRight ? .handled : .discarded(.strayPairing)))
                #expect(room.take(other.endpoint) == (isRight ? [right] : []))
                room.receive(pairingMessage(kind, run: 8, byteCount: byteCount), from: sender.endpoint)
                room.receive(right + [0], from: sender.endpoint)
            }
            room.receive(right, from: stranger.endpoint)
            // LINK may have other lengths.
            #expect(room.take(home.endpoint).isEmpty && room.take(visitor.endpoint).count == (kind == .link ? 1 : 0))
        }
        #expect(room.inbox.isEmpty)
    }

    @Test func aStationThatMovesGetsTheMessagesAtItsNewAddress() {
        #expect(visitor.met(number, run: 9, room) == .met)
        let moved = visitor(at: .host(1, port: 50_000))
        #expect(moved.placed(share.point, room) == .number(number, seconds: 300))
        let hello = pairingMessage(.hello, run: 9, byteCount: 20)
        room.receive(hello, from: visitor.endpoint)
        #expect(room.take(moved.endpoint) == [hello])
        let challenge = pairingMessage(.challenge, run: 9, byteCount: 20)
        #expect(room.receive(challenge, from: home.endpoint) == .discarded(.strayPairing))
        #expect(room.receive(challenge, from: moved.endpoint) == .handled)
    }

    @Test func onlyTheStationGivesItsNumberBack() {
        let moved = visitor(at: .host(1, port: 50_000))
        for stranger in [visitor, moved] {
            #expect(stranger.leave(share.point, room) == .discarded(.strayPairing))
        }
        // Neither does somebody who forges its address, and has a cookie of his own.
        let forger = RelayVisitor(at: home.endpoint, seed: 9)
        forger.cookie = visitor.cookie
        #expect(forger.leave(share.point, room) == .discarded(.cookie))
        #expect(home.placed(share.point, room) == .number(number, seconds: 300))
        #expect(home.leave(share.point, room) == .handled)
        #expect(home.leave(share.point, room) == .handled)
        #expect(room.inbox[home.endpoint] == nil, "there is no answer")
        #expect(visitor.met(number, run: 9, room) == .unknown)
    }

    /// The responder gives its number back as soon as the words were right, and the link is on its way.
    @Test func aRendezvousGoesOnWhenItsStationHasGivenTheNumberBack() {
        #expect(visitor.met(number, run: 9, room) == .met)
        _ = home.take(room)
        home.leave(share.point, room)
        for (kind, sender, receiver) in [(PairingMessage.Kind.link, home, visitor), (.receipt, visitor, home)] {
            let message = pairingMessage(kind, run: 9, byteCount: kind == .link ? 200 : 36)
            #expect(room.receive(message, from: sender.endpoint) == .handled)
            #expect(room.take(receiver.endpoint) == [message])
        }
        #expect(visitor.met(number, run: 9, room) == .met)
        #expect(visitor.met(number, run: 10, room) == .unknown)
    }

    @Test func aWrongNumberCostsAGuessBeforeItIsLookedUp() throws {
        var wrong = try #require(RendezvousNumber(rawValue: number.rawValue == 100_000 ? 100_001 : 100_000))
        for _ in 0..<3 { #expect(visitor.met(wrong, run: 9, room) == .unknown) }
        #expect(visitor.met(wrong, run: 9, room) == .tooManyNumbers)
        #expect(visitor.met(number, run: 9, room) == .tooManyNumbers, "not even the right number is looked up")
        #expect(passes(home).isEmpty)
        let neighbour = visitor(at: Endpoint(.v4(0x0A00_0203), port: 9))
        #expect(neighbour.met(wrong, run: 9, room) == .unknown, "another host of the same IPv4 network")
        room.run(.seconds(29))
        _ = home.placed(share.point, room)
        room.run(.seconds(29))
        _ = home.placed(share.point, room)
        #expect(visitor.met(number, run: 9, room) == .tooManyNumbers)
        room.run(.seconds(2))
        visitor.knock(room)
        #expect(visitor.met(number, run: 9, room) == .met)
        // Somebody whom the relay has let meet the station may go on, whatever else its host has named.
        wrong = try #require(RendezvousNumber(rawValue: wrong.rawValue + 2))
        _ = visitor.met(wrong, run: 1, room)
        #expect(visitor.met(number, run: 9, room) == .met)
        #expect(room.relay.status.discards[.wrongNumber] == 5)
    }

    @Test func anIPv6NetworkHasALimitOfWrongNumbersOfItsOwn() throws {
        let wrong = try #require(RendezvousNumber(rawValue: number.rawValue == 100_000 ? 100_001 : 100_000))
        var unknownCount = 0
        for host in 0..<40 {
            let high = 0x2001_0DB8_0001_0000 + UInt64(host)
            let stranger = visitor(at: Endpoint(.v6(high: high, low: 1, scope: 0), port: 9))
            for _ in 0..<3 where stranger.met(wrong, run: 1, room) == .unknown { unknownCount += 1 }
        }
        #expect(unknownCount == 64)
        let elsewhere = visitor(at: Endpoint(.v6(high: 0x2001_0DB8_0002_0000, low: 1, scope: 0), port: 9))
        #expect(elsewhere.met(wrong, run: 1, room) == .unknown)
    }

    @Test func aStationHasOneRendezvousAtATime() {
        #expect(visitor.met(number, run: 9, room) == .met)
        let other = visitor(at: .host(2, port: 50_000))
        #expect(other.met(number, run: 1, room) == .wait)
        #expect(room.relay.status.discards[.rendezvousFull] == 1)
        // The run of the first one ends 10 s after its last message.
        room.run(.seconds(6))
        room.receive(pairingMessage(.hello, run: 9, byteCount: 20), from: visitor.endpoint)
        room.run(.milliseconds(9_999))
        #expect(other.met(number, run: 1, room) == .wait)
        room.run(.milliseconds(1))
        #expect(room.receive(pairingMessage(.hello, run: 9, byteCount: 20), from: visitor.endpoint) != .handled)
        #expect(other.met(number, run: 1, room) == .met)
    }

    @Test(arguments: [
        (PairingMessage.Kind.receipt, 36, UInt8(0), true), (.refusal, 24, 2, true), (.refusal, 24, 1, false),
    ])
    func aRendezvousEndsTwoSecondsAfterTheLastMessage(
        kind: PairingMessage.Kind, byteCount: Int, reason: UInt8, ends: Bool
    ) {
        #expect(visitor.met(number, run: 9, room) == .met)
        room.run(.seconds(1))
        var last = pairingMessage(kind, run: 9, byteCount: byteCount)
        if kind == .refusal { last[20] = reason }
        let sender = kind == .receipt ? visitor : home
        #expect(room.receive(last, from: sender.endpoint) == .handled)
        let other = visitor(at: .host(3))
        room.run(.milliseconds(1_999))
        #expect(room.receive(last, from: sender.endpoint) == .handled)
        #expect(other.met(number, run: 1, room) == .wait)
        room.run(.milliseconds(1))
        #expect(other.met(number, run: 1, room) == (ends ? .met : .wait))
    }

    @Test func aRendezvousLastsAMinuteAtTheMost() {
        #expect(visitor.met(number, run: 9, room) == .met)
        let hello = pairingMessage(.hello, run: 9, byteCount: 20)
        for _ in 0..<11 {
            room.run(.seconds(5))
            #expect(room.receive(hello, from: visitor.endpoint) == .handled)
            home.knock(room)
            _ = home.placed(share.point, room)
        }
        room.run(.milliseconds(4_999))
        #expect(room.receive(hello, from: visitor.endpoint) == .handled)
        room.run(.milliseconds(1))
        #expect(room.receive(hello, from: visitor.endpoint) == .discarded(.strayPairing))
    }

    @Test func noMoreThan4096BytesArePassedOn() {
        #expect(visitor.met(number, run: 9, room) == .met)
        let link = pairingMessage(.link, run: 9, byteCount: 1_024)
        for _ in 0..<3 { #expect(room.receive(link, from: home.endpoint) == .handled) }
        for _ in 0..<51 {
            let hello = pairingMessage(.hello, run: 9, byteCount: 20)
            #expect(room.receive(hello, from: visitor.endpoint) == .handled)
        }
        // 4092 bytes have been passed on.
        let hello = pairingMessage(.hello, run: 9, byteCount: 20)
        #expect(room.receive(hello, from: visitor.endpoint) == .discarded(.strayPairing))
        #expect(room.receive(hello, from: visitor.endpoint) == .discarded(.strayPairing))
        // The relay makes no further pass for the station within two seconds of the first one.
        let other = visitor(at: .host(3))
        #expect(other.met(number, run: 1, room) == .wait)
        room.run(.seconds(2))
        #expect(other.met(number, run: 1, room) == .met)
    }

    // MARK: - More than 32

    /// Lets initiators of these endpoints meet stations, which all stall. Returns them.
    private func stall(_ endpoints: [Endpoint], _ numbers: [RendezvousNumber]) -> [RelayVisitor] {
        zip(endpoints, numbers).map { endpoint, number in
            let stranger = visitor(at: endpoint)
            #expect(stranger.met(number, run: 1, room) == .met)
            return stranger
        }
    }

    private func passesOn(_ visitor: RelayVisitor) -> Bool {
        room.receive(pairingMessage(.hello, run: 1, byteCount: 20), from: visitor.endpoint) == .handled
    }

    @Test mutating func theThirtyThirdTakesThePlaceOfTheNewestOfTheLargestNetwork() {
        let numbers = waiting(33)
        // Twenty-nine networks with one, and one with three, two of which came last.
        let near = (1...3).map { Endpoint(.v4(0x0B00_0000 + UInt32($0)), port: 9) }
        let endpoints = [near[0]] + (0..<29).map { .host(5_000 + $0) } + near[1...]
        let strangers = stall(endpoints, numbers)
        #expect(visitor.met(number, run: 1, room) == .wait, "all began less than two seconds ago")
        room.run(.milliseconds(1_999))
        #expect(visitor.met(number, run: 1, room) == .wait)
        room.run(.milliseconds(1))
        #expect(visitor.met(number, run: 1, room) == .met)
        #expect(strangers.map(passesOn) == [Bool](repeating: true, count: 31) + [false])
        #expect(passesOn(visitor))
    }

    @Test mutating func withoutALargeNetworkTheOldestGivesWayOnceForEachHost() {
        let numbers = waiting(34)
        let strangers = stall((0..<32).map { .host(5_000 + $0) }, numbers)
        room.run(.seconds(2))
        #expect(visitor.met(number, run: 1, room) == .met)
        #expect(strangers.map(passesOn) == [false] + [Bool](repeating: true, count: 31))
        // Those who have had their turn do not get another one at once.
        room.run(.seconds(2))
        #expect(strangers[0].met(numbers[0], run: 2, room) == .wait)
        #expect(visitor.met(numbers[33], run: 3, room) == .wait)
        let other = visitor(at: .host(9))
        #expect(other.met(numbers[33], run: 1, room) == .met)
        #expect(strangers.map(passesOn) == [false, false] + [Bool](repeating: true, count: 30))
    }

    // MARK: - Limits

    @Test func aHostMaySendTenRequestsInASecond() {
        var answers = 0
        for _ in 0..<60 where home.placed(share.point, room) != nil { answers += 1 }
        #expect(answers == 39, "forty, one of which was the first")
        room.run(.seconds(1))
        answers = 0
        for _ in 0..<60 where home.placed(share.point, room) != nil { answers += 1 }
        #expect(answers == 10)
        answers = 0
        for _ in 0..<60 where visitor.met(number, run: 9, room) != nil { answers += 1 }
        #expect(answers == 40)
    }

    @Test func withoutARightCookieNothingIsAnswered() throws {
        let cookie = try #require(visitor.cookie)
        let stranger = RelayVisitor(at: .host(3), seed: 3)
        stranger.cookie = cookie
        #expect(stranger.place(share.point, room) == .discarded(.cookie))
        #expect(stranger.meet(number, run: 1, room) == .discarded(.cookie))
        // The cookie of this address is good for both, and for more than one of each.
        #expect(visitor.met(number, run: 1, room) == .met)
        #expect(visitor.placed(KeyShare(using: &visitor.randomness).point, room) != nil)
        // It expires.
        room.run(.seconds(121))
        #expect(visitor.meet(number, run: 1, room) == .discarded(.cookie))
        // Wrong ones count as HELLOs.
        for _ in 0..<3_000 { stranger.place(share.point, room) }
        #expect(stranger.place(share.point, room) == .discarded(.tooManyHandshakes))
        stranger.hello(room)
        #expect(room.inbox[stranger.endpoint] == nil)
    }

    @Test func nothingIsAnsweredWhileTooManyDatagramsWait() {
        room.isBlocked = true
        for number in 0..<4_096 { visitor(at: .host(10 + number)).hello(room) }
        #expect(home.place(share.point, room) == .discarded(.tooManyHandshakes))
        #expect(visitor.meet(number, run: 1, room) == .discarded(.tooManyHandshakes))
    }

    @Test func aShareOfLowOrderGetsNoPass() throws {
        let bytes = [UInt8](repeating: 0, count: 32)
        let answer = visitor.placed(SharePoint(Bytes32(bytes.span)), room)
        guard case .number(let weak, seconds: _)? = answer else { throw NoNumber() }
        let other = visitor(at: .host(3))
        #expect(other.met(weak, run: 1, room) == .unknown)
        #expect(passes(visitor).isEmpty)
    }

    @Test func aRelayThatDoesNotPairIgnoresAll() throws {
        let other = RelayHarness([])
        visitor.knock(other)
        #expect(visitor.place(share.point, other) == .discarded(.pairingOff))
        #expect(visitor.meet(number, run: 1, other) == .discarded(.pairingOff))
        let hello = pairingMessage(.hello, run: 1, byteCount: 20)
        #expect(other.receive(hello, from: visitor.endpoint) == .discarded(.pairingOff))
        #expect(other.receive(hello + [0], from: visitor.endpoint) == .discarded(.unknownProtocol))
        #expect(other.inbox.isEmpty)
    }

    @Test func thoseWhoWaitStayWhenTheConfigurationIsReadAgain() {
        room.reload(.pairing())
        #expect(visitor.met(number, run: 1, room) == .met)
        room.reload(.pairing(seed: 6))
        #expect(visitor.met(number, run: 2, room) == .unknown, "another key makes other passes")
        room.reload(RelayConfiguration([]))
        #expect(visitor.meet(number, run: 2, room) == .discarded(.pairingOff))
    }
}
