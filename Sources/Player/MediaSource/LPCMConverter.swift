internal import TenfourAudioCore
internal import TenfourResampling

/// Converts the sample rate and channel count of a whole file. The output has the duration of the input and is not
/// delayed.
///
/// Mono is copied to all channels. If there are more input than output channels, they are mixed by `DownmixMatrix`.
struct LPCMConverter: ~Copyable {
    private let input: LPCMFormat
    private let output: LPCMFormat
    private let factors: [Float]
    private var rates: RateConverter?
    private var mixed: [Float] = []
    private var piece: [Float] = []
    private var consumed = 0
    private var emitted = 0

    /// The quality of speexdsp's resampler, above our default of 3: the input is usually music, and the thread has
    /// time.
    private static let quality = 5

    init(from input: LPCMFormat, to output: LPCMFormat) throws(ReaderError) {
        self.input = input
        self.output = output
        factors = DownmixMatrix(from: input.channelCount, to: output.channelCount).factors
        guard input.rate != output.rate else { return }
        do {
            rates = try RateConverter(
                from: input.rate, to: output.rate, channelCount: output.channelCount, quality: Self.quality)
            rates?.skipDelay()
        } catch {
            throw .undecodable(
                "a sample rate of \(input.rate.hertz) Hz cannot be converted to \(output.rate.hertz) Hz: convert the file with ffmpeg first"
            )
        }
    }

    /// Converts `samples[range]`, which are whole frames, and appends the result to `converted`.
    mutating func convert(_ samples: [Float], _ range: Range<Int>, into converted: inout [Float]) {
        consumed += range.count / input.channelCount
        mix(samples, range)
        process(into: &converted, limit: .max)
    }

    /// Appends the frames that the resampler still buffers.
    mutating func finish(into converted: inout [Float]) {
        guard rates != nil else { return }
        let whole = Int((Double(consumed) * Double(output.rate.hertz) / Double(input.rate.hertz)).rounded())
        var rounds = 0
        while emitted < whole, rounds < 64 {
            rounds += 1
            mixed.removeAll(keepingCapacity: true)
            mixed.append(contentsOf: repeatElement(0, count: 256 * output.channelCount))
            process(into: &converted, limit: whole)
        }
    }

    private mutating func mix(_ samples: [Float], _ range: Range<Int>) {
        mixed.removeAll(keepingCapacity: true)
        let (from, to) = (input.channelCount, output.channelCount)
        if from == to {
            mixed.append(contentsOf: samples[range])
            return
        }
        for frame in stride(from: range.lowerBound, to: range.upperBound, by: from) {
            for channel in 0..<to {
                var sum = Float(0)
                for other in 0..<from { sum += samples[frame + other] * factors[channel * from + other] }
                mixed.append(sum)
            }
        }
    }

    private mutating func process(into converted: inout [Float], limit: Int) {
        guard rates != nil else {
            converted.append(contentsOf: mixed)
            return
        }
        let channels = output.channelCount
        var start = 0
        while start < mixed.count {
            let frames = (mixed.count - start) / channels
            // The expected number of frames, and a margin.
            let room = frames * output.rate.hertz / input.rate.hertz + 64
            if piece.count < room * channels {
                piece.append(contentsOf: repeatElement(0, count: room * channels - piece.count))
            }
            let result = Self.process(&rates, mixed, from: start, into: &piece)
            let kept = min(result.produced, limit - emitted)
            emitted += kept
            converted.append(contentsOf: piece[..<(kept * channels)])
            start += result.consumed * channels
            if result.consumed == 0, result.produced == 0 { break }
        }
    }

    private static func process(
        _ rates: inout RateConverter?, _ samples: [Float], from start: Int, into piece: inout [Float]
    ) -> (consumed: Int, produced: Int) {
        var room = piece.mutableSpan
        let result = rates?.process(samples.span.extracting(start...), into: &room)
        return (result?.consumed.rawValue ?? 0, result?.produced.rawValue ?? 0)
    }
}
