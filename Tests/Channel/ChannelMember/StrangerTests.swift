import Foundation
import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Datagrams that are replayed, invented, or sent with a wrong clock.
struct StrangerTests {
    private let relay = TinyRelay(Family.talk)

    /// Returns all datagrams that a relay sent to a listener in five seconds.
    private func recorded() -> [[UInt8]] {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        var datagrams: [[UInt8]] = []
        air.watch = { datagram, member in if member == 1 { datagrams.append(datagram) } }
        air.run(seconds: 5)
        relay.forgetAll()
        return datagrams
    }

    @Test(arguments: [5, 9] as [UInt32])
    func yesterdaysAnnouncementsWithTheirSoundAreNothing(ssrc: UInt32) {
        let yesterday = recorded()
        relay.clockError = 86_400_000
        let clock = WallClock(milliseconds: Airwaves.clock(at: .start).sinceEpoch + 86_400_000)
        let listener = Member(0, Family.configuration(.listen), ssrc: ssrc, clock: clock, seed: 3)
        let air = Airwaves([listener], relay)
        air.run(seconds: 0.1)
        for datagram in yesterday {
            #expect(air.inject(datagram, to: 0) != .opened)
            air.run(seconds: 0.01)
        }
        #expect(listener.openedCount == 0 && listener.heard.isEmpty)
        let joined = ChannelEvent.joined(.listen, seenAt: listener.endpoint)
        // Its user learns that somebody's sound is refused, but not that its own SSRC is.
        #expect(listener.eventsOnly.first == joined && listener.eventsOnly.count == (ssrc == 5 ? 2 : 1))
        #expect(!listener.eventsOnly.contains(.ssrcIsTaken))
        #expect(listener.rtpSession.ssrc == SSRC(ssrc))
        #expect(listener.discards[.offTime] >= 8)
    }

