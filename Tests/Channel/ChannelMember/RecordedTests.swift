import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// An attacker replays recorded media to members that join late, and delivers withheld media to present members.
struct RecordedTests {
    private let relay = TinyRelay(Family.talk)

    /// Returns the datagrams that a relay sent to a listener, with their times: five seconds of talk with one second
    /// of silence.
    private func recorded() -> [(at: Instant, bytes: [UInt8])] {
        let talker = Member(
            0, Family.configuration(.talk), ssrc: 9, speech: Speech(count: 250, isSpoken: { !(100..<150).contains($0) })
        )
        let air = Airwaves([talker, Member(1, Family.configuration(.listen), ssrc: 5)], relay)
        var datagrams: [(Instant, [UInt8])] = []
        air.watch = { [unowned air] datagram, member in if member == 1 { datagrams.append((air.now, datagram)) } }
        air.run(seconds: 5.2)
        relay.forgetAll()
        return datagrams
    }

    /// Returns the number of recorded packets heard by a listener that joins this number of seconds after the talk
    /// began. The attacker replays them at their original intervals, from the relay's address.
    private func heardCount(_ seconds: UInt64, isSynchronised: Bool) -> Int {
        let recording = recorded()
        let clock = WallClock(milliseconds: Airwaves.clock(at: .start).sinceEpoch + seconds * 1_000)
        relay.clockError = Int64(seconds) * 1_000
        let listener = Member(
            0, Family.configuration(.listen, isSynchronised: isSynchronised), ssrc: 5, clock: clock, seed: 3)
        let air = Airwaves([listener], relay)
        air.run(seconds: 0.1)
        for (moment, datagram) in recording {
            air.run(until: moment + .milliseconds(100))
            air.inject(datagram, to: 0)
        }
        #expect(listener.isJoined)
        return listener.openedCount
    }

    @Test(arguments: [(19, true, false), (11, true, false), (8, true, true), (100, false, true), (126, false, false)])
    func aTalkIsPlayedAgainOnlyWithinTheTimeThatClocksCannotTell(
        seconds: UInt64, isSynchronised: Bool, isHeard: Bool
    ) {
        #expect((heardCount(seconds, isSynchronised: isSynchronised) > 0) == isHeard)
    }

    /// Packets that are withheld for more than two seconds and then delivered are not played.
    @Test(arguments: [(1.9, true), (2.1, false), (30, false), (200, false)])
    func packetsWithheldForMoreThanTwoSecondsAreNotPlayed(seconds: Double, isHeard: Bool) {
        // Two talkspurts of one second; the second begins before the first is delivered.
        let first = 100..<150
        let second = Int(2 + seconds) * 50 + 100..<Int(2 + seconds) * 50 + 150
        let talker = Member(
            0, Family.configuration(.talk), ssrc: 9,
            speech: Speech(isSpoken: { $0 < 50 || first.contains($0) || second.contains($0) }))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        var withheld: [(at: Instant, bytes: [UInt8])] = []
        // Announcements are not withheld.
        air.loses = { [unowned air] datagram, member in
            guard member == 1, (128...191).contains(datagram[0]), air.now > .start + .seconds(1.5),
                air.now < .start + .seconds(3.5)
            else { return false }
            withheld.append((air.now, datagram))
            return true
        }
        air.run(seconds: 2)
        while air.now < .start + .seconds(3.1 + seconds) {
            air.run(seconds: 0.02)
            while let (moment, datagram) = withheld.first, air.now >= moment + .seconds(seconds) {
                withheld.removeFirst()
                air.inject(datagram, to: 1)
            }
        }
        let heard = Set(listener.heard.map(\.number))
        #expect(withheld.isEmpty && heard.isSuperset(of: 10..<50))
        #expect(heard.isSuperset(of: first) == isHeard && heard.isDisjoint(with: first) == !isHeard)
        if seconds == 2.1 { #expect(listener.discards[.late] == 50) }
        air.run(seconds: 3)
        #expect(Set(listener.heard.map(\.number)).isSuperset(of: second), "the talker's next talkspurt is heard")
    }

    @Test func aNewcomerHearsAtMostTwoSecondsOfEarlierAudio() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let air = Airwaves([talker, Member(1, Family.configuration(.listen), ssrc: 5)], relay)
        var datagrams: [[UInt8]] = []
        air.watch = { datagram, member in if member == 1 { datagrams.append(datagram) } }
        air.run(seconds: 8)
        let listener = Member(2, Family.configuration(.listen), ssrc: 6, at: air.now)
        air.add(listener)
        air.run(seconds: 0.2)
        for datagram in datagrams { air.inject(datagram, to: 2) }
        #expect((listener.heard.map(\.number).min() ?? 0) >= 6 * 50)
        #expect(listener.discards[.late] + listener.discards[.replayed] > 280)
    }

