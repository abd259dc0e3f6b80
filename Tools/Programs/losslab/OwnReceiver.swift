import TenfourAudioCore
import TenfourJitterBuffer
import TenfourOpusCodec
import TenfourPackets
import TenfourRadio

/// tenfour's own receiver, pulled by a card that is never late.
struct OwnReceiver {
    var configuration: PlayoutConfiguration
    var repair = RecoveryDemand()
    var decoder = DecoderChoice.auto
    /// What the card asks for at a time.
    var period = 120

    func receive(_ deliveries: Deliveries, of speech: EncodedSpeech) throws -> Outcome {
        var voice = try Voice(
            format: .mono, configuration: configuration, decoding: DecoderConfiguration(decoder))
        voice.begin(SSRC(1))
        voice.setRepair(repair)
        var next = deliveries.list.startIndex
        var outcome = Outcome()
        var sound = [Float](repeating: 0, count: period)
        let end = speech.packets.count * EncodedSpeech.frame + 48_000
        for position in stride(from: 0, to: end, by: period) {
            while next < deliveries.list.endIndex, deliveries.list[next].at.rawValue <= position {
                Self.insert(deliveries.list[next], of: speech, into: &voice)
                next += 1
            }
            let due = voice.lane.statistics.due
            var room = sound.mutableSpan
            if !voice.pull(into: &room, at: FrameCount(position)) { for index in sound.indices { sound[index] = 0 } }
            outcome.heard += sound
            if voice.lane.statistics.due > due { outcome.delays.append(Double(voice.lane.depth.rawValue) / 48) }
        }
        outcome.take(voice.statistics)
        return outcome
    }

    private static func insert(_ delivery: Deliveries.Delivery, of speech: EncodedSpeech, into voice: inout Voice) {
        var packet = IncomingPacket()
        packet.ssrc = SSRC(1)
        packet.sequenceNumber = SequenceNumber(rawValue: UInt16(truncatingIfNeeded: delivery.index))
        packet.timestamp = RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: speech.sent(delivery.index).rawValue))
        packet.frameCount = FrameCount(EncodedSpeech.frame)
        packet.origin = delivery.origin
        let payload = speech.packets[delivery.index]
        packet.carriesFEC = OpusDecoder.hasInBandFEC(payload.span)
        packet.packet.fill(payload.span)
        voice.insert(packet, arrivedAt: delivery.at)
    }
}

extension Outcome {
    mutating func take(_ statistics: PlayoutStatistics) {
        let due = Double(max(statistics.due.rawValue, 1))
        let recovered = statistics.recovered + statistics.recoveredByCopy + statistics.recoveredByResend
        concealedShare = Double(statistics.concealed.rawValue) / due
        deepShare = Double(statistics.concealedByModel.rawValue) / Double(max(statistics.concealed.rawValue, 1))
        recoveredShare = Double(recovered.rawValue) / due
        stretchedShare = Double(statistics.stretched.rawValue) / due
        late = statistics.late
        resyncs = statistics.resyncs
    }
}
