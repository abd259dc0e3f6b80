internal import TenfourAudioCore
internal import TenfourPackets

/// Counts of a talker's stream since its beginning, over all pauses.
struct TalkerCounts: Sendable {
    var reception: ReceptionStatistics
    /// Packets that listeners miss, added up from the shares that they told.
    private var unrecovered = 0.0
    /// The highest number when that was done last.
    private var highest: UInt32?

    init(_ ssrc: SSRC) { reception = ReceptionStatistics(ssrc: ssrc) }

    /// The share of what came since this was told last, up to packet `highest`, that listeners miss, in 1/256. Returns how
    /// many they miss in all.
    mutating func listenersMiss(_ share: UInt8, upTo highest: UInt32) -> Int {
        let count = Int32(bitPattern: highest &- (self.highest ?? highest))
        unrecovered += Double(max(count, 0)) * Double(share) / 256
        self.highest = highest
        return Int(unrecovered.rounded())
    }
}

/// A talker's stream as it arrives: kept for retransmission, and reported on to the talker.
struct TalkerStream: Sendable {
    let ssrc: SSRC
    var counts: TalkerCounts
    private(set) var ring: PacketRing
    var missing = MissingRanges()
    private(set) var lastPacket: Instant
    var nextReport: Instant
    /// The last report of each listener.
    var views: [MemberID: ListenerView] = [:]

    /// Time for the talker's own first report, which this one answers.
    static let firstReport = Duration.milliseconds(200)

    /// `counts` is that of the same SSRC before a pause, where there was one.
    init(_ ssrc: SSRC, _ limits: RelayLimits, _ counts: TalkerCounts?, at now: Instant) {
        self.ssrc = ssrc
        self.counts = counts ?? TalkerCounts(ssrc)
        ring = PacketRing(limits)
        lastPacket = now
        nextReport = now + Self.firstReport
    }

    struct Arrival {
        var reception: ReceptionStatistics.Reception
        /// When what has not come is to be asked for.
        var missesDue: Instant?
    }

    /// SRTP, of at least twelve bytes. Nil where it is not of this voice.
    mutating func packetArrived(_ datagram: Span<UInt8>, of ssrc: SSRC, at now: Instant) -> Arrival? {
        guard ssrc == self.ssrc else { return nil }
        let number = SequenceNumber(rawValue: datagram.uint16(at: 2))
        let reception = counts.reception.packetArrived(
            number, timestamp: RTPTimestamp(rawValue: datagram.uint32(at: 4)),
            isRetransmission: missing.isAsked(number), at: now)
        switch reception {
        case .ahead(let lost): missing.skipped(lost, before: number, at: now)
        case .reordered, .duplicate: missing.arrived(number)
        case .restarted: missing.removeAll()
        case .stray: break
        }
        ring.insert(datagram, number, at: now)
        lastPacket = now
        return Arrival(reception: reception, missesDue: missing.nextDeadline)
    }

    /// A talker is taken for one who does not talk after this.
    private static let pause = Duration.seconds(10)

    func isOver(at now: Instant) -> Bool { now - lastPacket >= Self.pause }

    /// When it is to be looked at, unless something comes before.
    var nextDeadline: Instant {
        let next = min(nextReport, lastPacket + Self.pause)
        return missing.nextDeadline.map { min($0, next) } ?? next
    }
}
