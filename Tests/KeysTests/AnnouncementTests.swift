import BadLink
import Keys
import RTP
import Testing

struct AnnouncementTests {
    private let root = ChannelKeys(name: "family", secret: .drawn(1)).mediaRoot
    private let now = WallClock(milliseconds: 1_700_000_000_000)
    private let ssrc = SSRC(9)
    private var known = KnownEpochs()

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

    private mutating func judge(_ announcement: Announcement, at clock: WallClock? = nil) -> KnownEpochs.Judgement {
        known.judge(announcement, under: root, ownSSRC: SSRC(1), at: clock ?? now)
    }

    @Test mutating func aNewEpochIsNewOnceAndMakesTheOneBeforeOld() {
        let first = Epoch(at: now, random: 7)
        let second = Epoch(at: now, random: 3, after: first)
        #expect(second > first)
        #expect(judge(announcement(first)) == .new)
        #expect(judge(announcement(first)) == .known)
        #expect(judge(announcement(second)) == .new)
        #expect(judge(announcement(first)) == .older)
        #expect(judge(announcement(first, ssrc: SSRC(10))) == .new)
    }

    @Test func anEpochIsLaterEvenWhenTheClockWasSetBack() {
        let last = Epoch(at: now, random: .max)
        let next = Epoch(at: WallClock(milliseconds: 5), random: 0, after: last)
        #expect(next > last)
        #expect(next.rawValue >> 80 == UInt128(now.sinceEpoch) + 1)
    }

    @Test mutating func yesterdaysAnnouncementIsRefused() {
        let epoch = Epoch(at: now, random: 7)
        for (off, verdict) in [(120, KnownEpochs.Judgement.new), (121, .offTime)] {
            for clock in [now.sinceEpoch + UInt64(off) * 1000, now.sinceEpoch - UInt64(off) * 1000] {
                known = KnownEpochs()
                #expect(judge(announcement(epoch), at: WallClock(milliseconds: clock)) == verdict)
            }
        }
    }

    @Test mutating func ourOwnComesBackAndIsIgnoredAndAnothersUnderOurNumberIsNot() {
        let own = Epoch(at: now, random: 7)
        known.begin(own: own)
        #expect(judge(announcement(own, ssrc: SSRC(1))) == .own)
        #expect(judge(announcement(own, ssrc: SSRC(2))) == .own)
        #expect(judge(announcement(Epoch(at: now, random: 8), ssrc: SSRC(1))) == .collision)
    }

    @Test mutating func anotherChannelsAnnouncementIsForged() {
        let other = ChannelKeys(name: "friends", secret: .drawn(1)).mediaRoot
        #expect(judge(announcement(Epoch(at: now, random: 7), under: other)) == .forged)
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

    @Test mutating func onlyAsManySendersAreKnownAsThereIsRoomFor() {
        let epoch = Epoch(at: now, random: 7)
        for number in 0..<64 { #expect(judge(announcement(epoch, ssrc: SSRC(UInt32(100 + number)))) == .new) }
        #expect(judge(announcement(epoch, ssrc: SSRC(100))) == .known)
        #expect(judge(announcement(epoch, ssrc: SSRC(200))) == .new)
        #expect(judge(announcement(epoch, ssrc: SSRC(100))) == .known)
        #expect(judge(announcement(epoch, ssrc: SSRC(101))) == .new)
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
        var dice = SeededGenerator(seed: seed)
        return Secret(.talk, using: &dice)
    }
}
