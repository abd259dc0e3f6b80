import TenfourAudioCore
import TenfourChannelKeys
import TenfourFloor
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// Members that ask for the floor and release it without end, in a channel with hundreds of participants.
struct FloorBudgetTests {
    /// The records about the floor of a channel in any second: 1000, and a burst of 250.
    private static let mostInASecond = 1_250
    /// With half of the budget, the state reaches all participants within this time.
    private static let longestRound = Duration.milliseconds(1_500)

    private let family = ChannelKeys.drawn("family")
    private let room: RelayHarness
    private let talker, asker: SimulatedMember
    /// 40 members that each send 30 messages a second.
    private let attackers: [SimulatedMember]
    private let participants: [SimulatedMember]

    init() {
        var configuration = RelayConfiguration([family, .drawn("other", seed: 8)])
        configuration.channels[0].floor = FloorArbiter.Configuration()
        room = RelayHarness(configuration)
        func members(_ numbers: Range<Int>) -> [SimulatedMember] {
            numbers.map { SimulatedMember(ChannelKeys.drawn("family"), .talk, at: .host($0)) }
        }
        let all = members(0..<740)
        (talker, asker) = (all[0], all[1])
        attackers = Array(all[2..<42])
        participants = Array(all[42...])
        for member in all {
            _ = member.join(room)
            member.say(.floor(.queuePositionRequest(number: 0, member.ssrc)), room)
            room.run(.milliseconds(5))
        }
        room.run(.seconds(3))
        room.inbox = [:]
    }

    private func request(_ member: SimulatedMember, _ number: UInt32) {
        member.say(.floor(.request(number: number, member.ssrc, .normal, waits: false, sends: false)), room)
    }

    private func messages(_ member: SimulatedMember) -> [FloorMessage] {
        member.records(room).records.compactMap { if case .floor(let message) = $0 { message } else { nil } }
    }

    /// Runs the flood for some time. Each attacker requests the floor and releases it in turns. `observe` is called each
    /// millisecond with the number of the millisecond.
    private func flood(_ duration: Duration, _ observe: (Int) -> Void) {
        for millisecond in 0..<Int(duration / .milliseconds(1)) {
            room.run(.milliseconds(1))
            for (index, attacker) in attackers.enumerated() where (millisecond + index) % 33 == 0 {
                let number = UInt32(millisecond / 66 + 1)
                if (millisecond + index) / 33 % 2 == 0 {
                    request(attacker, number)
                } else {
                    attacker.say(.floor(.release(number: number, attacker.ssrc)), room)
                }
            }
            observe(millisecond)
            for attacker in attackers { room.inbox[attacker.endpoint] = nil }
        }
    }

    @Test func aFloodCostsTheChannelsBudgetAndNoMore() throws {
        var counts: [Int] = []
        var served: [Endpoint: Instant] = [:]
        var longest = Duration.zero
        var lasts: [Endpoint: [UInt8]] = [:]
        func take() -> Int {
            var count = 0
            for member in participants {
                let datagrams = room.take(member.endpoint)
                guard let last = datagrams.last else { continue }
                count += datagrams.count
                longest = max(longest, room.now - served[member.endpoint, default: room.now])
                served[member.endpoint] = room.now
                lasts[member.endpoint] = last
            }
            return count
        }
        flood(.seconds(8)) { _ in
            counts.append(take() + room.inbox.values.reduce(0) { $0 + $1.count })
            room.inbox = [:]
        }
        let sums = (0...counts.count - 1_000).map { counts[$0..<$0 + 1_000].reduce(0, +) }
        #expect((sums.max() ?? 0) <= Self.mostInASecond)
        #expect((sums.min() ?? 0) >= 900, "the budget is used")
        #expect(served.count == participants.count && longest < Self.longestRound, "\(longest)")
        // When it is over, and the last talker has vanished, everybody knows the last state.
        room.run(.milliseconds(1_500) + Self.longestRound)
        _ = take()
        let states = try lasts.map { endpoint, last -> FloorRevision? in
            let member = try #require(participants.first { $0.endpoint == endpoint })
            return switch try member.opened(last) {
            case .floor(.idle(_, let revision, _)), .floor(.taken(_, _, _, let revision, _, _)): revision
            default: nil
            }
        }
        #expect(states.count == participants.count && Set(states).count == 1, "\(Set(states))")
    }

    @Test func theTalkerKeepsTheFloorAndOneWhoAsksIsAnsweredAtOnce() {
        talker.announce(room)
        request(talker, 1)
        var lastGrant = room.now
        var longest = Duration.zero
        var answers: [Int] = []
        flood(.seconds(5)) { millisecond in
            if millisecond % 20 == 0 { talker.talk(room) }
            let isGranted = messages(talker).contains { if case .granted = $0 { true } else { false } }
            if isGranted {
                longest = max(longest, room.now - lastGrant)
                lastGrant = room.now
            }
            if millisecond == 3_000 {
                room.inbox[asker.endpoint] = nil
                request(asker, 1)
            }
            let isDenied = messages(asker).contains { if case .denied = $0 { true } else { false } }
            if isDenied { answers.append(millisecond) }
        }
        #expect(longest <= .milliseconds(75) && room.now - lastGrant <= .milliseconds(75), "\(longest)")
        #expect(answers.count == 1 && (3_000...3_010).contains(answers.first ?? 0), "\(answers)")
        #expect(room.relay.status.channels[0].floor?.talker == talker.ssrc)
    }