    @Test func aReplayedPacketIsNotPlayedAgain() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech(count: 150))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        var datagrams: [[UInt8]] = []
        air.watch = { datagram, member in if member == 1 { datagrams.append(datagram) } }
        air.run(seconds: 5)
        let count = listener.openedCount
        for datagram in datagrams { air.inject(datagram, to: 1) }
        #expect(listener.openedCount == count)
        #expect(listener.discards[.replayed] >= 145)
        #expect(listener.events.count == 1)
    }

    @Test func forgedPacketsDoNotOpen() {
        let isLong = ProcessInfo.processInfo.environment["TENFOUR_LONG"] != nil
        let real = recorded()
        let listener = Member(0, Family.configuration(.listen), ssrc: 5, seed: 3)
        let air = Airwaves([listener], relay)
        air.run(seconds: 0.1)
        // The listener learns the talker first, so that forgeries are checked with its keys.
        for datagram in real where datagram[0] == 99 && datagram[2] == 8 { air.inject(datagram, to: 0) }
        var randomness = SeededRandom(seed: 6)
        var changed = 0
        for count in 0..<(isLong ? 1_000_000 : 20_000) {
            var datagram = real[count % real.count]
            for _ in 0..<Int.random(in: 1...3, using: &randomness) {
                let place = Int.random(in: 0..<datagram.count, using: &randomness)
                let mask = UInt8.random(in: 1...255, using: &randomness)
                datagram[place] ^= mask
            }
            if datagram == real[count % real.count] { continue }
            changed += 1
            let reception = listener.receive(datagram, from: Airwaves.relay, at: air.now)
            if reception == .opened { Issue.record("a forgery was opened") }
        }
        air.flush(0)
        #expect(changed > (isLong ? 990_000 : 19_800) && listener.openedCount == 0)
        #expect(listener.events.count == 1 && listener.isJoined)
        #expect(listener.channel.heldCount == 25)
        // Genuine packets are heard as before.
        var heard = 0
        for datagram in real where (128...191).contains(datagram[0]) {
            if air.inject(datagram, to: 0) == .opened { heard += 1 }
        }
        #expect(heard > 200)
    }

    @Test func aStationWithoutAClockTakesTheRelays() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(
            1, Family.configuration(.listen, isSynchronised: false), ssrc: 5, clock: WallClock(milliseconds: 0))
        let wrong = Member(2, Family.configuration(.listen), ssrc: 6, clock: WallClock(milliseconds: 0))
        let clockless = Member(
            3, Family.configuration(.talk, isSynchronised: false), ssrc: 7, speech: Speech(),
            clock: WallClock(milliseconds: 0))
        let air = Airwaves([talker, listener, wrong, clockless], relay)
        air.run(seconds: 3)
        #expect(listener.heard(from: 9).count > 140 && listener.heard(from: 7).count > 140)
        #expect(talker.heard(from: 7).count > 140)
        // A station whose clock is synchronised trusts it more than the relay's, and counts the packets that it
        // refused.
        #expect(wrong.heard.isEmpty && wrong.discards[.offTime] > 5)
        // Now its clock is set.
        wrong.channel.setClock(Airwaves.clock(at: air.now), at: air.now)
        air.run(seconds: 1.2)
        #expect(wrong.heard(from: 9).count > 5 && wrong.heard(from: 7).count > 5)
    }

    @Test func aYesterdaysTalkerIsNothingToAStationWithoutAClock() {
        let yesterday = recorded()
        relay.clockError = 86_400_000
        let listener = Member(
            0, Family.configuration(.listen, isSynchronised: false), ssrc: 5, clock: WallClock(milliseconds: 0), seed: 3
        )
        let air = Airwaves([listener], relay)
        air.run(seconds: 0.1)
        for datagram in yesterday { air.inject(datagram, to: 0) }
        #expect(listener.openedCount == 0 && listener.discards[.offTime] >= 8)
    }

    @Test func unopenedPacketsAreHeldUpToALimit() {
        let real = recorded().filter { (128...191).contains($0[0]) }
        let listener = Member(0, Family.configuration(.listen), ssrc: 5, seed: 3)
        let air = Airwaves([listener], relay)
        air.run(seconds: 0.1)
        for datagram in real { #expect(air.inject(datagram, to: 0) == .held) }
        #expect(listener.channel.heldCount == 25)
        #expect(listener.discards[.unopened] == real.count - 25)
    }

    private static func madeUp(_ ssrc: UInt32, _ number: UInt16) -> [UInt8] {
        [UInt8](capacity: 100) {
            RTPHeader(
                marker: false, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
                timestamp: RTPTimestamp(rawValue: UInt32(number) &* 960), ssrc: SSRC(ssrc)
            ).write(into: &$0)
            while $0.count < 100 { $0.append(0x5A) }
        }
    }

    /// An attacker that can send from the relay's address can invent as many talkers as the table holds.
    @Test func madeUpPacketsDoNotPushOutThoseOfOneWhomAMemberHasAnnounced() {
        let speech = Speech(isSpoken: { !(100..<100 + 3_050).contains($0) })
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: speech)
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 62)
        // The first announcements of the epoch after the silence are lost, while packets of invented talkers pour in.
        var lostCount = 0
        air.loses = { datagram, member in
            guard member == 1, datagram[0] == 99, datagram[2] == 8, lostCount < 3 else { return false }
            lostCount += 1
            return true
        }
        var ssrc: UInt32 = 1_000
        for _ in 0..<500 {
            air.run(seconds: 0.01)
            for _ in 0..<10 {
                ssrc += 1
                air.inject(Self.madeUp(ssrc, 7), to: 1)
            }
        }
        #expect(lostCount == 3)
        #expect(listener.heard.count == relay.media.count)
    }

    @Test func oneMadeUpTalkerDoesNotPushOutWhoIsStillToBeAnnounced() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        var lostCount = 0
        air.loses = { datagram, member in
            guard member == 1, datagram[0] == 99, datagram[2] == 8, lostCount < 3 else { return false }
            lostCount += 1
            return true
        }
        var number: UInt16 = 0
        while air.now < .start + .seconds(2) {
            air.run(seconds: 0.01)
            for _ in 0..<10 where listener.isJoined {
                number += 1
                air.inject(Self.madeUp(77, number), to: 1)
            }
        }
        #expect(lostCount == 3)
        let numbers = listener.heard.map(\.number)
        let isWhole = numbers == Array(numbers[0]...98)
        #expect(isWhole && numbers[0] <= 4)
    }

    @Test func aHeldPacketIsHeardWhenItsAnnouncementComes() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        // The first two announcements are lost.
        var count = 0
        air.loses = { datagram, member in
            guard member == 1, datagram[0] == 99, datagram[2] == 8 else { return false }
            count += 1
            return count < 3
        }
        air.run(seconds: 3)
        let numbers = listener.heard.map(\.number)
        let isWhole = numbers == Array(numbers[0]...148)
        #expect(isWhole && numbers[0] <= 4)
        #expect(listener.channel.heldCount == 0 && listener.discards.total == listener.discards[.beforeJoined])
    }
}
