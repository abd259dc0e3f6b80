import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// A member says which clocks differ: its own and the relay's, its own and a talker's.
struct ClockTests {
    private let relay = TinyRelay(Family.talk)

    /// Returns the clock at `now`, which is `ahead` seconds fast.
    private func clock(_ ahead: Double, at now: Instant = .start) -> WallClock {
        WallClock(milliseconds: UInt64(Int64(Airwaves.clock(at: now).sinceEpoch) + Int64(ahead * 1_000)))
    }

    private func listener(_ number: Int = 0, ahead: Double, isSynchronised: Bool = true) -> Member {
        Member(
            number, Family.configuration(.listen, isSynchronised: isSynchronised), ssrc: 5, clock: clock(ahead), seed: 3
        )
    }

    private func clockEvents(_ member: Member) -> [ChannelEvent] {
        member.eventsOnly.filter {
            switch $0 {
            case .relayClockDiffers, .relayClockAgrees: true
            default: false
            }
        }
    }

    private func differences(_ member: Member) -> [ClockDifference] {
        clockEvents(member).compactMap { if case .relayClockDiffers(let difference) = $0 { difference } else { nil } }
    }

    private func refusals(_ member: Member) -> [TimeRefusal] {
        member.eventsOnly.compactMap { if case .refusedForTime(let refusal) = $0 { refusal } else { nil } }
    }

    // MARK: - The relay's clock

    @Test(arguments: [-86_400, -5, 5, 3_600] as [Double], [true, false])
    func aDifferenceFromTheRelaysClockIsReportedOnceAtTheJoin(ahead: Double, isSynchronised: Bool) throws {
        let listener = listener(ahead: -ahead, isSynchronised: isSynchronised)
        let air = Airwaves([listener], relay)
        air.run(seconds: 1)
        #expect(listener.isJoined)
        #expect(clockEvents(listener) == [.relayClockDiffers(.init(ahead: .seconds(ahead), isOwnUsed: isSynchronised))])
        air.run(seconds: 100)
        #expect(clockEvents(listener).count == 1)
        #expect(listener.channel.relayClockDifference(at: air.now)?.ahead == .seconds(ahead))
        // The report that is written at the end has the difference, too.
        listener.leave(at: air.now)
        #expect(listener.channel.relayClockDifference(at: air.now)?.ahead == .seconds(ahead))
    }

    @Test(arguments: [-4_900, 0, 4_900]) func aSmallDifferenceIsOnlyMeasured(ahead: Int) {
        let listener = listener(ahead: Double(-ahead) / 1_000)
        let air = Airwaves([listener], relay)
        #expect(listener.channel.relayClockDifference(at: air.now) == nil)
        air.run(seconds: 100)
        #expect(listener.isJoined && clockEvents(listener).isEmpty)
        #expect(listener.channel.relayClockDifference(at: air.now)?.ahead == .milliseconds(ahead))
    }

    /// Half of the round trip is taken off, and a difference that a long round trip may feign is not reported.
    @Test func theRoundTripIsNoDifference() {
        let listener = listener(ahead: -6)
        let slow = NetworkModel(delay: .milliseconds(250))
        let air = Airwaves([listener], relay, network: slow)
        air.run(seconds: 3)
        #expect(differences(listener) == [.init(ahead: .seconds(6), isOwnUsed: true)])
        air.change(0, back: NetworkModel(delay: .seconds(11)))
        listener.channel.setClock(clock(0, at: air.now), at: air.now)
        #expect(listener.channel.nextEvent() == .relayClockAgrees)
        air.run(seconds: 60)
        #expect(clockEvents(listener).count == 1, "the answers are late, and the clocks are right")
    }

