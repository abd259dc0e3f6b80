internal import TenfourAudioCore
internal import TenfourPackets

/// Converts the timestamps of one source to 48 000 Hz.
///
/// The payload type, and with it the clock rate, may change within a stream (RFC 7160). The converted time then
/// continues at the end of the packet before the change. After the change, a sender may continue its timestamps at the
/// new rate or from another origin. If it continues them, they show the length of a silence before the change. If it
/// does not, the arrivals show this length.
///
/// The sequence numbers and the durations of the packets correct the timestamps: gateways round them, and some senders
/// read a clock for them. A packet whose timestamp is nearly the end of the packet before it begins exactly there. A
/// timestamp that would let two packets in sequence overlap, or by which the packet would have been faster than the
/// fastest packet, is not believed. Neither is a clock of Opus at another rate than 48 000 Hz (`ClockRateDetector`).
///
/// The session converts the timestamps, and not the jitter buffer. For jitter, transit times and the age of redundant
/// copies need a common clock, too.
struct SourceClock: Sendable {
    private var newest: Packet?
    private var rateDetector = ClockRateDetector()
    /// The position of the newest packet at 48 000 Hz, which does not wrap.
    private var position: Int64 = 0
    /// The smallest transit time of recent packets, in nanoseconds. A transit time is the arrival less the position.
    private var transit = RecentMinimum()
    /// The converted time of timestamp 0 in each encoding; nil before the first packet of that encoding. The index is
    /// the raw value of the encoding.
    private var origins = InlineArray<3, UInt32?>(repeating: nil)

    private struct Packet: Sendable {
        var sequenceNumber: SequenceNumber
        var wireTimestamp: RTPTimestamp
        /// The timestamp of the packet, converted to 48 000 Hz.
        var time: RTPTimestamp
        var frameCount: FrameCount
        var encoding: AudioEncoding
        var arrival: Instant
    }

    /// The maximum silence before a talkspurt, in frames: 10 s. If the timestamps state a longer one, they count from
    /// another origin.
    private static let longestSilence = FrameCount(480_000)
    /// The maximum number of packets by which a packet may be late. A larger step back means that the source has
    /// restarted (RFC 3550 appendix A.1).
    private static let maximumMisorder = 100

    /// The time by which a gap between two arrivals must exceed the duration of the packets between them to count as a
    /// silence.
    private static let shortestSilence = Duration.milliseconds(500)

    /// The largest error of a timestamp that is corrected, in frames: less than the shortest Opus frame (2.5 ms), which
    /// is the shortest silence of a sender.
    private static let largestError = FrameCount(119)
    /// The minimum number of packets of a telephone event that replaces audio. The shortest key press lasts 40 ms and its
    /// last packet is sent three times (RFC 4733 sections 2.5.1.4 and 2.5.2.3).
    private static let minimumEvent = 3
    /// The time by which a packet in sequence may be faster than the fastest recent packet: 10 ms. The route may have
    /// become shorter.
    private static let longestLead = FrameCount(480)
    /// The shortest silence that arrivals show where the timestamp is wrong: 60 ms. Jitter makes a shorter one uncertain.
    private static let shortestArrivalGap = FrameCount(2_880)
    /// The maximum lateness that is believed: 1 s. It is that of a packet that was held back.
    private static let longestLateness = FrameCount(48_000)
    /// The maximum plausible change of the transit time, in nanoseconds: 10 s. After a larger one measuring starts again.
    private static let longestTransitChange: Int64 = 10_000_000_000

    /// The encoding of the newest packet; Opus before the first.
    var encoding: AudioEncoding { newest?.encoding ?? .opus }

    /// Returns the timestamp of a packet of audio, converted to 48 000 Hz. Packets without audio do not count in its
    /// sequence number; `otherCount` of them came directly before it. `frameCount` is its duration at 48 000 Hz; nil if
    /// unknown.
    mutating func time(
        of header: RTPHeader, _ encoding: AudioEncoding, frameCount: FrameCount?, after otherCount: Int = 0,
        at now: Instant
    ) -> RTPTimestamp {
        // Converts with a multiplication that wraps, so that the distance of any two timestamps is kept.
        let scaled = header.timestamp.rawValue &* UInt32(encoding.framesPerTick)
        let index = Int(encoding.rawValue)
        let step = newest.map { header.sequenceNumber.distance(after: $0.sequenceNumber) } ?? 1
        let isNewest = step > 0 || step < -Self.maximumMisorder
        if let newest, newest.encoding != encoding, isNewest || origins[index] == nil {
            let time = timeAfterChange(of: newest, to: header, encoding, step: step, at: now)
            origins[index] = time.rawValue &- scaled
        }
        var time = RTPTimestamp(rawValue: scaled &+ (origins[index] ?? 0))
        if let newest, newest.encoding == encoding, step != 0, abs(step) <= Self.maximumMisorder {
            time = self.time(time, of: header, frameCount, after: newest, step: step, otherCount, at: now)
        }
        if isNewest {
            measureTransit(to: time, at: now)
            newest = Packet(
                sequenceNumber: header.sequenceNumber, wireTimestamp: header.timestamp, time: time,
                frameCount: frameCount ?? newest?.frameCount ?? FrameCount(960), encoding: encoding, arrival: now)
            origins[index] = time.rawValue &- scaled
        }
        return time
    }

    /// Returns the time of a packet that would arrive now with the delay of the newest packet of audio; nil before that
    /// one.
    func time(at now: Instant) -> RTPTimestamp? {
        newest.map { $0.time.advanced(by: FrameCount(now - $0.arrival)) }
    }

