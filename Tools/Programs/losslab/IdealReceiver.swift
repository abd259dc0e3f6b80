import TenfourAudioCore
import TenfourOpusCodec
import TenfourRadio

/// The reference receiver: libopus with a fixed playout delay. A packet that has arrived in time is decoded. A missing
/// packet is recovered from the in-band FEC of the next packet if the next packet has arrived in time, and concealed if
/// it has not.
struct IdealReceiver {
    var depth: FrameCount
    var decoder = DecoderChoice.auto

    func receive(_ deliveries: Deliveries, of speech: EncodedSpeech) throws -> Outcome {
        var outcome = Outcome()
        var arrivals = [Int](repeating: .max, count: speech.packets.count + 1)
        for delivery in deliveries.list {
            arrivals[delivery.index] = min(arrivals[delivery.index], delivery.at.rawValue)
        }
        var decoder = try OpusDecoder()
        let complexity = DecoderConfiguration(self.decoder).complexity
        let carriesFEC = speech.packets.contains { OpusDecoder.hasInBandFEC($0.span) }
        if complexity > .plain { try decoder.setComplexity(carriesFEC ? complexity : min(complexity, .lace)) }
        var frame = [Float](repeating: 0, count: EncodedSpeech.frame)
        outcome.heard = [Float](repeating: 0, count: depth.rawValue)
        var (concealed, recovered) = (0, 0)
        for index in speech.packets.indices {
            let due = (speech.sent(index) + depth).rawValue
            var room = frame.mutableSpan
            let packet = speech.packets[index]
            let following = speech.packets[min(index + 1, speech.packets.count - 1)]
            if arrivals[index] <= due {
                _ = try decoder.decode(packet.span, into: &room)
            } else if arrivals[index + 1] <= due, OpusDecoder.hasInBandFEC(following.span) {
                try decoder.recover(FrameCount(EncodedSpeech.frame), from: following.span, into: &room)
                recovered += 1
            } else {
                try decoder.conceal(FrameCount(EncodedSpeech.frame), into: &room)
                concealed += 1
            }
            outcome.heard += frame
            outcome.delays.append(Double(depth.rawValue) / 48)
        }
        outcome.concealedShare = Double(concealed) / Double(speech.packets.count)
        outcome.recoveredShare = Double(recovered) / Double(speech.packets.count)
        return outcome
    }
}
