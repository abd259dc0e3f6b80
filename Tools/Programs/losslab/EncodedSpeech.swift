import TenfourAudioCore
import TenfourAudioFile
import TenfourOpusCodec

/// Speech encoded once, so that every receiver gets the same packets.
struct EncodedSpeech {
    private(set) var packets: [[UInt8]] = []

    /// The frames of a packet: 20 ms.
    static let frame = 960

    init(path: String, seconds: Double, bitRate: Int, expectedLoss: Int) throws {
        var reader = try AudioFileReader(path: path)
        var settings = OpusEncoderSettings()
        settings.bitRate = bitRate
        settings.rateControl = .variable
        settings.expectedLoss = expectedLoss
        settings.inBandFEC = expectedLoss > 0
        settings.signal = .speech
        var encoder = try OpusEncoder(application: .voip, settings: settings)
        var frame = [Float](repeating: 0, count: Self.frame)
        while Double(packets.count) * 0.02 < seconds {
            var room = frame.mutableSpan
            guard try reader.read(into: &room) == FrameCount(Self.frame) else { break }
            var packet = [UInt8](repeating: 0, count: 1_276)
            var bytes = packet.mutableSpan
            let length = try encoder.encode(frame.span, into: &bytes)
            packet.removeSubrange(length...)
            packets.append(packet)
        }
    }

    /// Returns the time at which the packet `index` is sent, in frames.
    func sent(_ index: Int) -> FrameCount { FrameCount(index * Self.frame) }
}
