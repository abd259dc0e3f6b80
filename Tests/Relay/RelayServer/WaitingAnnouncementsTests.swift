import CAllocations
import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import Testing

@testable import TenfourRelayServer

struct WaitingAnnouncementsTests {
    private func announcement(_ ssrc: UInt32, epoch: UInt128) -> [UInt8] {
        var randomness = CSPRNG()
        let keys = ChannelKeys(name: "family", secret: Secret(.talk, using: &randomness))
        let announcement = Announcement(
            suite: .aesCounterMode, ssrc: SSRC(ssrc), epoch: Epoch(rawValue: epoch),
            index: PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 1)), at: WallClock(milliseconds: 0),
            under: keys.mediaRoot)
        return [UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }
    }

    @Test func repeatedAnnouncementsWaitAndLeaveUnchanged() {
        var waiting = WaitingAnnouncements()
        let (one, two) = (announcement(1, epoch: 5), announcement(2, epoch: 6))
        var isWaiting: [Bool] = []
        for _ in 0..<2 {
            isWaiting.append(waiting.insert(one.span, of: Epoch(rawValue: 5), channel: 3, talker: 7))
            isWaiting.append(waiting.insert(two.span, of: Epoch(rawValue: 6), channel: 3, talker: 8))
        }
        #expect(isWaiting == [false, false, true, true])
        var out: [[UInt8]] = []
        waiting.removeAll { datagram, channel, _ in
            out.append(datagram.indices.map { datagram[$0] })
            #expect(channel == 3)
        }
        #expect(out == [one, two] && waiting.isEmpty)
        // The announcements of a talker that has left are removed.
        _ = waiting.insert(one.span, of: Epoch(rawValue: 5), channel: 3, talker: 7)
        _ = waiting.insert(two.span, of: Epoch(rawValue: 6), channel: 3, talker: 8)
        waiting.forget(7)
        waiting.removeAll { datagram, _, talker in #expect(talker == 8 && datagram.count == two.count) }
    }

    @Test func itAllocatesNothingOnceItHasBegun() {
        var waiting = WaitingAnnouncements()
        let datagram = announcement(1, epoch: 5)
        _ = waiting.insert(datagram.span, of: Epoch(rawValue: 5), channel: 3, talker: 7)
        var (before, count) = (0, 0)
        for round in 0..<100 {
            if round == 50 { before = Int(allocations_of_this_thread()) }
            for _ in 0..<4 { _ = waiting.insert(datagram.span, of: Epoch(rawValue: 5), channel: 3, talker: 7) }
            waiting.removeAll { datagram, _, _ in count += datagram.count }
        }
        let made = Int(allocations_of_this_thread()) - before
        #expect(made == 0 && count == 100 * 4 * 56)
    }
}