    /// The network becomes slower than it was when the epoch began.
    @Test(arguments: [0.5, 1.5])
    func aTalkerIsHeardWhoseNetworkBecomesSlower(seconds: Double) {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(count: 1_000))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 3)
        air.change(1, back: NetworkModel(delay: .seconds(seconds)))
        air.run(seconds: 22)
        let numbers = listener.heard.map(\.number)
        #expect(numbers == Array(numbers[0]...999) && numbers[0] < 10)
        #expect(listener.discards[.late] == 0)
    }

    /// Steps the wall clock of one station. If `member` is the listener, the talker starts a new epoch 61 s later.
    @Test(arguments: [-3_600_000, 3_600_000] as [Int64], [0, 1])
    func aStepOfAWallClockSilencesNobody(step: Int64, member: Int) {
        // A step of the talker's own clock shows in the next epoch, so the talker starts none here.
        let speech = Speech(isSpoken: { $0 < 400 || member == 1 && (3_500..<3_700).contains($0) })
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: speech)
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 3)
        let stepped = Int64(Airwaves.clock(at: air.now).sinceEpoch) + step
        air.members[member].channel.setClock(WallClock(milliseconds: UInt64(stepped)), at: air.now)
        air.run(seconds: 4)
        // A member that joins now also hears the talker: the epoch keeps its own clock.
        let late = Member(2, Family.configuration(.listen), ssrc: 6, at: air.now)
        air.add(late)
        air.run(seconds: 70)
        let numbers = listener.heard.map(\.number)
        #expect(listener.heard.count == relay.media.count && numbers[0] < 10)
        #expect(numbers.last == (member == 1 ? 3_699 : 399))
        #expect(late.heard.count > 40)
    }

    /// The talker starts a new epoch as soon as its clock is set and the kernel reports it as synchronised.
    @Test func aTalkerWithAWrongClockIsHeardOnceItIsSet() {
        relay.clockError = -3_600_000
        let talker = Member(
            0, Family.configuration(.talk, isSynchronised: false), ssrc: 9, speech: Speech(),
            clock: WallClock(milliseconds: 0))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 12)
        #expect(listener.heard.isEmpty && listener.discards[.offTime] > 10)
        talker.channel.setClock(Airwaves.clock(at: air.now), at: air.now)
        air.run(seconds: 1)
        #expect(listener.heard.count > 45)
    }

    @Test func aListenerThatSleptTenMinutesHearsOnlyPresentAudio() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(frameCount: FrameCount(2_880)))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 5)
        var queued: [[UInt8]] = []
        var isAsleep = true
        air.loses = { datagram, member in
            // The listener's socket keeps the first 50 datagrams that arrive during the sleep.
            if isAsleep, member == 1, queued.count < 50 { queued.append(datagram) }
            return isAsleep && member == 1
        }
        let heard = listener.heard.count
        listener.sleep(at: air.now)
        air.run(seconds: 600)
        listener.wake(at: air.now)
        isAsleep = false
        for datagram in queued { air.inject(datagram, to: 1) }
        #expect(listener.heard.count == heard && queued.count == 50)
        air.run(seconds: 3)
        let numbers = listener.heard.dropFirst(heard).map(\.number)
        #expect(numbers.count > 15 && numbers[0] >= Int(605 / 0.06) - 1)
    }

    @Test func aTalkerThatSleptTenMinutesIsHeardAgain() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(count: 250))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 5.1)
        air.loses = { _, member in member == 0 }
        talker.sleep(at: air.now)
        air.run(seconds: 600)
        talker.wake(at: air.now)
        air.loses = nil
        // The talker's sound card was suspended with its machine.
        talker.speech = Speech(beginning: air.now, count: 250, firstPosition: FrameCount(251 * 960))
        let resumed = air.now
        air.run(seconds: 6)
        #expect(listener.heard.count { $0.at > resumed } > 190)
        #expect(Set(relay.announcements.map(\.epoch)).count == 2)
    }

    /// The microphone stalls for three seconds and then continues with the next frame position.
    @Test func aTalkerWhoseSoundStoodStillIsHeardAgain() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(count: 250))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 8)
        talker.speech = Speech(beginning: air.now, count: 250, firstPosition: FrameCount(251 * 960))
        air.run(seconds: 6)
        #expect(listener.heard.count == relay.media.count)
        #expect(listener.heard.count > 490 && Set(relay.announcements.map(\.epoch)).count == 2)
    }

    /// A talker of the previous version, whose epochs contain no timing.
    @Test func anOlderStationIsHeardUntilItsKeyExpires() throws {
        let root = Family.talk.mediaRoot
        let epoch = Epoch(at: Airwaves.clock(at: .start), random: 1 << 70)
        let index = PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0))
        func announcement(at moment: Instant) -> [UInt8] {
            let announcement = Announcement(
                suite: .aesCounterMode, ssrc: SSRC(9), epoch: epoch, index: index, at: Airwaves.clock(at: moment),
                under: root)
            return [UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }
        }
        var talker = try SRTPContext(
            sending: root.masterKey(.aesCounterMode, ssrc: SSRC(9), epoch: epoch), ssrc: SSRC(9))
        let packets = try (0..<4).map { try sealed($0, of: SSRC(9), &talker) }
        let listener = Member(0, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([listener], relay)
        air.run(seconds: 1)
        let first = announcement(at: air.now)
        air.inject(first, to: 0)
        #expect(air.inject(packets[0], to: 0) == .opened)
        air.run(seconds: 14)
        air.inject(first, to: 0)
        #expect(air.inject(packets[1], to: 0) == .opened)
        air.run(seconds: 2)
        air.inject(first, to: 0)
        #expect(air.inject(packets[2], to: 0) == .held, "a replayed old announcement renews no key")
        air.inject(announcement(at: air.now), to: 0)
        #expect(listener.openedCount == 3)
        #expect(air.inject(packets[3], to: 0) == .opened)
    }
}

/// Returns an RTP packet of `ssrc` with 20 ms of audio, encrypted.
func sealed(_ number: UInt16, of ssrc: SSRC, _ context: inout SRTPContext) throws -> [UInt8] {
    var failure: SRTPError?
    let packet = [UInt8](capacity: 120) {
        RTPHeader(
            marker: false, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
            timestamp: RTPTimestamp(rawValue: UInt32(number) * 960), ssrc: ssrc
        ).write(into: &$0)
        $0.append(31 << 3)
        $0.append(repeating: 0xAA, count: 79)
        do throws(SRTPError) { try context.protect(&$0) } catch { failure = error }
    }
    if let failure { throw failure }
    return packet
}
