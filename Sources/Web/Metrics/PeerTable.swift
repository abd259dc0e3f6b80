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
    /// The last counts of each talker, oldest talker first.
    private var last: [(ssrc: SSRC, counts: PeerCounts)] = []

    /// The label of all talkers beyond the first `maximumNameCount` names.
    static let other = "other"
    /// The label of talkers that have sent no name.
    static let unnamed = "unnamed"
    static let maximumNameCount = 32
    private static let maximumTalkerCount = 256

    /// Adds the counts of a talker since its last reading, and returns its label.
    @discardableResult
    mutating func update(_ ssrc: SSRC, name: String?, _ counts: PeerCounts) -> String {
        let label = label(of: name)
        var before = PeerCounts()
        if let index = last.firstIndex(where: { $0.ssrc == ssrc }) { before = last.remove(at: index).counts }
        if last.count == Self.maximumTalkerCount { last.removeFirst() }
        last.append((ssrc, counts))
        totals[label, default: PeerCounts()].add(counts, since: before)
        return label
    }

    private func label(of name: String?) -> String {
        guard let name else { return Self.unnamed }
        if totals[name] != nil { return name }
        return totals.count < Self.maximumNameCount ? name : Self.other
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