    /// Returns the time from the newest packet of audio to this one by its timestamp, and the time since that packet
    /// arrived. Nil if the newest packet has another encoding, or if there is none.
    func distance(
        to header: RTPHeader, _ encoding: AudioEncoding, at now: Instant
    ) -> (frames: FrameCount, elapsed: FrameCount)? {
        guard let newest, newest.encoding == encoding else { return nil }
        let ticks = header.timestamp.distance(after: newest.wireTimestamp).rawValue
        return (FrameCount(ticks * encoding.framesPerTick), FrameCount(now - newest.arrival))
    }

    /// Continues with a packet of another stream, whose timestamps have nothing to do with those before: the time
    /// between the two is that between their arrivals.
    mutating func restart(with header: RTPHeader, _ encoding: AudioEncoding, at now: Instant) {
        guard var newest else { return }
        rateDetector.restart()
        newest.encoding = encoding
        self.newest = newest
        let time = newest.time.advanced(by: max(FrameCount(now - newest.arrival), newest.frameCount))
        origins = InlineArray(repeating: nil)
        origins[Int(encoding.rawValue)] =
            time.rawValue &- header.timestamp.rawValue &* UInt32(encoding.framesPerTick)
    }

    /// Returns the rate of the source's clock once after it was found to be wrong.
    mutating func newWrongRate() -> SampleRate? { rateDetector.newRate() }

    /// Returns the time of a packet that is `step` packets after `newest` and has the same encoding. `counted` is its
    /// time by its timestamp.
    private mutating func time(
        _ counted: RTPTimestamp, of header: RTPHeader, _ frameCount: FrameCount?, after newest: Packet, step: Int,
        _ otherCount: Int, at now: Instant
    ) -> RTPTimestamp {
        let length = step > 0 ? newest.frameCount : frameCount ?? newest.frameCount
        let tolerance = min(Self.largestError, FrameCount(length.rawValue / 2))
        let ticks = counted.distance(after: newest.time)
        if step == 1, !header.marker, newest.encoding == .opus {
            rateDetector.insert(
                ticks: ticks.rawValue, frames: length, tolerance: tolerance, since: newest.arrival, at: now)
        }
        let frames = rateDetector.frames(ticks)
        let expected = FrameCount(length.rawValue * step)
        let elapsed = FrameCount(now - newest.arrival)
        let isFollowing = FrameCount(abs((frames - expected).rawValue)) <= tolerance
        let latest = elapsed + lateness(of: newest) + Self.longestLead
        let isImpossible = step == 1 && (frames < expected || frames > latest)
        // Some senders stop their clock while they send telephone events instead of audio.
        let hasStopped =
            step == 1 && isFollowing && otherCount >= Self.minimumEvent
            && elapsed - expected >= FrameCount(length.rawValue * otherCount / 2)
        if hasStopped { return newest.time.advanced(by: elapsed) }
        guard isFollowing || isImpossible else { return newest.time.advanced(by: frames) }
        // Believes a part of a silence that is only somewhat too long, as far as the arrivals allow.
        if !isFollowing, frames > latest, latest - expected > Self.shortestArrivalGap {
            return newest.time.advanced(by: latest - Self.longestLead)
        }
        let isSilence = !isFollowing && (header.marker || elapsed - expected > FrameCount(Self.shortestSilence))
        return newest.time.advanced(by: isSilence ? max(expected, elapsed) : expected)
    }

    private mutating func measureTransit(to time: RTPTimestamp, at now: Instant) {
        position &+= Int64(newest.map { time.distance(after: $0.time).rawValue } ?? 0)
        let latest = now.nanoseconds &- position &* 62_500 / 3
        if let usual = transit.least, (latest &- usual).magnitude > UInt64(Self.longestTransitChange) {
            transit = RecentMinimum()
        }
        transit.insert(latest, at: now)
    }

    /// Returns the time by which the newest packet was slower than the fastest recent packet, at most 1 s.
    private func lateness(of newest: Packet) -> FrameCount {
        guard let least = transit.least else { return .zero }
        let late = newest.arrival.nanoseconds &- position &* 62_500 / 3 &- least
        return min(FrameCount(.nanoseconds(max(late, 0))), Self.longestLateness)
    }

    /// Returns the converted time of the first packet of another encoding, `step` packets after `newest`.
    private func timeAfterChange(
        of newest: Packet, to header: RTPHeader, _ encoding: AudioEncoding, step: Int, at now: Instant
    ) -> RTPTimestamp {
        // Checks whether the sequence number is near that of the newest packet. If it is far away, the packet is a
        // stray or follows a restart, and its sequence number says nothing about time.
        let isNear = (-Self.maximumMisorder...Self.maximumMisorder).contains(step)
        let packets = FrameCount(newest.frameCount.rawValue * (isNear ? step : 1))
        guard step > 0 || !isNear else { return newest.time.advanced(by: packets) }
        let elapsed = FrameCount(now - newest.arrival)
        let isSilence = elapsed - packets > FrameCount(Self.shortestSilence)
        let hasSameClock = newest.encoding.framesPerTick == encoding.framesPerTick
        guard header.marker || isSilence || hasSameClock else { return newest.time.advanced(by: packets) }
        let ticks = header.timestamp.distance(after: newest.wireTimestamp).rawValue
        let counted = FrameCount(ticks * encoding.framesPerTick)
        if isNear, counted >= packets, counted <= Self.longestSilence { return newest.time.advanced(by: counted) }
        return newest.time.advanced(by: header.marker || isSilence ? max(packets, elapsed) : packets)
    }
}
