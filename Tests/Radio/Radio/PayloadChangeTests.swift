import TenfourAudioCore
import TenfourG711Codec
import TenfourJitterBuffer
import TenfourPackets
import Testing

@testable import TenfourRadio

/// A stream whose payload type changes is played without a gap.
@Test func aToneGoesOnWhereThePayloadTypeChanges() throws {
    var buffer = try JitterBuffer(format: .mono)
    var decoder = try RadioDecoder()
    buffer.begin(SSRC(1))
    var heard: [Float] = []
    let sound = tone(440, seconds: 4)
    for number in 0..<200 {
        let law = number < 100 ? G711Law.mu : .a
        let payload = (0..<160).map { law.encode(Int(sound[number * 960 + $0 * 6] * 32_767)) }
        let packet = PacketInfo(
            sequenceNumber: SequenceNumber(rawValue: UInt16(number)),
            timestamp: RTPTimestamp(rawValue: UInt32(number * 960)), frameCount: FrameCount(960),
            encoding: law == .mu ? .pcmu : .pcma)
        #expect(buffer.insert(payload.span, packet, arrivedAt: FrameCount(number * 960)) == .queued)
        for start in stride(from: 0, to: 960, by: 240) {
            var samples = [Float](repeating: 0, count: 240)
            var output = samples.mutableSpan
            _ = buffer.pull(into: &output, at: FrameCount(number * 960 + start), with: &decoder)
            heard += samples
        }
    }
    #expect(amplitude(of: 440, in: heard[48_000...]) > 0.38)
    #expect(buffer.statistics.concealed == .zero && buffer.statistics.resyncs == 0)
    #expect(buffer.statistics.decoded > FrameCount(180 * 960))
}
