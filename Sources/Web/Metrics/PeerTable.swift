internal import TenfourAudioCore
internal import TenfourJitterBuffer
internal import TenfourPackets
internal import TenfourRadio
internal import TenfourSession

/// A count of one talker's packets or audio.
enum PeerCounter: Int, CaseIterable, Sendable {
    case packetsReceived, bytesReceived, packetsLost, packetsLate, packetsDuplicate, packetsReordered
    case packetsRequested, recoveredByFEC, recoveredByCopy, recoveredByRetransmission
    /// Frames at 48 000 Hz.
    case framesHeard, framesConcealed
}

/// The counts of one talker or of several talkers.
struct PeerCounts: Hashable, Sendable {
    private var counts = [Int](repeating: 0, count: PeerCounter.allCases.count)

    subscript(counter: PeerCounter) -> Int {
        get { counts[counter.rawValue] }
        set { counts[counter.rawValue] = newValue }
    }

    /// Adds what `later` counts beyond `earlier`, an older reading of the same counts. A count that has fallen has
    /// begun again at zero.
    mutating func add(_ later: Self, since earlier: Self) {
        for counter in PeerCounter.allCases {
            let (new, old) = (later[counter], earlier[counter])
            self[counter] += new >= old ? new - old : new
        }
    }
}

/// The sums of the talkers' counts by the value of the label `peer`. The number of label values and of stored talkers
/// is bounded, however many talkers come and go.
struct PeerTable: Sendable {
    private(set) var totals: [String: PeerCounts] = [:]
    /// The last time at which the counts of each name had grown.
    private var growths: [String: Instant] = [:]
    /// The last counts of each talker, oldest talker first.
    private var last: [(ssrc: SSRC, counts: PeerCounts)] = []

    /// The label of all talkers beyond `maximumNameCount` names, and of those whose label another name has got.
    static let other = "other"
    /// The label of talkers that have sent no name.
    static let unnamed = "unnamed"
    static let maximumNameCount = 32
    private static let maximumTalkerCount = 256
    /// The time without a packet after which another name may take the place of a name, whose counts go to `other`.
    static let keeping = Duration.seconds(600)

    /// Adds the counts of a talker since its last reading, and returns its label.
    @discardableResult
    mutating func update(_ ssrc: SSRC, name: String?, _ counts: PeerCounts, at now: Instant) -> String {
        var before = PeerCounts()
        if let index = last.firstIndex(where: { $0.ssrc == ssrc }) { before = last.remove(at: index).counts }
        let label = label(of: name, hasGrown: counts != before, at: now)
        if last.count == Self.maximumTalkerCount { last.removeFirst() }
        last.append((ssrc, counts))
        totals[label, default: PeerCounts()].add(counts, since: before)
        return label
    }

    private mutating func label(of name: String?, hasGrown: Bool, at now: Instant) -> String {
        guard let name else { return Self.unnamed }
        let isKnown = growths[name] != nil
        guard isKnown || makeRoom(at: now) else { return Self.other }
        if hasGrown || !isKnown { growths[name] = now }
        return name
    }

    /// Makes room for one more name. Returns false if there is none.
    private mutating func makeRoom(at now: Instant) -> Bool {
        guard growths.count >= Self.maximumNameCount else { return true }
        guard let oldest = growths.min(by: { $0.value < $1.value }), now - oldest.value >= Self.keeping else {
            return false
        }
        growths[oldest.key] = nil
        if let counts = totals.removeValue(forKey: oldest.key) {
            totals[Self.other, default: PeerCounts()].add(counts, since: PeerCounts())
        }
        return true
    }
}

extension PeerCounts {
    init(_ talker: RadioSnapshot.TalkerSnapshot) {
        self[.packetsReceived] = talker.receivedCount
        self[.bytesReceived] = talker.receivedByteCount
        self[.packetsLost] = talker.losses.lossCount
        self[.packetsLate] = talker.playout.late
        self[.packetsDuplicate] = talker.duplicateCount
        self[.packetsReordered] = talker.reorderedCount
        self[.packetsRequested] = talker.recovery.requestedCount
        self[.recoveredByFEC] = talker.playout.recoveredPacketCount
        self[.recoveredByCopy] = talker.recovery.copyCount
        self[.recoveredByRetransmission] = talker.recovery.retransmittedCount
        self[.framesHeard] = talker.playout.heard.rawValue
        self[.framesConcealed] = talker.playout.concealed.rawValue
    }
}
