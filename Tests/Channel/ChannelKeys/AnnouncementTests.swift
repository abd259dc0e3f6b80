import Foundation
import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import Testing

struct AnnouncementTests {
    private let root = ChannelKeys(name: "family", secret: .drawn(1)).mediaRoot
    private let now = WallClock(milliseconds: 1_700_000_000_000)
    private let ssrc = SSRC(9)

    private func announcement(
        _ epoch: Epoch, ssrc: SSRC = SSRC(9), at clock: WallClock? = nil, under root: MediaRoot? = nil
    )
        -> Announcement
    {
        Announcement(
            suite: .aesCounterMode, ssrc: ssrc, epoch: epoch,
            index: PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 5)), at: clock ?? now,
            under: root ?? self.root)
    }

    @Test func anEpochIsLaterEvenWhenTheClockWasSetBack() {
        let last = Epoch(at: now, random: .max)
        let next = Epoch(at: WallClock(milliseconds: now.sinceEpoch - 4_000), random: 0, after: last)
        #expect(next > last)
        #expect(next.rawValue >> 80 == UInt128(now.sinceEpoch) + 1)
        // With a larger step back, the new epoch takes the clock's time: receivers would reject one that lies an hour
        // ahead.
        let hourBefore = WallClock(milliseconds: now.sinceEpoch - 3_600_000)
        #expect(Epoch(at: hourBefore, random: 0, after: last).milliseconds == hourBefore.sinceEpoch)
    }

    @Test func anEpochTellsItsTimeAndAnOlderStationsDoesNot() {
        let timing = Epoch.Timing(timestamp: RTPTimestamp(rawValue: 0xFEDC_BA98), isSynchronised: true)
        let epoch = Epoch(at: now, timing: timing, random: .max)
        #expect(epoch.milliseconds == now.sinceEpoch && epoch.timing == timing)
        #expect(epoch.rawValue == UInt128(now.sinceEpoch) << 80 | 0xFEDC_BA98_6532_01FF_FFFF)
        #expect(Epoch(at: now, random: 7).timing == nil)
        // An unknown flag.
        #expect(Epoch(rawValue: epoch.rawValue | 2 << 24).timing == nil)
    }

    /// The fields of a test vector.
    private struct Written: Decodable {
        var epoch: String
        var milliseconds: UInt64
        var timestamp, random, ssrc, rolloverCounter: UInt32
        var isSynchronised: Bool
        var sequenceNumber: UInt16
    }

    @Test(arguments: ["announcement-synchronised", "announcement-unsynchronised"])
    func anEpochThatTellsItsTimeIsAsWrittenDown(name: String) throws {
        let written = try JSONDecoder().decode(
            Written.self, from: Data(contentsOf: KeysVector.folder.appending(path: "\(name).json")))
        let root = try ChannelKeys(ChannelLink(SessionInputs.written.link)).mediaRoot
        let timing = Epoch.Timing(
            timestamp: RTPTimestamp(rawValue: written.timestamp), isSynchronised: written.isSynchronised)
        let epoch = Epoch(
            at: WallClock(milliseconds: written.milliseconds), timing: timing, random: UInt128(written.random))
        #expect(epoch.rawValue == number(written.epoch))
        let announcement = Announcement(
            suite: .aesCounterMode, ssrc: SSRC(written.ssrc), epoch: epoch,
            index: PacketIndex(
                rolloverCounter: written.rolloverCounter, SequenceNumber(rawValue: written.sequenceNumber)),
            at: WallClock(milliseconds: written.milliseconds / 1_000 * 1_000 + 2_000), under: root)
        let bytes = [UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }
        #expect(bytes == (try KeysVector.bytes(name)))
        #expect(announcement.milliseconds == Int64(written.milliseconds) + 2_000)
        // A station of the previous version reads whole seconds, which must be close to its own clock, and expects
        // zero in byte 1.
        #expect(bytes[5] == 0 && announcement.seconds == written.milliseconds / 1_000 + 2)
    }

    @Test func anAnnouncementOfTheVersionBeforeIsReadAsItWas() throws {
        let bytes = try KeysVector.bytes("session-announcement")
        guard case .announcement(let announcement) = try ControlPacket(parsing: bytes.span) else {
            return #expect(Bool(false))
        }
        let root = try ChannelKeys(ChannelLink(SessionInputs.written.link)).mediaRoot
        #expect(announcement.isAuthentic(under: root) && announcement.isEpochOfItsTime)
        #expect(announcement.epoch.timing == nil && announcement.milliseconds == 1_700_000_000_000)
    }

    @Test func theClockIsExactWhenWholeSecondsHavePassed() {
        let start = WallClock(milliseconds: now.sinceEpoch + 345)
        let timing = Epoch.Timing(timestamp: RTPTimestamp(rawValue: 1), isSynchronised: false)
        let later = WallClock(milliseconds: now.sinceEpoch + 7_000)
        let timed = announcement(Epoch(at: start, timing: timing, random: 1), at: later)
        #expect(timed.milliseconds == Int64(now.sinceEpoch) + 7_345)
        #expect(announcement(Epoch(at: start, random: 1), at: later).milliseconds == Int64(now.sinceEpoch) + 7_000)
        var endless = timed
        endless.seconds = .max
        #expect(endless.milliseconds > 0)
    }

    @Test func anEpochFarAheadOfItsClockIsNotOfItsTime() {
        for (ahead, isOfItsTime) in [(0, true), (5_000, true), (5_001, false)] as [(UInt64, Bool)] {
            let epoch = Epoch(at: WallClock(milliseconds: now.sinceEpoch + ahead), random: 1)
            #expect(announcement(epoch).isEpochOfItsTime == isOfItsTime)
        }
        #expect(!announcement(Epoch(rawValue: .max)).isEpochOfItsTime)
    }

    @Test func theLatestOfOurEpochsAreKnownAsOurs() {
        var own = OwnEpochs()
        for number in 0..<20 { own.insert(Epoch(at: now, random: UInt128(number))) }
        #expect(own.contains(Epoch(at: now, random: 19)) && own.contains(Epoch(at: now, random: 4)))
        #expect(!own.contains(Epoch(at: now, random: 3)))
    }

    @Test func anotherChannelsAnnouncementIsForged() {
        let other = ChannelKeys(name: "friends", secret: .drawn(1)).mediaRoot
        #expect(!announcement(Epoch(at: now, random: 7), under: other).isAuthentic(under: root))
        #expect(announcement(Epoch(at: now, random: 7)).isAuthentic(under: root))
    }

    @Test func anyChangedBitIsForged() throws {
        let bytes = [UInt8](capacity: 56) {
            ControlPacket.write(announcement(Epoch(at: now, random: 7)), into: &$0)
        }
        for bit in 32..<(bytes.count * 8) {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            guard case .announcement(let announcement) = try? ControlPacket(parsing: changed.span) else { continue }
            #expect(!announcement.isAuthentic(under: root))
        }
    }

    @Test(arguments: [
        (0, 65_000, 10, 65_546), (1, 10, 65_000, 65_000), (0, 10, 65_000, 65_000), (65_535, 65_535, 0, 65_536 << 16),
        (5, 100, 100, 5 << 16 | 100),
    ])
    func aPacketIsCountedWhereItIsClosest(rollover: UInt32, announced: UInt16, came: UInt16, index: UInt64) {
        let start = PacketIndex(rolloverCounter: rollover, SequenceNumber(rawValue: announced))
        #expect(start.closest(SequenceNumber(rawValue: came)).rawValue == index)
    }
}

extension Secret {
    static func drawn(_ seed: UInt64) -> Secret {
        var randomness = SeededRandom(seed: seed)
        return Secret(.talk, using: &randomness)
    }
}
