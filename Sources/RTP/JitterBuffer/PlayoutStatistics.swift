public import TenfourAudioCore
public import TenfourPackets

/// What became of the sound of one lane. Counts of frames at 48 000 Hz since the lane was opened.
public struct PlayoutStatistics: Hashable, BitwiseCopyable, Sendable {
    /// Decoded from packets that came by themselves.
    public var decoded = FrameCount.zero
    /// Lost or late, and made up by the decoder, or silent while nothing came.
    public var concealed = FrameCount.zero
    /// Of that, what was booked only when the next packet told that it had been no pause: it was heard right before.
    public var concealedInHindsight = FrameCount(0)
    /// Of `concealed`, what a neural network made up (deep PLC).
    public var concealedByModel = FrameCount(0)
    /// Lost, and brought back from the in-band FEC of the next packet.
    public var recovered = FrameCount.zero
    /// Lost or late, and decoded from a copy within a later packet.
    public var recoveredByCopy = FrameCount(0)
    /// Lost or late, and decoded from a packet that was sent again.
    public var recoveredByResend = FrameCount(0)
    /// Time within talk in which the card stood still and was silent: what was due then is neither decoded nor made up.
    public var skipped = FrameCount(0)
    /// Decoded or made up, and not played, because the card was gone.
    public var unplayed = FrameCount(0)
    /// How often the card left out sound that was due: each time one hole, however long.
    public var holes = 0
    /// Speech that came by itself and was loud, for the bit rate of its codec: pauses take fewer bits and are no worse for it.
    public var coded = CodedAudio()
    /// Left out or heard twice, to bring the depth to where it should be.
    public var timeScaled = FrameCount(0)
    /// Packets that came after their sound was due. Copies and resends count in none of these three.
    public var late = 0
    public var duplicates = 0
    /// Packets that fitted no place: from another time, or too many at once.
    public var discarded = 0
    /// Copies and resends of what had come already.
    public var spareRecoveries = 0
    /// Copies and resends that came after their sound was due.
    public var lateRecoveries = 0
    /// How often the talker's numbers jumped and playout began anew.
    public var resyncs = 0
    /// Playout behind the arrival of the fastest packet.
    public var delay = FrameCount.zero
    /// What `delay` is being brought to.
    public var target = FrameCount.zero
    /// The talker's clock against the card's; positive when the talker's is slower.
    public var driftPartsPerMillion: Float = 0

    @_noAllocation @_noLocks
    public init() {}

    @_noAllocation @_noLocks
    mutating func count(_ arrival: Arrival) {
        switch arrival {
        case .queued, .resynchronised, .spare, .skipped: break
        case .late: late += 1
        case .duplicate: duplicates += 1
        case .outlier, .refused: discarded += 1
        }
    }

    /// Counts the arrival of a copy or a retransmission.
    @_noAllocation @_noLocks
    mutating func countRecovered(_ arrival: Arrival) {
        switch arrival {
        case .queued, .resynchronised, .skipped: break
        case .late: lateRecoveries += 1
        case .duplicate, .spare, .outlier, .refused: spareRecoveries += 1
        }
    }

    /// Counts `frames` of a packet that is decoded.
    @_noAllocation @_noLocks
    mutating func countDecoded(_ packet: PacketQueue.Entry, frames: FrameCount) {
        switch packet.origin {
        case .original: decoded += frames
        case .copy: recoveredByCopy += frames
        case .retransmitted: recoveredByResend += frames
        }
    }

    @_noAllocation @_noLocks
    mutating func countConcealedInHindsight(_ frames: FrameCount) {
        concealed += frames
        concealedInHindsight += frames
    }

    /// `goesOn`: it belongs to the dropout counted last.
    @_noAllocation @_noLocks
    mutating func countSkipped(_ frames: FrameCount, goesOn: Bool) {
        guard frames > .zero else { return }
        skipped += frames
        if !goesOn { holes += 1 }
    }

    /// `goesOn`: it belongs to the dropout counted last.
    @_noAllocation @_noLocks
    mutating func countUnplayed(_ frames: FrameCount, goesOn: Bool) {
        unplayed += frames
        if !goesOn { holes += 1 }
    }

    /// All sound that was due: what was decoded, brought back and made up, and what the card had no time for.
    public var due: FrameCount {
        @_noAllocation @_noLocks get {
            heard + concealed + skipped
        }
    }

    /// What packets brought, by whatever way they came.
    public var heard: FrameCount {
        @_noAllocation @_noLocks get { decoded + recovered + recoveredByCopy + recoveredByResend }
    }

    /// Of `due`, what the card did not play.
    public var missing: FrameCount { @_noAllocation @_noLocks get { skipped + unplayed } }
}
