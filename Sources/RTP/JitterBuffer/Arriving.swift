public import TenfourAudioCore
public import TenfourPackets

// How packets come into a lane.
extension PlayoutLane {
    /// Takes in a packet that arrived at `arrival`.
    ///
    /// Only an `original` tells how long the network takes and where the talker's numbers are. A `copy` or `retransmitted` one fills
    /// the place of a packet that did not come, and is a spare where that has come.
    @_noAllocation @_noLocks
    public mutating func insert(
        _ payload: Span<UInt8>, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, frameCount: FrameCount,
        carriesFEC: Bool, origin: PacketOrigin = .original, arrivedAt arrival: FrameCount
    ) -> Arrival {
        guard origin.isOriginal else {
            let outcome = mend(payload, sequenceNumber, timestamp, frameCount, carriesFEC, origin, at: arrival)
            countRepair(outcome)
            return outcome
        }
        let place = timeline.place(
            sequenceNumber, timestamp, arrivedAt: arrival, fastest: delays.base, isIdle: isIdle)
        let outcome: Arrival
        switch place {
        case .strange:
            outcome = .strange
        case .known(let sequence, let start):
            outcome = take(payload, sequence, start, frameCount, carriesFEC, arrivedAt: arrival)
        case .jumped(let sequence, let start):
            restart()
            statistics.resyncs += 1
            _ = take(payload, sequence, start, frameCount, carriesFEC, arrivedAt: arrival)
            outcome = .resynchronised
        }
        count(outcome)
        return outcome
    }

    private mutating func take(
        _ payload: Span<UInt8>, _ sequence: Int64, _ start: FrameCount, _ frameCount: FrameCount, _ carriesFEC: Bool,
        arrivedAt arrival: FrameCount
    ) -> Arrival {
        delays.insert(
            availability(of: arrival) - start, at: arrival, driftPartsPerMillion: drift.partsPerMillion)
        drift.insert(arrival - start, at: arrival)
        if let lastSequence, sequence <= lastSequence {
            let isDuplicate = sequence == lastSequence && !missing.isMissing(sequence)
            missing.arrive(sequence, at: arrival)
            if isDuplicate { return .duplicate }
            if let skippedTo, start < skippedTo { return .skipped }
            return .late(by: lastEnd - start)
        }
        if let playing, start + frameCount <= playing.position {
            missing.arrive(sequence, at: arrival)
            if let skippedTo, start < skippedTo { return .skipped }
            return .late(by: playing.position - start)
        }
        switch queue.insert(
            payload, sequence: sequence, start: start, frameCount: frameCount, carriesFEC: carriesFEC, origin: .original
        )
        {
        case .queued: return .queued
        case .duplicate: return .duplicate
        case .full: return .refused
        }
    }

    /// Puts a copy or a resend in the place of what is missing.
    private mutating func mend(
        _ payload: Span<UInt8>, _ sequenceNumber: SequenceNumber, _ timestamp: RTPTimestamp, _ frameCount: FrameCount,
        _ carriesFEC: Bool, _ origin: PacketOrigin, at now: FrameCount
    ) -> Arrival {
        guard case .known(let sequence, let start) = timeline.placeOfRepair(sequenceNumber, timestamp) else {
            return .strange
        }
        if let lastSequence, sequence <= lastSequence {
            return missing.isMissing(sequence) ? .late(by: lastEnd - start) : .spare
        }
        // In a silence it may not begin what is over.
        let position = playing?.position ?? now - targetDelay(at: now)
        guard start + frameCount > position else { return .late(by: position - start) }
        switch queue.insert(
            payload, sequence: sequence, start: start, frameCount: frameCount, carriesFEC: carriesFEC, origin: origin)
        {
        case .queued: return .queued
        case .duplicate: return .spare
        case .full: return .refused
        }
    }

    private mutating func count(_ arrival: Arrival) {
        switch arrival {
        case .queued, .resynchronised, .spare, .skipped: break
        case .late: statistics.late += 1
        case .duplicate: statistics.duplicates += 1
        case .strange, .refused: statistics.discarded += 1
        }
    }

    private mutating func countRepair(_ arrival: Arrival) {
        switch arrival {
        case .queued, .resynchronised, .skipped: break
        case .late: statistics.lateRepairs += 1
        case .duplicate, .spare, .strange, .refused: statistics.spareRepairs += 1
        }
    }
}
