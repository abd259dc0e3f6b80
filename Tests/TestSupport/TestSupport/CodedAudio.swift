import Glibc
internal import TenfourAudioCore
public import TenfourMediaSource

/// A test signal whose frequency reveals the position: the left channel is a tone that rises by 50 Hz a second. The
/// right channel is noise of varying level, so that an encoder with a variable bit rate varies its bit rate.
public struct CodedAudio: Sendable {
    public let seconds: Int
    public static let rate = 44_100
    public static let climb = 50.0
    private static let lowest = 200.0

    public init(seconds: Int) { self.seconds = seconds }

    public var duration: Duration { .seconds(seconds) }

    /// The signal as a WAV file with 16-bit samples.
    public var wav: [UInt8] {
        var bytes: [UInt8] = []
        let dataByteCount = seconds * Self.rate * 4
        bytes.reserveCapacity(dataByteCount + 44)
        func append32(_ number: Int) {
            for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        func append16(_ number: Int) {
            for shift in [0, 8] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        bytes += "RIFF".utf8
        append32(dataByteCount + 36)
        bytes += "WAVEfmt ".utf8
        for number in [16, 1 | 2 << 16, Self.rate, Self.rate * 4, 4 | 16 << 16] { append32(number) }
        bytes += "data".utf8
        append32(dataByteCount)
        var register: UInt32 = 1
        for frame in 0..<seconds * Self.rate {
            let time = Double(frame) / Double(Self.rate)
            let phase = 2 * Double.pi * (Self.lowest * time + Self.climb / 2 * time * time)
            append16(Int(sin(phase) * 12_000))
            register = register >> 1 ^ (register & 1 != 0 ? 0xA300_0000 : 0)
            let loudness = [60, 6_000, 1_000, 12_000, 0, 3_000][frame / 30_000 % 6]
            append16((Int(register & 0xFFFF) - 32_768) * loudness / 32_768)
        }
        return bytes
    }

    /// Returns the position of the middle of `samples` in the signal, in seconds, found by the frequency of the first
    /// channel. The samples are interleaved, with `channelCount` channels, at `rate`. Returns nil if there are too
    /// few periods.
    public static func seconds(of samples: [Float], channelCount: Int, rate: Int) -> Double? {
        var (first, last, periods): (Double?, Double, Int) = (nil, 0, -1)
        let frames = samples.count / channelCount
        guard frames > 1 else { return nil }
        for frame in 1..<frames {
            let (before, now) = (samples[(frame - 1) * channelCount], samples[frame * channelCount])
            guard before < 0, now >= 0 else { continue }
            last = Double(frame - 1) + Double(-before / (now - before))
            first = first ?? last
            periods += 1
        }
        guard let first, periods > 4 else { return nil }
        let frequency = Double(periods) * Double(rate) / (last - first)
        // The measured frequency is the tone's frequency in the middle of the measured range.
        let middle = (first + last) / 2 / Double(rate)
        return (frequency - lowest) / climb - middle
    }
}

extension MediaReader {
    /// Reads up to the end, but at most `limit` frames.
    public func readAll(limit: Int = .max) throws(ReaderError) -> [Float] {
        var all: [Float] = []
        var piece = [Float](repeating: 0, count: 4_096 * format.channelCount)
        while all.count < limit {
            let count = try read(&piece)
            if count == 0 { break }
            all += piece[..<count]
        }
        return all
    }

    /// Reads once, at most `frames` frames.
    public func readSome(_ frames: Int) throws(ReaderError) -> [Float] {
        var piece = [Float](repeating: 0, count: frames * format.channelCount)
        let count = try read(&piece)
        return Array(piece[..<count])
    }

    private func read(_ piece: inout [Float]) throws(ReaderError) -> Int {
        var span = piece.mutableSpan
        return try read(into: &span).rawValue * format.channelCount
    }
}

extension Duration {
    public var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
