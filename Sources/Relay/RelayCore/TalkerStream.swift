internal import TenfourAudioCore
internal import TenfourPackets

/// The counts of a talker's packets with one SSRC, across all pauses.
struct TalkerCounts: Sendable {
    var reception: ReceptionStatistics
    /// The number of packets that stayed lost for listeners, summed from the fractions in their reports.
    private var unrecovered = 0.0
    /// The highest extended sequence number at the last update of `unrecovered`.
    private var highest: UInt32?

    init(_ ssrc: SSRC) { reception = ReceptionStatistics(ssrc: ssrc) }

    /// Counts packets that stayed lost for listeners, and returns the total of all calls. `share`, in 1/256, is the
    /// fraction that stayed lost of the packets since the last call, up to the extended sequence number `highest`.
    mutating func listenersMiss(_ share: UInt8, upTo highest: UInt32) -> Int {
        let count = Int32(bitPattern: highest &- (self.highest ?? highest))
        unrecovered += Double(max(count, 0)) * Double(share) / 256
        self.highest = highest
        return Int(unrecovered.rounded())
    }
}

/// A talker's current stream. Its packets are stored for retransmission, and their reception is reported to the talker.
struct TalkerStream: Sendable {
    let ssrc: SSRC
    var counts: TalkerCounts
    private(set) var ring: PacketRing
    var missing = MissingRanges()
    private(set) var lastPacket: Instant
    var nextReport: Instant
    /// The last report of each listener about this stream.
    var views: [MemberID: ListenerView] = [:]
    /// The last summary of each other relay of the cluster about its listeners.
    var remoteViews: [BootID: RemoteView] = [:]

    /// The delay of the first report to the talker after the talker's first packet. It is long enough for the talker's
    /// own first report to arrive before the relay's report is sent.
    static let firstReport = Duration.milliseconds(200)

    /// Starts a stream with its first packet at `now`. `counts` are the packet counts of the same SSRC before a pause;
    /// nil if the SSRC is new.
    init(_ ssrc: SSRC, _ limits: RelayLimits, _ counts: TalkerCounts?, at now: Instant) {
        self.ssrc = ssrc
        self.counts = counts ?? TalkerCounts(ssrc)
        ring = PacketRing(limits)
        lastPacket = now
        nextReport = now + Self.firstReport
    }

    struct Arrival {
        var reception: ReceptionStatistics.Reception
        /// The time at which the next missing packet is requested; nil if none is missing.
        var missesDue: Instant?
        /// Whether the packet ends a pause of the talker.
        var beginsTransmission = false
    }

    /// Records an SRTP packet, of at least twelve bytes. Returns nil if the packet has another SSRC than the stream.
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
        let beginsTransmission = now - lastPacket >= TalkerSlots.pause
        lastPacket = now
        return Arrival(
            reception: reception, missesDue: missing.nextDeadline, beginsTransmission: beginsTransmission)
    }

    /// The time without a packet after which the stream ends.
    private static let pause = Duration.seconds(10)

    func isOver(at now: Instant) -> Bool { now - lastPacket >= Self.pause }

    /// The time at which the stream must be polled, if no packet of it arrives before that time.
    var nextDeadline: Instant {
        let next = min(nextReport, lastPacket + Self.pause)
        return missing.nextDeadline.map { min($0, next) } ?? next
    }
}
