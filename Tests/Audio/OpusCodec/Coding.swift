import TenfourAudioCore
import TenfourOpusCodec

/// Returns the packets of `sound`; an incomplete frame at its end is dropped.
func packets(
    of sound: [Float], in format: LPCMFormat = .mono, frame: FrameCount = FrameCount(960),
    application: OpusEncoder.Application = .voip, settings: OpusEncoderSettings = .init()
) throws(OpusError) -> [[UInt8]] {
    var encoder = try OpusEncoder(format: format, application: application, settings: settings)
    var packets: [[UInt8]] = []
    let step = frame.rawValue * format.channelCount
    for start in stride(from: 0, through: sound.count - step, by: step) {
        var packet = [UInt8](repeating: 0, count: 1_500)
        var bytes = packet.mutableSpan
        let byteCount = try encoder.encode(sound.span.extracting(start..<start + step), into: &bytes)
        packets.append(Array(packet[..<byteCount]))
    }
    return packets
}

func carriesCopy(_ packet: [UInt8]) -> Bool { OpusDecoder.hasInBandFEC(packet.span) }

extension OpusDecoder {
    /// Decodes one packet.
    mutating func sound(of packet: [UInt8]) throws(OpusError) -> [Float] {
        var samples = [Float](repeating: 0, count: Self.maximumPacketDuration.rawValue * format.channelCount)
        var span = samples.mutableSpan
        let frames = try decode(packet.span, into: &span)
        return Array(samples[..<(frames.rawValue * format.channelCount)])
    }

    /// Returns `frames` frames of concealment.
    mutating func concealed(_ frames: Int) throws(OpusError) -> [Float] {
        var samples = [Float](repeating: 1, count: frames * format.channelCount)
        var span = samples.mutableSpan
        try conceal(FrameCount(frames), into: &span)
        return samples
    }

    /// Recovers `frames` frames from the in-band FEC of `packet`, the packet after the loss.
    mutating func recovered(_ frames: Int, from packet: [UInt8]) throws(OpusError) -> [Float] {
        var samples = [Float](repeating: 1, count: frames * format.channelCount)
        var span = samples.mutableSpan
        try recover(FrameCount(frames), from: packet.span, into: &span)
        return samples
    }
}
