internal import TenfourAudioCore
internal import TenfourOpusCodec
internal import TenfourRadio

/// Encodes speech packet by packet with the settings of the session's loss protection. The speech repeats when it ends.
struct SpeechSource: ~Copyable {
    private let samples: [Float]
    private var settings: OpusEncoderSettings
    private var encoder: OpusEncoder
    private var position = 0
    private var frame: [Float]

    /// The duration of a packet: 20 ms at 48 kHz.
    static let frameCount = FrameCount(960)

    init(_ samples: [Float], coding: CodingSettings) throws(RadioError) {
        self.samples = samples
        settings = coding.settings
        frame = [Float](repeating: 0, count: Self.frameCount.rawValue)
        do {
            encoder = try OpusEncoder(application: coding.application, settings: settings)
        } catch {
            throw RadioError(.failure, error.description)
        }
    }

    mutating func next(bitRate: Int, inBandFEC: Bool, expectedLoss: Int) -> [UInt8] {
        for index in frame.indices {
            frame[index] = samples.isEmpty ? 0 : samples[(position + index) % samples.count]
        }
        position += frame.count
        var wanted = settings
        (wanted.bitRate, wanted.inBandFEC, wanted.expectedLoss) = (bitRate, inBandFEC, expectedLoss)
        if wanted != settings, (try? encoder.apply(wanted)) != nil { settings = wanted }
        return Self.encode(frame, with: &encoder)
    }

    private static func encode(_ frame: [Float], with encoder: inout OpusEncoder) -> [UInt8] {
        var packet = [UInt8](repeating: 0, count: 1_276)
        var room = packet.mutableSpan
        let byteCount = (try? encoder.encode(frame.span, into: &room)) ?? 0
        return Array(packet[..<byteCount])
    }
}
