import BadLink
import OpusCodec
import RTP
import Sound
import SoundFile

/// Speech as the packets of one run of the encoder, so that every receiver gets the same.
struct EncodedSpeech {
    var packets: [[UInt8]] = []
    /// Of the payload, in bit/s.
    var bitRate: Double { Double(packets.reduce(0) { $0 + $1.count } * 8) / (Double(packets.count) * 0.02) }

    init(path: String, seconds: Double, bitRate: Int, expectedLoss: Int) throws {
        var reader = try SoundFileReader(path: path)
        var settings = OpusEncoderSettings()
        settings.bitRate = bitRate
        settings.expectedLoss = expectedLoss
        settings.inBandFEC = expectedLoss > 0
        settings.signal = .speech
        var encoder = try OpusEncoder(application: .voip, settings: settings)
        var frame = [Float](repeating: 0, count: 960)
        while Double(packets.count) * 0.02 < seconds {
            var room = frame.mutableSpan
            let count = try reader.read(into: &room)
            guard count == FrameCount(960) else { break }
            var packet = [UInt8](repeating: 0, count: 1_276)
            var bytes = packet.mutableSpan
            let length = try encoder.encode(frame.span, into: &bytes)
            packet.removeSubrange(length...)
            packets.append(packet)
        }
    }
}

/// When each packet of speech arrives, in frames after the first was sent; nil for one that is lost.
struct Arrivals {
    var times: [FrameCount?] = []

    static let frame = FrameCount(960)

    init(of speech: EncodedSpeech, through model: NetworkModel, seed: UInt64) {
        var link = BadLink(model, seed: seed)
        for (index, packet) in speech.packets.enumerated() {
            let sent = Instant.start + FrameCount(index * 960).duration()
            switch link.fate(ofPacket: packet.count, at: sent) {
            case .lost: times.append(nil)
            case .delivered(let at), .doubled(let at, _): times.append(FrameCount(at - .start))
            }
        }
    }
}
