import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Forged announcements with valid tags: the attacker has a listen link and the relay's address.
struct ForgedAnnouncementTests {
    private let relay = TinyRelay(Family.talk)
    private let root = Family.listen.mediaRoot

    private func forged(
        _ epoch: Epoch, of ssrc: UInt32 = 9, index: UInt64 = 0, ahead: Int64 = 0, at now: Instant
    ) -> [UInt8] {
        let clock = Int64(Airwaves.clock(at: now).sinceEpoch) + ahead * 1_000
        let announcement = Announcement(
            suite: .aesCounterMode, ssrc: SSRC(ssrc), epoch: epoch,
            index: PacketIndex(
                rolloverCounter: UInt32(index >> 16), SequenceNumber(rawValue: UInt16(truncatingIfNeeded: index))),
            at: WallClock(milliseconds: UInt64(clock)), under: root)
        return [UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }
    }

    private func newEpoch(ahead: Int64, at now: Instant, _ randomness: inout SeededRandom) -> Epoch {
        let clock = UInt64(Int64(Airwaves.clock(at: now).sinceEpoch) + ahead * 1_000)
        return Epoch(at: WallClock(milliseconds: clock), random: .random(in: 0 ... .max, using: &randomness))
    }

    /// Returns a talker that speaks for more than ten minutes. One epoch ends by its length, another by a long pause.
    private func talking() -> (Member, Speech) {
        var configuration = Family.configuration(.talk)
        configuration.frameCount = FrameCount(2_880)
        // Packets of 60 ms: nine seconds of speech, one second of silence, and once, near the beginning, a silence of
        // 70 s.
        let speech = Speech(
            frameCount: FrameCount(2_880), isSpoken: { $0 % 166 < 150 && !(300..<1_470).contains($0) })
        return (Member(0, configuration, ssrc: 9, speech: speech), speech)
    }

    private func share(heardBy listener: Member) -> Double { Double(listener.heard.count) / Double(relay.media.count) }

    @Test(arguments: [(1, true), (1, false), (119, true), (119, false)])
    func epochsToComeDoNotSilenceATalker(ahead: Int64, isSynchronised: Bool) {
        let (talker, _) = talking()
        let listener = Member(1, Family.configuration(.listen, isSynchronised: isSynchronised), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        var randomness = SeededRandom(seed: 8)
        while air.now < .start + .seconds(720) {
            air.run(seconds: 1)
            let epoch = newEpoch(ahead: ahead, at: air.now, &randomness)
            air.inject(forged(epoch, ahead: ahead, at: air.now), to: 1)
            air.inject(forged(Epoch(rawValue: .max), ahead: ahead, at: air.now), to: 1)
        }
        #expect(Set(relay.announcements.map(\.epoch)).count >= 3)
        #expect(share(heardBy: listener) >= 0.99)
    }

    /// Forges announcements of the talker's own epochs with wrong clocks and packet indices, which arrive before the
    /// real ones.
    @Test(arguments: [(1, true), (1, false), (119, true), (119, false)])
    func falseClocksAndCountsDoNotSilenceATalker(ahead: Int64, isSynchronised: Bool) {
        let (talker, _) = talking()
        let listener = Member(1, Family.configuration(.listen, isSynchronised: isSynchronised), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        var count: UInt64 = 0
        air.watch = { [unowned air, root] datagram, member in
            guard member == 1, case .announcement(let real) = try? ControlPacket(parsing: datagram.span) else { return }
            count += 1
            // The real index, an index slightly ahead, one far ahead, and one behind. The clock is ahead in two of
            // three announcements.
            let indices = [real.index.rawValue, real.index.rawValue + 200, real.index.rawValue + 1 << 40, 0]
            let index = indices[Int(count % 4)]
            let announcement = Announcement(
                suite: count.isMultiple(of: 5) ? .aesGCM : .aesCounterMode, ssrc: real.ssrc, epoch: real.epoch,
                index: PacketIndex(
                    rolloverCounter: UInt32(index >> 16),
                    SequenceNumber(rawValue: UInt16(truncatingIfNeeded: index))),
                at: WallClock(
                    milliseconds: UInt64(Int64(real.seconds) + (count.isMultiple(of: 3) ? 0 : ahead)) * 1_000),
                under: root)
            air.inject([UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }, to: 1)
        }
        air.run(seconds: 720)
        #expect(count > 500 && share(heardBy: listener) >= 0.99)
    }

    /// The number of forged SSRCs is far larger than the talker table.
    @Test func madeUpTalkersDoNotPushOutWhoIsHeard() {
        let (talker, _) = talking()
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        var randomness = SeededRandom(seed: 8)
        while air.now < .start + .seconds(60) {
            air.run(seconds: 0.1)
            for _ in 0..<20 {
                let epoch = newEpoch(ahead: 1, at: air.now, &randomness)
                let ssrc = UInt32.random(in: 100 ... .max, using: &randomness)
                air.inject(forged(epoch, of: ssrc, ahead: 1, at: air.now), to: 1)
            }
        }
        #expect(share(heardBy: listener) >= 0.99)
        #expect(listener.discards[.late] == 0)
    }

    /// A station that changed its SSRC at every collision would never be heard.
    @Test func claimsOfItsNumberMakeATalkerChangeItOnceAMinute() {
        let (talker, _) = talking()
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        var randomness = SeededRandom(seed: 8)
        air.run(seconds: 2)
        while air.now < .start + .seconds(600) {
            air.run(seconds: 1)
            let epoch = newEpoch(ahead: 1, at: air.now, &randomness)
            air.inject(forged(epoch, of: talker.rtpSession.ssrc.rawValue, ahead: 1, at: air.now), to: 0)
        }
        let changes = talker.events.filter { $0.event == .ssrcIsTaken }.map(\.at)
        #expect((9...10).contains(changes.count))
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $1 - $0 >= .seconds(60) })
        #expect(share(heardBy: listener) >= 0.99)
    }

    @Test func anEpochAheadOfItsClockIsRefusedFromEveryMember() {
        let listener = Member(0, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([listener], relay)
        air.run(seconds: 1)
        for epoch in [
            Epoch(rawValue: .max), Epoch(rawValue: UInt128(Airwaves.clock(at: air.now).sinceEpoch + 6_000) << 80),
        ] {
            #expect(air.inject(forged(epoch, at: air.now), to: 0) == .discarded(.offTime))
        }
    }
}
