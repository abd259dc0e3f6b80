import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

struct EpochTests {
    private let relay = TinyRelay(Family.talk)

    private var epochs: [Epoch] {
        relay.announcements.reduce(into: []) { if !$0.contains($1.epoch) { $0.append($1.epoch) } }
    }

    /// Whether the packet with this number is spoken: one second in each ten, and the whole last minute of the epoch,
    /// which lasts ten minutes.
    private static func isSpoken(_ number: Int, frame: Duration = .milliseconds(20)) -> Bool {
        let second = Int(frame * number / .seconds(1))
        return second.isMultiple(of: 10) || second >= 540
    }

    @Test func aNewEpochBeginsAfterAMinuteOfSilenceAndNotBefore() {
        // The pauses are 59 s and 61 s long.
        let speech = Speech(isSpoken: { !(100..<100 + 2_950).contains($0) && !(3_100..<3_100 + 3_050).contains($0) })
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: speech)
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 62)
        #expect(epochs.count == 1)
        air.run(seconds: 70)
        #expect(epochs.count == 2)
        let last = listener.heard.map(\.number).last
        #expect(last == 6_598)
        #expect(listener.heard.count == relay.media.count)
    }

    /// Packets of a source whose previous key has opened many packets are held too, until the new key is announced.
    @Test func aNewEpochWhoseFirstAnnouncementsAreLostIsHeardWhole() {
        let speech = Speech(isSpoken: { !(100..<100 + 3_050).contains($0) })
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: speech)
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 62)
        #expect(epochs.count == 1)
        var lostCount = 0
        air.loses = { datagram, member in
            guard member == 1, datagram[0] == 99, datagram[2] == 8, lostCount < 3 else { return false }
            lostCount += 1
            return true
        }
        air.run(seconds: 5)
        #expect(epochs.count == 2 && lostCount == 3)
        #expect(listener.heard.count == relay.media.count)
    }

    /// `wrap` is the distance from the announcement of the epoch to the wrap of the sequence number, in packets; nil
    /// for no wrap. The epoch's first packet comes 33 packets after its announcement.
    @Test(arguments: [nil, 0, -20, 32])
    func anEpochRenewedInMidWordLosesNothingThoughAnnouncementsAreLost(wrap: Int?) {
        let isSpoken = { @Sendable number in Self.isSpoken(number, frame: .milliseconds(60)) }
        let first = wrap.map { 65_536 - (0..<9_966 + $0).count(where: isSpoken) } ?? 0
        var configuration = Family.configuration(.talk)
        configuration.frameCount = FrameCount(2_880)
        let talker = Member(
            0, configuration, ssrc: 9, firstSequenceNumber: UInt16(first),
            speech: Speech(frameCount: FrameCount(2_880), isSpoken: isSpoken))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 2)
        var randomness = SeededRandom(seed: 5)
        var lostCount = 0
        air.loses = { datagram, member in
            let isLost = member == 1 && datagram[0] == 99 && datagram[2] == 8 && randomness.happens(0.1)
            if isLost { lostCount += 1 }
            return isLost
        }
        air.run(seconds: 610)
        #expect(epochs.count == 2)
        #expect(lostCount > 20)
        let numbers = listener.heard.map(\.number)
        let isWhole = numbers == (numbers[0]...10_198).filter(isSpoken)
        #expect(isWhole)
        // The new key was announced before the old epoch ended, two seconds ahead.
        let (old, new) = (epochs[0], epochs[1])
        let firstNew = relay.announcements.firstIndex { $0.epoch == new }!
        let lastOld = relay.announcements.lastIndex { $0.epoch == old }!
        #expect(firstNew < lastOld)
    }

    @Test func aMemberThatJoinsBetweenAnnouncementAndFirstPacketHearsAtOnce() {
        let speech = Speech(isSpoken: { Self.isSpoken($0) })
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: speech)
        let air = Airwaves([talker], relay)
        air.run(seconds: 599)
        #expect(epochs.count == 2)
        let joined = air.now
        let listener = Member(1, Family.configuration(.listen), ssrc: 5, at: joined)
        air.add(listener)
        air.run(seconds: 5)
        let first = listener.heard.first?.at
        #expect(first.map { $0 - joined < .milliseconds(100) } ?? false)
        let numbers = listener.heard.map(\.number)
        #expect(numbers == Array(numbers[0]..<numbers[0] + numbers.count))
    }

    @Test func aMemberThatLearnsTheNextEpochFirstStillOpensTheCurrentOne() {
        let speech = Speech(isSpoken: { Self.isSpoken($0) })
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: speech)
        let air = Airwaves([talker], relay)
        air.run(seconds: 597.5)
        #expect(epochs.count == 1)
        let listener = Member(1, Family.configuration(.listen), ssrc: 5, at: air.now)
        air.add(listener)
        // Announcements of the current epoch are lost until the next one has been announced.
        air.loses = { [relay] datagram, member in
            guard member == 1, datagram[0] == 99, datagram[2] == 8 else { return false }
            return !relay.announcements.contains { $0.epoch != relay.announcements[0].epoch }
        }
        while epochs.count == 1 { air.run(seconds: 0.02) }
        let announced = air.now
        air.run(seconds: 5)
        #expect(listener.heard.first.map { $0.at - announced < .milliseconds(100) } ?? false)
        let numbers = listener.heard.map(\.number)
        #expect(numbers == Array(numbers[0]..<numbers[0] + numbers.count))
        #expect(listener.heard.count > 240)
    }

    /// A new listener hears the talker within a second, for every rollover counter.
    @Test(arguments: [0, 1, 65_535] as [UInt32])
    func aLateMemberHearsWithinASecond(turn: UInt32) throws {
        // The sending state of a talker whose rollover counter has reached `turn`.
        let root = Family.talk.mediaRoot
        let (ssrc, epoch) = (SSRC(9), Epoch(rawValue: 1 << 90))
        let start = PacketIndex(rolloverCounter: turn, SequenceNumber(rawValue: 65_500))
        var talker = try SRTPContext(
            sending: root.masterKey(.aesCounterMode, ssrc: ssrc, epoch: epoch), ssrc: ssrc, at: start)
        let listener = Member(0, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([listener], relay)
        var sent = 0
        for count in 0..<200 {
            // The sequence number wraps after 36 packets.
            let number = UInt16(truncatingIfNeeded: 65_500 + count)
            let rollover = turn &+ (count >= 36 ? 1 : 0)
            if count.isMultiple(of: 50) {
                let announcement = Announcement(
                    suite: .aesCounterMode, ssrc: ssrc, epoch: epoch,
                    index: PacketIndex(rolloverCounter: rollover, SequenceNumber(rawValue: number)),
                    at: Airwaves.clock(at: air.now), under: root)
                relay.put([UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }, to: listener.endpoint)
            }
            let packet = try sealed(number, of: ssrc, &talker)
            relay.put(packet, to: listener.endpoint)
            sent += 1
            air.settleRelay()
            air.run(seconds: 0.02)
        }
        let first = try #require(listener.heard.first)
        #expect(first.at - .start < .seconds(1))
        // After the first packet all were heard, and also the earlier packets that were held until the announcement.
        #expect(listener.heard.count >= 150)
        #expect(listener.discards[.unopened] == 0)
        #expect(
            zip(listener.heard, listener.heard.dropFirst()).allSatisfy {
                $1.packet.sequenceNumber.distance(after: $0.packet.sequenceNumber) == 1
            })
    }
}
