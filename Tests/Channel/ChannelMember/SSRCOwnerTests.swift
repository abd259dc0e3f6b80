import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// A talker's next key has its SSRC from the first packet on: nobody hears the first word of a press as another talker's.
struct SSRCOwnerTests {
    private let relay = TinyRelay(Family.talk)

    /// Returns the SSRCs that `listener` has heard since `start`, in order, with the number of packets under each.
    private func heard(_ listener: Member, since start: Instant) -> [(ssrc: SSRC, count: Int)] {
        listener.heard.filter { $0.at >= start }.reduce(into: []) { runs, packet in
            if runs.last?.ssrc == packet.packet.ssrc {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((packet.packet.ssrc, 1))
            }
        }
    }

    @Test(arguments: RelayKind.allCases) func aPressRightAfterJoiningIsHeardFromItsFirstPacketOn(kind: RelayKind) {
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([Member(0, Family.configuration(.listen), ssrc: 4), listener], kind.relay())
        air.run(seconds: 1)
        let began = air.now
        air.replace(0, by: Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(beginning: began), at: began))
        air.run(seconds: 3)
        let numbers = listener.heard.map(\.number)
        let first = numbers.first ?? .max
        // The packets before the talker had joined were never sent.
        #expect(first < 6 && numbers == Array(first...148))
        #expect(Set(listener.heard.map(\.packet.ssrc)) == [SSRC(9)])
    }

    /// Presses with pauses between 0.1 s and 61 s, after which a new epoch begins.
    @Test func eachPressIsHeardUnderTheSSRC() {
        let starts = [0, 55, 120, 200, 300, 1_200, 4_300].map { $0...$0 + 49 }
        let talker = Member(
            0, Family.configuration(.talk), ssrc: 9,
            speech: Speech(
                beginning: .start + .seconds(1), isSpoken: { number in starts.contains { $0.contains(number) } }))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 90)
        #expect(Set(relay.announcements.map(\.epoch)).count == 2)
        #expect(listener.heard.map(\.number) == starts.flatMap(Array.init))
        #expect(Set(listener.heard.map(\.packet.ssrc)) == [SSRC(9)])
    }

    /// The talker's clock becomes synchronised in mid-word, which begins a new epoch.
    @Test func theNextEpochOfATalkerWhoseClockBecomesSynchronisedHasTheSSRC() {
        let talker = Member(0, Family.configuration(.talk, isSynchronised: false), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 15)
        talker.channel.setClock(Airwaves.clock(at: air.now), at: air.now)
        let start = air.now
        air.run(seconds: 5)
        let runs = heard(listener, since: start)
        #expect(Set(relay.announcements.map(\.epoch)).count == 2)
        #expect(runs.map(\.ssrc) == [SSRC(9)] && (runs.first?.count ?? 0) >= 249)
        #expect(listener.channel.interferenceCount == 0)
    }

    /// The microphone stands still once in mid-word. Then its timestamps are behind the clock.
    @Test(arguments: [0.1, 0.2, 0.3, 0.5, 0.9, 1.4], [1, 2, 3] as [UInt64])
    func aTalkerWhoseMicrophoneStoodStillHasTheSSRC(stall: Double, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: .random(in: 3...6, using: &random))
        talker.speech?.beginning = .start + .seconds(stall)
        let start = air.now
        air.run(seconds: 8 + stall)
        let runs = heard(listener, since: start)
        #expect(Set(relay.announcements.map(\.epoch)).count == (stall > 0.25 ? 2 : 1))
        #expect(runs.map(\.ssrc) == [SSRC(9)] && (runs.first?.count ?? 0) >= 399)
        #expect(listener.channel.interferenceCount == 0)
    }

    /// The packets around the beginning of the next epoch are lost. 250 ms of the shortest frames are 100 packets.
    @Test(arguments: [120, 240, 960]) func anEpochWhoseFirstPacketsAreLostHasTheSSRC(frameCount: Int) {
        var configuration = Family.configuration(.talk, isSynchronised: false)
        configuration.frameCount = FrameCount(frameCount)
        let talker = Member(
            0, configuration, ssrc: 9, speech: Speech(frameCount: FrameCount(frameCount), byteCount: 20))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 15)
        talker.channel.setClock(Airwaves.clock(at: air.now), at: air.now)
        let start = air.now
        air.loses = { [unowned air] datagram, member in
            member == 1 && (128...191).contains(datagram[0]) && air.now < start + .milliseconds(250)
        }
        air.run(seconds: 5)
        #expect(Set(relay.announcements.map(\.epoch)).count == 2)
        #expect(Set(listener.heard.map(\.packet.ssrc)) == [SSRC(9)])
        #expect(listener.heard.count { $0.at >= start } >= 4_700 * 48 / frameCount)
        #expect(listener.channel.interferenceCount == 0)
    }

    /// A program that starts again with the same SSRC, but other numbers.
    @Test(arguments: [0.1, 0.5, 1.5, 5]) func aTalkerThatStartsAgainHasTheSSRCAfterASecond(pause: Double) {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 5)
        talker.speech = nil
        air.run(seconds: pause)
        let start = air.now
        air.replace(
            0,
            by: Member(
                0, Family.configuration(.talk), ssrc: 9, firstSequenceNumber: 30_000, speech: Speech(beginning: start),
                at: start, seed: 77))
        air.run(seconds: 5)
        let runs = heard(listener, since: start)
        #expect(runs.map(\.count).reduce(0, +) >= 243)
        #expect(runs.last?.ssrc == SSRC(9))
        #expect(pause >= 1 ? runs.count == 1 : runs.count == 2 && runs[0].count <= 51)
        #expect(listener.channel.interferenceCount == 0)
    }

    /// The next epoch of a managed channel: after 10 minutes, and when the secret changes.
    @Test func aMemberKeepsItsSSRCOverAllEpochs() throws {
        let owner = SignedFamily.member(0, roster: try SignedFamily.roster(1))
        let ben = SignedFamily.member(1, speech: Speech(beginning: .start + .seconds(20)))
        let cleo = SignedFamily.member(2)
        let air = Airwaves([owner, ben, cleo], SignedFamily.relay())
        air.run(seconds: 1_000)
        owner.channel.deposit(try SignedFamily.roster(2, [0, 1]), at: air.now)
        air.flush(0)
        air.run(seconds: 20)
        #expect(Set(owner.heard.map(\.packet.ssrc)) == [SSRC(2)])
        let numbers = owner.heard.map(\.number)
        #expect(numbers.first == 0 && numbers.count >= 49_990)
        #expect(owner.channel.interferenceCount == 0)
    }
}
