import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import TenfourSession
import Testing

@testable import TenfourRadio

/// The figures of a session that snapshots report.
struct SnapshotTests {
    /// The last source may leave before a snapshot is taken.
    @Test func theFiguresOfASourceAreReportedAfterItLeft() throws {
        let partner = Endpoint(.loopbackV4, port: 6_000)
        let rtpSession = rtpSession(hearing: [0, 1, 3], from: partner)
        var report = report()
        var snapshot = RadioSnapshot(rtpSession: rtpSession, elapsed: .seconds(1))
        snapshot.add(report, present: rtpSession.sources, before: [])
        var talker = try #require(snapshot.talkers.first)
        #expect(talker.endpoint == partner && talker.receivedCount == 3 && talker.lostCount == 1 && talker.isHeard)

        report.mixer.talkers[0].isHeard = false
        report.mixer.talkers[0].playout.decoded = FrameCount(2_880)
        var later = RadioSnapshot(rtpSession: rtpSession, elapsed: .seconds(2))
        later.add(report, present: [], before: snapshot.talkers)
        talker = try #require(later.talkers.first)
        #expect(talker.endpoint == nil && !talker.isHeard, "a source that left has no endpoint")
        #expect(talker.receivedCount == 3 && talker.lostCount == 1, "the counts of a source that left are kept")
        #expect(talker.playout.decoded == FrameCount(2_880), "audio decoded after the BYE counts")
    }

    /// The RTP session counts a source that returns as a new one, but snapshots go on counting. Packets sent
    /// meanwhile count as lost, unless the sequence numbers jump back.
    @Test func aSourceThatReturnsIsCountedFromZero() throws {
        let partner = Endpoint(.loopbackV4, port: 6_000)
        let stays = [[0, 1, 3], [], [20], [20, 21, 22, 25], [], [40], [], [39]] as [[UInt16]]
        var before: [RadioSnapshot.TalkerSnapshot] = []
        var counts: [[Int]] = []
        for stay in stays {
            let rtpSession = rtpSession(hearing: stay, from: partner)
            var snapshot = RadioSnapshot(rtpSession: rtpSession, elapsed: .seconds(1))
            snapshot.add(report(), present: rtpSession.sources, before: before)
            before = snapshot.talkers
            let talker = try #require(before.first)
            counts.append([talker.receivedCount, talker.lostCount, talker.losses.packetCount])
        }
        #expect(counts.map { $0[0] } == [3, 3, 4, 7, 7, 8, 8, 9])
        #expect(counts.map { $0[1] } == [1, 1, 17, 19, 19, 33, 33, 33])
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $0[2] <= $1[2] })
    }

    /// Another sender continues the SSRC with other numbers. The first of its packets is refused.
    @Test func theBytesOfASenderBeforeAreCountedOnce() throws {
        var rtpSession = rtpSession(hearing: [0, 1, 2], from: Endpoint(.loopbackV4, port: 6_000))
        var snapshot = RadioSnapshot(rtpSession: rtpSession, elapsed: .seconds(1))
        snapshot.add(report(), present: rtpSession.sources, before: [])
        for number in [30_000, 30_001, 30_002] as [UInt16] {
            let datagram = datagram(number)
            _ = rtpSession.receive(
                datagram.span, from: Endpoint(.loopbackV4, port: 6_001),
                at: .start + .seconds(1) + .milliseconds(20 * Int(number - 30_000)))
        }
        var later = RadioSnapshot(rtpSession: rtpSession, elapsed: .seconds(2))
        later.add(report(), present: rtpSession.sources, before: snapshot.talkers)
        let talker = try #require(later.talkers.first)
        #expect(talker.receivedCount == 5 && talker.lostCount == 0)
        #expect(talker.receivedByteCount == 5 * datagram(0).count)
    }

    private func datagram(_ number: UInt16) -> [UInt8] {
        [UInt8](capacity: 100) { datagram in
            RTPHeader(
                marker: number == 0, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
                timestamp: RTPTimestamp(rawValue: UInt32(number) * 960), ssrc: SSRC(9)
            ).write(into: &datagram)
            for byte in [0xF8, 1, 2] as [UInt8] { datagram.append(byte) }
        }
    }

    private func rtpSession(hearing numbers: [UInt16], from partner: Endpoint) -> RTPSession {
        var rtpSession = RTPSession(
            identity: Identity(ssrc: SSRC(1)), configuration: RTPSessionConfiguration(), at: .start)
        for number in numbers {
            let datagram = datagram(number)
            _ = rtpSession.receive(datagram.span, from: partner, at: .start + .milliseconds(20 * Int(number)))
        }
        return rtpSession
    }

    private func report() -> PlaybackReport {
        var report = PlaybackReport()
        report.mixer.talkers[0].ssrc = SSRC(9)
        report.mixer.talkers[0].isUsed = true
        report.mixer.talkers[0].isHeard = true
        return report
    }
}
