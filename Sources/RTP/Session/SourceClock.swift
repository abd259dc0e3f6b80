internal import TenfourAudioCore
internal import TenfourPackets

/// Converts the timestamps of one source to 48 000 Hz.
///
/// The payload type, and with it the clock rate, may change within a stream (RFC 7160). The converted time then continues at
/// the end of the packet before the change. After it, a sender may continue its timestamps at the new rate or from another
/// origin (RFC 7160). Only in the first case, and only at the first packet of a talkspurt, does the timestamp state the
/// length of the silence before.
///
/// The session converts, not the jitter buffer, because jitter, transit times and the age of redundant copies need a common
/// clock, too.
struct SourceClock: Sendable {
    private var newest: Packet?
    /// The converted time of timestamp 0 for each clock rate, 48 000 Hz (`opus`) and 8000 Hz (`narrow`); nil before the
    /// first packet at that rate.
    private var origins: (opus: UInt32?, narrow: UInt32?)

    private struct Packet: Sendable {
        var sequenceNumber: SequenceNumber
        var wireTimestamp: RTPTimestamp
        /// The converted timestamp, at 48 000 Hz.
        var time: RTPTimestamp
        var frameCount: FrameCount
        var framesPerTick: Int
        var arrival: Instant
    }

    /// The longest silence before a talkspurt, 10 s. A longer one means that the timestamps count from another origin.
    private static let longestSilence = FrameCount(480_000)
    /// A packet more than this number of packets before the newest is not late: the source has restarted (RFC 3550 appendix
    /// A.1).
    private static let maximumMisorder = 100

    /// Returns the timestamp of a packet, converted to 48 000 Hz. `frameCount` is its duration at 48 000 Hz; nil if unknown.
    mutating func time(
        of header: RTPHeader, _ encoding: AudioEncoding, frameCount: FrameCount?, at now: Instant
    ) -> RTPTimestamp {
        let framesPerTick = encoding.framesPerTick
        // The multiplication wraps, and so keeps the distance of any two timestamps.
        let scaled = header.timestamp.rawValue &* UInt32(framesPerTick)
        let step = newest.map { header.sequenceNumber.distance(after: $0.sequenceNumber) } ?? 1
        let isNewest = step > 0 || step < -Self.maximumMisorder
        let changesClock = newest.map { $0.framesPerTick != framesPerTick } ?? false
        if changesClock, isNewest || origin(framesPerTick) == nil {
            let time = timeAfterChange(header, framesPerTick, step: step, at: now)
            setOrigin(framesPerTick, time.rawValue &- scaled)
        }
        let time = RTPTimestamp(rawValue: scaled &+ (origin(framesPerTick) ?? 0))
        if isNewest {
            newest = Packet(
                sequenceNumber: header.sequenceNumber, wireTimestamp: header.timestamp, time: time,
                frameCount: frameCount ?? newest?.frameCount ?? FrameCount(960), framesPerTick: framesPerTick,
                arrival: now)
            setOrigin(framesPerTick, time.rawValue &- scaled)
        }
        return time
    }

    /// Returns the converted time of the first packet after a change of the clock rate, `step` packets after the newest.
    private func timeAfterChange(
        _ header: RTPHeader, _ framesPerTick: Int, step: Int, at now: Instant
    ) -> RTPTimestamp {
        guard let newest else { return header.timestamp }
        let packets = FrameCount(newest.frameCount.rawValue * step)
        guard header.marker, step > 0 else { return newest.time.advanced(by: packets) }
        let counted = FrameCount(header.timestamp.distance(after: newest.wireTimestamp).rawValue * framesPerTick)
        if counted >= packets, counted <= Self.longestSilence { return newest.time.advanced(by: counted) }
        return newest.time.advanced(by: max(packets, FrameCount(now - newest.arrival)))
    }

    private func origin(_ framesPerTick: Int) -> UInt32? { framesPerTick == 1 ? origins.opus : origins.narrow }

    private mutating func setOrigin(_ framesPerTick: Int, _ origin: UInt32) {
        if framesPerTick == 1 { origins.opus = origin } else { origins.narrow = origin }
    }
}
