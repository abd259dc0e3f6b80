import TenfourAudioCore
import TenfourMediaSource
import TenfourPlayer

/// Decodes files without a header, in which a byte is a sample: own-decoder speech.raw speech.wav
final class RawAudio: PacketDecoding {
    let track = Track(codec: "raw", format: LPCMFormat(rate: SampleRate(hertz: 8_000), channelCount: 1))
    var window: ByteWindow
    var (packet, packetStart) = ([UInt8](), 0)
    init(_ bytes: any ByteSource) { window = ByteWindow(of: bytes) }

    func nextPacket() throws(DemuxerError) -> PacketDescription? {
        packetStart += packet.count
        do { try window.load(at: packetStart, count: 1_000) } catch { throw .byteSource(error) }
        packet = window.copiedBytes
        guard !packet.isEmpty else { return nil }
        return PacketDescription(offset: packetStart, byteCount: packet.count, frameCount: FrameCount(packet.count))
    }
    func decode(into samples: inout MutableSpan<Float>) -> Int? {
        for (index, byte) in packet.enumerated() { samples[index] = Float(byte) / 128 - 1 }
        return packet.count
    }
}

var settings = StreamerConfiguration()
settings.output = .file(CommandLine.arguments[2])
settings.makeReader = { (bytes, _, format) throws(ReaderError) in try PacketReader(RawAudio(bytes), format: format) }
try Streamer(settings).playToEnd(CommandLine.arguments[1])