    @Test func anEmergencyRevokesTheTalkersFloorAtOnce() {
        talker.announce(room)
        request(talker, 1)
        var revocations: [Int] = []
        flood(.seconds(3)) { millisecond in
            if millisecond % 20 == 0, millisecond < 2_000 { talker.talk(room) }
            if millisecond == 2_000 {
                asker.say(.floor(.request(number: 1, asker.ssrc, .emergency, waits: false, sends: false)), room)
            }
            let isRevoked = messages(talker).contains { if case .revoke = $0 { true } else { false } }
            if isRevoked { revocations.append(millisecond) }
        }
        #expect((2_000...2_010).contains(revocations.first ?? 0), "\(revocations)")
    }

    @Test func anotherChannelIsForwardedMeanwhile() {
        let other = SimulatedMember(.drawn("other", seed: 8), .talk, at: .host(900))
        #expect(other.join(room))
        other.announce(room)
        var count = 0
        flood(.seconds(2)) { millisecond in
            guard millisecond % 20 == 0 else { return }
            if case .forward = other.talk(room) { count += 1 }
        }
        #expect(count == 100)
        #expect(room.relay.status.channels[1].forwardedCount == 101)
    }

    /// 55 members a second join, request the floor once, release it, and stay.
    @Test func joinsWithOnePressEachCostTheBudget() {
        var number = 1_000
        var most = 0
        for _ in 0..<5 {
            let before = room.bytesOut
            for _ in 0..<55 {
                let member = SimulatedMember(family, .talk, at: .host(number))
                #expect(member.join(room))
                request(member, 1)
                room.run(.milliseconds(9))
                member.say(.floor(.release(number: 1, member.ssrc)), room)
                room.run(.milliseconds(9))
                number += 1
            }
            most = max(most, room.bytesOut - before)
            room.inbox = [:]
        }
        // A record about the floor has 49 bytes; COOKIE, WELCOME and RENEWED for each member together 227.
        #expect(most <= Self.mostInASecond * 60 + 55 * 400, "\(most)")
    }
}

/// Channels whose configuration says nothing about the floor.
struct FloorOffTests {
    private let family = ChannelKeys.drawn("family")
    private let one, two: SimulatedMember

    init() {
        one = SimulatedMember(family, .talk, at: .host(1))
        two = SimulatedMember(family, .talk, at: .host(2))
    }

    private func configuration(_ terms: FloorArbiter.Configuration?) -> RelayConfiguration {
        var configuration = RelayConfiguration([family])
        configuration.channels[0].floor = terms
        return configuration
    }

    private func ask(_ member: SimulatedMember, _ room: RelayHarness) {
        member.say(.floor(.queuePositionRequest(number: 0, member.ssrc)), room)
    }

    private func request(_ member: SimulatedMember, _ number: UInt32, _ room: RelayHarness) {
        member.say(.floor(.request(number: number, member.ssrc, .normal, waits: false, sends: false)), room)
    }

    private func messages(_ member: SimulatedMember, _ room: RelayHarness) -> [FloorMessage] {
        member.records(room).records.compactMap { if case .floor(let message) = $0 { message } else { nil } }
    }

    @Test func theRelayIgnoresMessagesAboutTheFloor() {
        let room = RelayHarness(configuration(nil))
        #expect(one.join(room) && two.join(room))
        for member in [one, two] { ask(member, room) }
        request(one, 1, room)
        room.run(.seconds(2))
        #expect(messages(one, room) == [] && messages(two, room) == [])
        #expect(room.relay.status.channels[0].floor == nil)
        for member in [one, two] {
            member.announce(room)
            guard case .forward = member.talk(room) else {
                Issue.record("not forwarded")
                return
            }
        }
    }

    /// A station asks once whether the relay arbitrates, so the relay goes on for those that have had an answer.
    @Test func afterAReloadTheFloorRemainsForThoseWhoUseIt() {
        let room = RelayHarness(configuration(.init(isRequired: true)))
        #expect(one.join(room) && two.join(room))
        ask(one, room)
        room.reload(configuration(nil))
        room.inbox = [:]
        ask(two, room)
        request(two, 1, room)
        #expect(messages(two, room) == [])
        request(one, 1, room)
        #expect(messages(one, room).contains { if case .granted(1, one.ssrc, _, _, _, _) = $0 { true } else { false } })
        two.announce(room)
        guard case .forward = two.talk(room) else {
            Issue.record("the floor is not required any more")
            return
        }
        one.say(.leave, room)
        #expect(room.relay.status.channels[0].floor == nil)
    }
}
