public import TenfourAudioCore
public import TenfourPackets

/// Counts of one talker's audio, in frames at 48 000 Hz since the talker began, unless a property states another unit.
public struct PlayoutStatistics: Hashable, BitwiseCopyable, Sendable {
    /// The number of frames decoded from original packets.
    public var decoded = FrameCount.zero
    /// The number of frames that were lost or late, and were concealed by the decoder or silent in an underrun.
    public var concealed = FrameCount.zero
    /// The number of frames of `concealed` that were counted only after they were heard, because the next packet showed
    /// then that the talker did not pause.
    public var concealedInHindsight = FrameCount(0)
    /// The number of frames of `concealed` that a neural network generated (deep PLC).
    public var concealedByModel = FrameCount(0)
    /// The number of frames that were lost, and recovered from the in-band FEC of the next packet.
    public var recovered = FrameCount.zero
    /// The number of packets that were lost, and recovered from the in-band FEC of the next packet.
    public var recoveredPacketCount = 0
    /// The number of frames that were lost or late, and decoded from a copy in a later packet.
    public var recoveredByCopy = FrameCount(0)
    /// The number of frames that were lost or late, and decoded from a retransmission.
    public var recoveredByRetransmission = FrameCount(0)
    /// The time within talkspurts in which the card stood still and was silent. The audio that was due in this time is
    /// neither decoded nor concealed.
    public var skipped = FrameCount(0)
    /// The number of frames that were decoded or concealed, but not played, because the card was gone.
    public var unplayed = FrameCount(0)
    /// The number of dropouts of the card, of any length.
    public var holes = 0
    /// The duration and size of the original packets with loud speech, from which the codec's bit rate is computed.
    /// Pauses are left out, because they need fewer bits at the same quality.
    public var coded = CodedAudio()
    /// The number of frames that time-scaling removed or repeated, to bring the delay to its target.
    public var timeScaled = FrameCount(0)
    /// The number of original packets that arrived after their audio was due.
    public var late = 0
    /// The number of original packets that had already arrived once.
    public var duplicates = 0
    /// The number of packets that were not queued, because they are too long or do not fit the talker's other packets.
    public var discarded = 0
    /// The number of frames that arrived in time and are not played: more audio arrived at once than a call may be
    /// delayed by, the packets were not queued (`discarded`), or playout restarted before they were due.
    public var dropped = FrameCount(0)
    /// The number of copies and retransmissions of packets that had arrived already.
    public var spareRecoveries = 0
    /// The number of copies and retransmissions that arrived after their audio was due.
    public var lateRecoveries = 0
    /// The number of times that playout restarted because the talker's sequence numbers or timestamps jumped, or went on
    /// at a later packet because the talker sent too fast.
    public var resyncs = 0
    /// The playout delay, measured from the arrival of the fastest packet.
    public var delay = FrameCount.zero
    /// The target delay, measured from the arrival of the fastest packet.
    public var target = FrameCount.zero
    /// The difference between the talker's clock and the card's, in parts per million; positive if the talker's is
    /// slower.
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
        case .retransmitted: recoveredByRetransmission += frames
        }
    }

    @_noAllocation @_noLocks
    mutating func countConcealedInHindsight(_ frames: FrameCount) {
        concealed += frames
        concealedInHindsight += frames
    }

    /// Counts time that the card lost within a talkspurt. `goesOn` is true if this loss and the last one are one
    /// dropout.
    @_noAllocation @_noLocks
    mutating func countSkipped(_ frames: FrameCount, goesOn: Bool) {
        guard frames > .zero else { return }
        skipped += frames
        if !goesOn { holes += 1 }
    }

    /// Counts pulled audio that the card did not play. `goesOn` is true if this loss and the last one are one dropout.
    @_noAllocation @_noLocks
    mutating func countUnplayed(_ frames: FrameCount, goesOn: Bool) {
        unplayed += frames
        if !goesOn { holes += 1 }
    }

    /// The number of frames that were due: decoded, recovered, concealed, and skipped because the card stood still.
    public var due: FrameCount {
        @_noAllocation @_noLocks get {
            heard + concealed + skipped
        }
    }

    /// The number of frames that were decoded from packets, copies, retransmissions or in-band FEC.
    public var heard: FrameCount {
        @_noAllocation @_noLocks get { decoded + recovered + recoveredByCopy + recoveredByRetransmission }
    }

    /// The number of frames of `due` that the card did not play.
    public var missing: FrameCount { @_noAllocation @_noLocks get { skipped + unplayed } }
}
