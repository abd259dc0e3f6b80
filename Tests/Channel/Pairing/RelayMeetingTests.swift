import TenfourAudioCore
import TenfourChannelKeys
import TenfourSeededRandom
import TenfourSession
import Testing

@testable import TenfourPairing

private let stranger = Endpoint(.v4(0xC633_6407), port: 5004)

struct RelayMeetingTests {
    private let number: RendezvousNumber

    init() throws { number = try #require(RendezvousNumber(rawValue: 482_913)) }

    private func road(isWaiting: Bool = true, seed: UInt64 = 1) -> Road {
        var randomness = SeededRandom(seed: seed)
        let addresses = [Road.otherAddress, Road.address]
        return Road(RelayMeeting(addresses, isWaiting: isWaiting, using: &randomness), seed: seed)
    }

    // MARK: A number

    @Test func aStationGetsANumberAndKeepsIt() {
        let road = road()
        road.run(.seconds(1))
        #expect(road.events == [.number(number)])
        #expect(road.count(.place) == 1)
        road.run(.seconds(290))
        #expect(road.events == [.number(number)])
        #expect(road.count(.place) == 30)
        #expect(road.helloCount == 6, "cookies are replaced before they expire: \(road.helloCount)")
        #expect(road.refusedCount == 0)
    }

    @Test(arguments: 0..<40 as Range<UInt64>) func itGetsTheNumberOverABadNetwork(seed: UInt64) {
        let road = road(seed: seed)
        road.loss = 0.4
        road.duplication = 0.2
        road.run(.seconds(9))
        #expect(road.events == [.number(number)])
        road.run(.seconds(280))
        #expect(Set(road.events).isSubset(of: [.number(number), .silent]), "\(road.events)")
    }

    /// The person must not say a number that has ended.
    @Test func aNumberThatEndsIsReplacedWithinTwoSeconds() throws {
        let road = road()
        road.run(.seconds(300))
        #expect(road.events == [.number(number)])
        road.run(.seconds(2))
        let next = try #require(RendezvousNumber(rawValue: number.rawValue + 1))
        #expect(road.events == [.number(number), .number(next)])
    }

    /// Each number that is told takes lines of the person's screen.
    @Test func numbersThatWereNotAskedForAreIgnored() throws {
        let road = road()
        road.run(.seconds(1))
        func flood() throws {
            for value in 200_000..<201_000 as Range<UInt32> {
                let other = try #require(RendezvousNumber(rawValue: value))
                road.deliver(
                    RendezvousMessage.number(nonce: road.relay.lastNonce, .number(other, seconds: 300)).bytes)
            }
        }
        try flood()
        #expect(road.events == [.number(number)])
        // While PLACE waits for its answer, one is taken.
        road.relay.isSilent = true
        road.run(.seconds(10))
        try flood()
        #expect(road.events.count == 2)
    }

    @Test func afterARestartOfTheRelayTheNumberIsAnother() throws {
        let road = road()
        road.run(.seconds(15))
        let other = try #require(RendezvousNumber(rawValue: 100_007))
        road.relay.restart(number: other)
        road.run(.seconds(12))
        #expect(road.events == [.number(number), .number(other)])
        #expect(road.refusedCount == 4, "PLACE with the old cookie")
    }

    @Test func aRelayThatFallsSilentIsAskedOn() {
        let road = road()
        road.run(.seconds(5))
        road.relay.isSilent = true
        road.run(.seconds(21))
        #expect(road.events == [.number(number), .silent])
        let before = road.sentCount
        road.run(.seconds(200))
        #expect(road.events == [.number(number), .silent])
        #expect(road.sentCount - before <= 200, "two addresses, each 2 s")
        road.relay.isSilent = false
        road.run(.seconds(3))
        #expect(road.events == [.number(number), .silent, .number(number)])
    }

    @Test(arguments: RendezvousMessage.PlaceRefusal.allCases)
    func aRelayWithoutANumberIsAskedAgain(reason: RendezvousMessage.PlaceRefusal) {
        let road = road()
        road.relay.refusal = reason
        road.run(.seconds(35))
        #expect(road.events == [.noNumber(reason)])
        #expect(road.count(.place) == 4)
        road.relay.refusal = nil
        road.run(.seconds(10))
        #expect(road.events == [.noNumber(reason), .number(number)])
    }

    @Test func aNumberThatIsGivenBackIsAskedForNoMore() {
        let road = road()
        road.run(.seconds(5))
        road.leave()
        #expect(road.meeting.isLeaving)
        road.run(.seconds(1))
        #expect(!road.meeting.isLeaving && road.meeting.nextDeadline == nil)
        #expect(road.count(.leave) == 3, "it may get lost, and is not answered")
        #expect(road.relay.hasLeft)
        road.leave()
        road.run(.seconds(60))
        #expect(road.count(.leave) == 3 && road.count(.place) == 1)
    }

    /// Its relay has no place for it.
    @Test func aStationThatHasAskedForNoNumberGivesNoneBack() {
        for road in [road(isWaiting: false), road()] {
            road.leave()
            #expect(!road.meeting.isLeaving && road.meeting.nextDeadline == nil)
        }
    }

    /// The cookie is older than the time for which it is used, and the relay still takes it.
    @Test func theNumberIsGivenBackAtAnyTime() {
        for seconds in stride(from: 45, to: 65, by: 1) {
            let road = road()
            road.run(.seconds(seconds))
            road.leave()
            road.run(.seconds(1))
            #expect(road.relay.hasLeft && road.refusedCount == 0, "\(seconds) s")
        }
    }

    /// The answer to its last request is lost, and another cookie is on its way.
    @Test func theNumberIsGivenBackWithTheCookieOfTheLastRequest() {
        let road = road()
        road.run(.seconds(5))
        road.relay.isSilent = true
        road.run(.seconds(8))
        road.relay.isSilent = false
        road.leave()
        road.run(.seconds(1))
        #expect(road.relay.hasLeft && road.refusedCount == 0)
    }

    @Test func aRelayThatFallsSilentWhileANumberIsReplacedIsNamed() {
        let road = road()
        road.run(.seconds(5))
        road.relay.isSilent = true
        road.renew()
        road.run(.seconds(21))
        #expect(road.events == [.number(number), .silent])
    }

    // MARK: A relay that is of no use

    @Test(arguments: [true, false]) func whereNobodyAnswersNoRelayIs(isWaiting: Bool) {
        let road = road(isWaiting: isWaiting)
        road.relay.isSilent = true
        if !isWaiting { road.meet(number) }
        road.run(.milliseconds(9_900))
        #expect(road.events.isEmpty)
        road.run(.milliseconds(200))
        #expect(road.events == [.useless(.noAnswer)])
        #expect(road.meeting.nextDeadline == nil)
    }

    /// The network says so for each datagram (ICMP), and the person need not wait.
    @Test(arguments: [true, false]) func aPortThatNothingUsesIsToldAtTheSecondRefusal(isWaiting: Bool) {
        let road = road(isWaiting: isWaiting)
        road.relay.isSilent = true
        if !isWaiting { road.meet(number) }
        road.run(.milliseconds(100))
        road.refuse(at: Road.address, times: 3)
        road.refuse(at: stranger, times: 3)
        road.refuse(at: Road.otherAddress, times: 1)
        #expect(road.events.isEmpty, "one address may still answer")
        road.run(.milliseconds(300))
        road.refuse(at: Road.otherAddress, times: 1)
        #expect(road.events == [.useless(.refused)])
        #expect(road.meeting.nextDeadline == nil)
        road.refuse(at: Road.otherAddress, times: 5)
        #expect(road.events.count == 1)
    }

    /// Anybody may forge a refusal.
    @Test func aRelayThatHasAnsweredIsNotGivenUp() {
        let road = road()
        road.run(.seconds(1))
        for address in [Road.address, Road.otherAddress] { road.refuse(at: address, times: 20) }
        road.run(.seconds(20))
        #expect(road.events == [.number(number)])
    }

    @Test(arguments: [true, false]) func aRelayThatPairsNobodyIsToldOfAfterThreeSeconds(isWaiting: Bool) {
        let road = road(isWaiting: isWaiting)
        road.relay.isPairing = false
        if !isWaiting { road.meet(number) }
        road.run(.milliseconds(2_900))
        #expect(road.events.isEmpty)
        road.run(.milliseconds(200))
        #expect(road.events == [.useless(.pairsNone)])
        #expect(road.meeting.nextDeadline == nil)
        // Another one is typed, and the time counts from then.
        road.run(.seconds(60))
        road.relay.isPairing = true
        road.meet(number)
        road.run(.milliseconds(100))
        #expect(road.events.last?.isMet == true)
    }

    // MARK: A station that is met

    /// MEET goes on until the other station answers: it may not have got its pass.
    @Test func theStationIsMetAndHearsOfItUntilItAnswers() throws {
        let road = road(isWaiting: false)
        road.meet(number)
        #expect(road.meeting.isMeeting)
        road.run(.seconds(1))
        #expect(!road.meeting.isMeeting)
        guard case .met(relay: let relay, run: let run) = road.events.first else {
            Issue.record("\(road.events)")
            return
        }
        #expect(relay == Road.address && road.events.count == 1 && run == road.relay.lastRun)
        #expect(road.count(.meet) == 4)
        road.deliver(PairingMessage(.challenge, initiator: run &+ 1, responder: 5).bytes())
        road.run(.milliseconds(300))
        #expect(road.count(.meet) == 6, "another run")
        road.deliver(PairingMessage(.challenge, initiator: run, responder: 5).bytes())
        road.run(.seconds(60))
        #expect(road.count(.meet) == 6)
        #expect(road.meeting.nextDeadline == nil)
        // A second run has another number.
        road.meet(number)
        road.run(.milliseconds(100))
        #expect(road.events.count == 2 && road.relay.lastRun != run)
    }

    @Test func aStationThatNeverAnswersIsLeftAloneAfterFiveSeconds() {
        let road = road(isWaiting: false)
        road.meet(number)
        road.run(.seconds(60))
        #expect(road.events.count == 1)
        #expect((19...21).contains(road.count(.meet)))
        #expect(road.meeting.nextDeadline == nil)
    }

    @Test(arguments: 0..<40 as Range<UInt64>) func itMeetsTheStationOverABadNetwork(seed: UInt64) {
        let road = road(seed: seed)
        (road.loss, road.duplication) = (0.3, 0.2)
        road.run(.milliseconds(100 * Int(seed)))
        road.meet(number)
        road.run(.seconds(9))
        #expect(road.events.count { $0.isMet } == 1, "\(road.events)")
    }

    @Test(arguments: [
        (RendezvousMessage.MeetOutcome.unknown, MeetingFailure.unknownNumber), (.tooManyNumbers, .tooManyNumbers),
        (.tooManyRuns, .tooManyRuns),
    ])
    func aStationThatIsNotMetIsGivenUp(outcome: RendezvousMessage.MeetOutcome, failure: MeetingFailure) {
        let road = road(isWaiting: false)
        road.relay.outcome = outcome
        road.meet(number)
        road.run(.seconds(10))
        #expect(road.events == [.failed(failure)])
        #expect(road.count(.meet) == 1, "each number that is named counts")
        #expect(road.meeting.nextDeadline == nil)
    }

    @Test func aRunThatHasToWaitIsAskedForFourTimesASecond() {
        let road = road()
        road.relay.outcome = .wait
        road.meet(number)
        road.run(.milliseconds(1_900))
        #expect(road.events == [.number(number)])
        road.run(.seconds(60))
        #expect(road.events == [.number(number), .waits])
        #expect((240...250).contains(road.count(.meet)), "\(road.count(.meet))")
        road.relay.outcome = .met
        road.run(.milliseconds(300))
        #expect(road.events.count == 3 && road.events[2].isMet)
    }

    @Test func noRunWaitsForMoreThanTwoMinutes() {
        let road = road(isWaiting: false)
        road.relay.outcome = .wait
        road.meet(number)
        road.run(.seconds(119))
        #expect(road.events == [.waits])
        road.run(.seconds(2))
        #expect(road.events == [.waits, .failed(.noRoom)])
        // A relay that falls silent is told of sooner.
        road.meet(number)
        road.run(.seconds(1))
        road.relay.isSilent = true
        road.run(.seconds(6))
        #expect(road.events.last == .failed(.noAnswer))
    }

    @Test func whatWasTypedCanBeGivenUp() {
        let road = road(isWaiting: false)
        road.relay.outcome = .wait
        road.meet(number)
        road.run(.seconds(1))
        road.meeting.cancel()
        road.relay.outcome = .met
        road.run(.seconds(60))
        #expect(road.events.isEmpty && road.meeting.nextDeadline == nil)
    }

    // MARK: The pass

    @Test func thePassComesFromTheRelayOnly() throws {
        let road = road()
        road.run(.seconds(1))
        let pass = try #require(ChannelPass(bytes: 1...32))
        let made = road.relay.sealed(pass)
        let sealed = try #require(made)
        road.deliver(sealed, from: stranger)
        road.deliver(sealed, from: Road.otherAddress)
        #expect(road.events == [.number(number)], "another address than that which has answered")
        road.deliver(sealed)
        #expect(road.events == [.number(number), .pass(pass)])
        for place in sealed.indices {
            var changed = sealed
            changed[place] ^= 0x10
            road.deliver(changed)
        }
        #expect(road.events.count == 2)
    }

    /// Each pass that is opened costs an agreement.
    @Test func aFloodOfPassesIsBounded() throws {
        let road = road()
        road.run(.seconds(1))
        let pass = try #require(ChannelPass(bytes: 1...32))
        let made = road.relay.sealed(pass)
        let sealed = try #require(made)
        for _ in 0..<1_000 { road.deliver(sealed) }
        #expect(road.events.count == 11)
    }

    // MARK: Strangers

    @Test func datagramsThatAnswerNothingAreIgnored() throws {
        let road = road()
        road.relay.outcome = .wait
        road.meet(number)
        road.run(.milliseconds(500))
        let run = road.relay.lastRun
        let other = try #require(RendezvousNumber(rawValue: 555_555))
        let nonce = road.relay.lastNonce
        let deadline = road.meeting.nextDeadline
        let messages: [RendezvousMessage] = [
            .number(nonce: nonce &+ 1, .number(other, seconds: 300)), .met(nonce: nonce &+ 1, initiator: run, .met),
            .met(nonce: nonce, initiator: run &+ 1, .met),
        ]
        for message in messages { road.deliver(message.bytes) }
        let right: [RendezvousMessage] = [
            .met(nonce: nonce, initiator: run, .met), .number(nonce: nonce, .refused(.full)),
        ]
        for message in right { road.deliver(message.bytes, from: stranger) }
        var randomness = SeededRandom(seed: 3)
        for length in [0, 1, 4, 20, 28, 32, 40, 84, 128, 1_200] {
            for kind: UInt8 in 0...20 {
                var bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &randomness) }
                for (place, byte) in zip(bytes.indices, [UInt8(ascii: "p"), 1, kind, 0]) { bytes[place] = byte }
                road.deliver(bytes)
            }
        }
        #expect(road.events == [.number(number)])
        #expect(road.meeting.nextDeadline == deadline)
    }
}

extension RelayMeeting.Event {
    fileprivate var isMet: Bool { if case .met = self { true } else { false } }
}
