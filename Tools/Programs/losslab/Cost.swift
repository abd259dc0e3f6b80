import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourOpusCodec
import TenfourPackets
import TenfourRadio
import TenfourResampling

/// Measures the processor time of playout, in addition to its decoder's, on a clean network.
struct Cost: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compare the processor time of playout, resampler and time-stretch with bare opus_decode, as JSON.")

    @Argument(help: "The speech: a sound file of 48 kHz mono.")
    var speech: String

    @Option(help: "Bit rate of the encoder in bit/s.")
    var bitrate = 32_000

    @Option(help: "Number of measurements of playout, resampler, time-stretch and opus_decode each.")
    var turns = 15

    @Option(help: "How many seconds of the speech to use.")
    var seconds = 60.0

    /// The length of a card's pull: 5 ms.
    private static let period = 240

    func run() throws {
        let packets = try EncodedSpeech(path: speech, seconds: seconds, bitRate: bitrate, expectedLoss: 0)
        var ratios: [[Double]] = [[], [], []]
        for _ in 0..<turns {
            let bare = try Self.time { try Self.decode(packets) }
            let others = [
                try Self.time { try Self.play(packets) }, try Self.time { try Self.resample(packets) },
                Self.time { Self.stretch(packets.packets.count) },
            ]
            for (index, time) in others.enumerated() { ratios[index].append(time / bare) }
        }
        let medians = ratios.map { $0.sorted()[$0.count / 2] }
        print("{\"playout\": \(medians[0]), \"resampler\": \(medians[1]), \"stretch\": \(medians[2])}")
    }

    /// Returns the processor time that `work` takes in this thread, in seconds.
    private static func time(_ work: () throws -> Void) rethrows -> Double {
        let start = now()
        try work()
        return now() - start
    }

    private static func now() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func decode(_ speech: EncodedSpeech) throws {
        var decoder = try OpusDecoder()
        var frame = [Float](repeating: 0, count: EncodedSpeech.frame)
        for packet in speech.packets {
            var room = frame.mutableSpan
            _ = try decoder.decode(packet.span, into: &room)
        }
    }

    /// Runs a jitter buffer with a decoder, from packets to the audio that a card pulls.
    private static func play(_ speech: EncodedSpeech) throws {
        var decoder = try RadioDecoder(DecoderConfiguration(.plain))
        var buffer = try JitterBuffer(
            format: .mono, configuration: PlayoutConfiguration(margin: FrameCount(period)))
        buffer.begin(SSRC(1))
        var sound = [Float](repeating: 0, count: period)
        var next = 0
        for position in stride(from: 0, to: speech.packets.count * EncodedSpeech.frame, by: period) {
            while next < speech.packets.count, speech.sent(next).rawValue <= position {
                let packet = PacketInfo(
                    sequenceNumber: SequenceNumber(rawValue: UInt16(truncatingIfNeeded: next)),
                    timestamp: RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: speech.sent(next).rawValue)),
                    frameCount: FrameCount(EncodedSpeech.frame))
                let payload = speech.packets[next]
                buffer.insert(payload.span, packet, arrivedAt: speech.sent(next))
                next += 1
            }
            var room = sound.mutableSpan
            _ = buffer.pull(into: &room, at: FrameCount(position), with: &decoder)
        }
        precondition(buffer.statistics.decoded.rawValue > speech.packets.count * EncodedSpeech.frame * 9 / 10)
    }

    /// Runs the resampler alone, as it corrects the drift between two clocks.
    private static func resample(_ speech: EncodedSpeech) throws {
        var converter = try RateConverter(from: .opus, to: .opus, channelCount: 1)
        converter.correct(by: 50)
        let frame = [Float](repeating: 0.1, count: EncodedSpeech.frame)
        var sound = [Float](repeating: 0, count: period)
        for _ in speech.packets {
            var used = 0
            while used < frame.count {
                var room = sound.mutableSpan
                used += converter.process(frame.span.extracting(used..<frame.count), into: &room).consumed.rawValue
            }
        }
    }

    /// Runs the time-scaling alone at its maximum of a tenth: it removes 5 ms from every third packet.
    private static func stretch(_ packetCount: Int) {
        var stretch = TimeScaler(channelCount: 1)
        let history = TimeScaler.reach.rawValue
        var work = FixedBuffer<Float>(repeating: 0, count: history + EncodedSpeech.frame)
        for index in 0..<work.count { work[index] = Float(sin(Double(index) / 38)) * 0.1 }
        for _ in 0..<packetCount / 3 {
            _ = stretch.shorten(&work, from: history, to: work.count, atMost: FrameCount(480), anywhere: true)
        }
    }
}