    @Test func aChangeOfTheDifferenceAndItsEndAreReported() {
        let listener = listener(ahead: -100)
        let air = Airwaves([listener], relay)
        air.run(seconds: 1)
        for ahead in [-103, -106, -3, -1, -3, -7] as [Double] {
            listener.channel.setClock(clock(ahead, at: air.now), at: air.now)
            air.run(seconds: 1)
            air.flush(0)
        }
        let expected: [Double?] = [100, 106, nil, 7]
        #expect(
            clockEvents(listener)
                == expected.map { ahead in
                    ahead.map { .relayClockDiffers(.init(ahead: .seconds($0), isOwnUsed: true)) } ?? .relayClockAgrees
                })
    }

    /// A relay that is lost and found again says nothing new; another relay does.
    @Test func aDifferenceIsReportedAgainOnlyForAnotherRelay() {
        let second = Endpoint(.v4(0xC633_6402), port: 5_004)
        let other = TinyRelay(Family.talk, at: second, seed: 2)
        other.clockError = -30_000
        relay.clockError = -30_000
        let listener = Member(0, Family.configuration(.listen, endpoints: [Airwaves.relay, second]), ssrc: 5)
        let air = Airwaves([listener], relay, others: [other])
        air.run(seconds: 1)
        #expect(differences(listener).count == 1)
        air.silent = [Airwaves.relay, second]
        air.run(seconds: 60)
        #expect(!listener.isJoined && listener.channel.relayClockDifference(at: air.now) == nil)
        air.silent = [second]
        air.run(seconds: 60)
        #expect(listener.isJoined && differences(listener).count == 1)
        air.silent = [Airwaves.relay]
        air.run(seconds: 60)
        #expect(listener.isJoined && differences(listener).count == 2)
    }

    @Test(arguments: RelayKind.allCases) func aManagedChannelReportsItToo(with kind: RelayKind) throws {
        let owner = SignedFamily.member(0, roster: try SignedFamily.roster(1))
        let ben = SignedFamily.member(1)
        ben.channel.setClock(clock(-3_600), at: .start)
        let air = Airwaves([owner, ben], SignedFamily.relay(kind))
        air.run(seconds: 20)
        #expect(ben.isJoined && ben.channel.isManaged && clockEvents(owner).isEmpty)
        #expect(differences(ben) == [.init(ahead: .seconds(3_600), isOwnUsed: true)])
    }

    // MARK: - The talkers' clocks

    /// The listener's clock is an hour slow: it hears nothing, and learns why.
    @Test func aTalkerThatIsRefusedForItsTimeIsReported() throws {
        let talkers = (0..<3).map {
            Member($0, Family.configuration(.talk), ssrc: 9 + UInt32($0), speech: Speech(count: 500))
        }
        let listener = listener(3, ahead: -3_600)
        let air = Airwaves(talkers + [listener], relay)
        air.run(seconds: 5)
        #expect(listener.heard.isEmpty)
        let refusal = try #require(refusals(listener).first)
        #expect(refusals(listener).count == 1, "all have the same cause")
        guard case .clock(let difference) = refusal.cause else { throw Mismatch(refusal: refusal) }
        #expect((9...11).map { SSRC($0) }.contains(refusal.ssrc) && difference.isOwnUsed)
        #expect(abs(difference.ahead / .seconds(3_600) - 1) < 0.001)
        let counts = listener.channel.refusedForTime
        #expect(counts.announcementCount == listener.discards[.offTime] && counts.announcementCount > 5)
        #expect(counts.packetCount > 500 && counts.delayedCount == 0)
        // Now its clock is set.
        listener.channel.setClock(clock(0, at: air.now), at: air.now)
        air.run(seconds: 2)
        #expect(listener.heard.count > 50)
        let count = listener.channel.refusedForTime.packetCount
        air.run(seconds: 2)
        #expect(listener.channel.refusedForTime.packetCount == count)
    }

    struct Mismatch: Error { var refusal: TimeRefusal }

    /// The clocks of two talkers differ from the listener's, each in its own way. One that is right is heard.
    @Test func eachWrongTalkerIsReported() {
        let talkers = [3_600, 0, -7_200].enumerated().map { index, ahead in
            Member(
                index, Family.configuration(.talk), ssrc: 9 + UInt32(index), speech: Speech(count: 200),
                clock: clock(Double(ahead)))
        }
        let listener = listener(3, ahead: 0)
        let air = Airwaves(talkers + [listener], relay)
        air.run(seconds: 5)
        #expect(Set(refusals(listener).map(\.ssrc)) == [SSRC(9), SSRC(11)] && refusals(listener).count == 2)
        #expect(listener.heard(from: 10).count > 190 && clockEvents(listener).isEmpty)
        #expect(clockEvents(talkers[0]).count == 1 && clockEvents(talkers[2]).count == 1)
    }

    /// A station without a set clock compares talkers with the relay's time.
    @Test func aListenerWithTheRelaysTimeSaysSo() throws {
        relay.clockError = 3_600_000
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(count: 200))
        let listener = listener(1, ahead: 0, isSynchronised: false)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 3)
        guard case .clock(let difference)? = refusals(listener).first?.cause else {
            Issue.record("\(listener.eventsOnly)")
            return
        }
        #expect(!difference.isOwnUsed && difference.ahead < .seconds(-3_598))
    }

    /// Announcements without media keep nobody from being heard.
    @Test func recordedAnnouncementsAloneReportNothing() {
        let listener = listener(ahead: 0)
        let air = Airwaves([listener], relay)
        air.run(seconds: 1)
        let announcement = Announcement(
            suite: .aesCounterMode, ssrc: SSRC(9), epoch: Epoch(at: clock(-3_600), random: 1),
            index: PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 1)), at: clock(-3_600),
            under: Family.talk.mediaRoot)
        for _ in 0..<20 {
            air.inject([UInt8](capacity: 128) { ControlPacket.write(announcement, into: &$0) }, to: 0)
        }
        #expect(listener.channel.refusedForTime.announcementCount == 20 && refusals(listener).isEmpty)
    }

    /// The network holds media back for 4 s: the clocks are not the cause.
    @Test func delayedMediaIsReportedOnce() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = listener(1, ahead: 0)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 1)
        var held: [(due: Instant, bytes: [UInt8])] = []
        air.loses = { [unowned air] datagram, member in
            guard member == 1, (128...191).contains(datagram[0]) else { return false }
            held.append((air.now + .seconds(4), datagram))
            return true
        }
        air.run(seconds: 4)
        for (due, datagram) in held {
            air.run(until: max(due, air.now))
            air.inject(datagram, to: 1)
        }
        #expect(listener.channel.refusedForTime.delayedCount > 100)
        guard refusals(listener).count == 1, case .delay(let delay)? = refusals(listener).first?.cause else {
            Issue.record("\(listener.eventsOnly)")
            return
        }
        #expect(delay > .milliseconds(3_900) && delay < .milliseconds(4_100))
    }
}
