import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TestSupport

/// Makes what everybody with a listen link can make: announcements of any SSRC, and packets under their keys.
struct Interferer {
    private let root = Family.listen.mediaRoot
    /// The byte that the payloads of forged packets repeat.
    private static let mark: UInt8 = 0xEE

    /// Returns an epoch drawn at `now` plus `ahead`. `timestamp` is the RTP timestamp at `now`.
    static func epoch(
        at now: Instant, ahead: Duration, timestamp: UInt32?, random: UInt128, isSynchronised: Bool = true
    ) -> Epoch {
        let milliseconds = Int64(ahead / .milliseconds(1))
        let clock = WallClock(milliseconds: UInt64(Int64(Airwaves.clock(at: now).sinceEpoch) + milliseconds))
        let timing = timestamp.map {
            Epoch.Timing(
                timestamp: RTPTimestamp(rawValue: $0 &+ UInt32(truncatingIfNeeded: milliseconds * 48)),
                isSynchronised: isSynchronised)
        }
        return Epoch(at: clock, timing: timing, random: random)
    }

    func announcement(of epoch: Epoch, _ ssrc: SSRC, index: PacketIndex, at now: Instant) -> [UInt8] {
        let announcement = Announcement(
            suite: .aesCounterMode, ssrc: ssrc, epoch: epoch, index: index, at: Airwaves.clock(at: now), under: root)
        return [UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }
    }

    func packet(of epoch: Epoch, _ ssrc: SSRC, index: PacketIndex, timestamp: UInt32) throws -> [UInt8] {
        var sender = try SRTPContext(
            sending: root.masterKey(.aesCounterMode, ssrc: ssrc, epoch: epoch), ssrc: ssrc, at: index)
        return try [UInt8](capacity: 200) { output in
            RTPHeader(
                marker: false, payloadType: 111, sequenceNumber: index.sequenceNumber,
                timestamp: RTPTimestamp(rawValue: timestamp), ssrc: ssrc
            ).write(into: &output)
            output.append(31 << 3)
            output.append(repeating: Self.mark, count: 79)
            try sender.protect(&output)
        }
    }

    static func isForged(_ packet: HeardPacket) -> Bool { packet.payload.last == mark }
}

extension PacketIndex {
    /// The index that is `count` packets later.
    func advanced(by count: Int) -> PacketIndex {
        let index = UInt64(Int64(rawValue) + Int64(count))
        return PacketIndex(
            rolloverCounter: UInt32(index >> 16), SequenceNumber(rawValue: UInt16(truncatingIfNeeded: index)))
    }
}
