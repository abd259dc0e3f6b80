import TenfourAudioCore
import TenfourJitterBuffer
import TenfourOpusCodec
import TenfourPackets
import TenfourRadio

/// tenfour's own receiver, with a card that is never late.
struct OwnReceiver {
    var configuration: PlayoutConfiguration
    var recovery = RecoveryDemand()
    var decoder = DecoderChoice.auto
    /// The length of a card's pull, in frames.
    var period = 120

    func receive(_ deliveries: Deliveries, of speech: EncodedSpeech) throws -> Outcome {
        var buffer = try JitterBuffer(format: .mono, configuration: configuration)
        var decoder = try RadioDecoder(DecoderConfiguration(self.decoder))
        buffer.begin(SSRC(1))
        buffer.setRecoveryDemand(recovery)
        var next = deliveries.list.startIndex
        var outcome = Outcome()
        var sound = [Float](repeating: 0, count: period)
        let end = speech.packets.count * EncodedSpeech.frame + 48_000
        for position in stride(from: 0, to: end, by: period) {
            while next < deliveries.list.endIndex, deliveries.list[next].at.rawValue <= position {
                Self.insert(deliveries.list[next], of: speech, into: &buffer)
                next += 1
            }
            let due = buffer.statistics.due
            var room = sound.mutableSpan
            if !buffer.pull(into: &room, at: FrameCount(position), with: &decoder) {
                for index in sound.indices { sound[index] = 0 }
            }
            outcome.heard += sound
            if buffer.statistics.due > due { outcome.delays.append(Double(buffer.playoutDelay.rawValue) / 48) }
        }
        outcome.take(buffer.statistics)
        return outcome
    }

    private static func insert(
        _ delivery: Deliveries.Delivery, of speech: EncodedSpeech, into buffer: inout JitterBuffer
    ) {
        let payload = speech.packets[delivery.index]
        let packet = PacketInfo(
            sequenceNumber: SequenceNumber(rawValue: UInt16(truncatingIfNeeded: delivery.index)),
            timestamp: RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: speech.sent(delivery.index).rawValue)),
            frameCount: FrameCount(EncodedSpeech.frame), carriesFEC: OpusDecoder.hasInBandFEC(payload.span),
            origin: delivery.origin)
        buffer.insert(payload.span, packet, arrivedAt: delivery.at)
    }
}

extension Outcome {
    mutating func take(_ statistics: PlayoutStatistics) {
        let due = Double(max(statistics.due.rawValue, 1))
        let recovered = statistics.recovered + statistics.recoveredByCopy + statistics.recoveredByRetransmission
        concealedShare = Double(statistics.concealed.rawValue) / due
        deepShare = Double(statistics.concealedByModel.rawValue) / Double(max(statistics.concealed.rawValue, 1))
        recoveredShare = Double(recovered.rawValue) / due
        stretchedShare = Double(statistics.timeScaled.rawValue) / due
        late = statistics.late
        resyncs = statistics.resyncs
    }
}
