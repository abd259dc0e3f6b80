internal import TenfourAudioCore

/// A block of audio as heights on a decibel scale, one per frame: the height of the frame's loudest channel. The sum
/// and peak of each cell are stored, so that the sum and peak of any range are found quickly.
///
/// Allocates nothing after `init`.
struct HeightBlock: ~Copyable {
    /// The maximum number of frames per block.
    static let capacity = 4_096
    /// The number of frames per cell.
    private static let cell = 64

    private(set) var count = 0
    /// The sum and peak of the whole block.
    private(set) var whole = Part()

    private let scale: DecibelScale
    private var magnitudes = FixedBuffer<Float>(repeating: 0, count: capacity)
    private var heights = FixedBuffer<Int32>(repeating: 0, count: capacity)
    private var cells = FixedBuffer<Part>(repeating: Part(), count: capacity / cell)

    /// The sum and peak of the heights in a part of the block, and their number.
    struct Part: BitwiseCopyable {
        var sum: Int64 = 0
        var peak: Int32 = 0
        var count: UInt32 = 0

        mutating func add(_ other: Part) {
            sum += other.sum
            peak = max(peak, other.peak)
            count &+= other.count
        }
    }

    init(scale: DecibelScale) { self.scale = scale }

    /// Fills the block with frames of `samples` (interleaved) from frame `start` on, as many as fit.
    mutating func fill(_ samples: Span<Float>, channelCount: Int, from start: Int) {
        count = min(samples.count / channelCount - start, Self.capacity)
        fold(samples.extracting(start * channelCount..<(start + count) * channelCount), channelCount)
        // Fills the rest of the last cell with silence, which adds nothing to its sum.
        let end = (count + Self.cell - 1) / Self.cell * Self.cell
        for index in count..<end { magnitudes[index] = 0 }
        convert(cellCount: end / Self.cell)
    }

    /// Fills the block with heights, as many as fit.
    mutating func fill(heights given: Span<Int32>, from start: Int) {
        count = min(given.count - start, Self.capacity)
        for index in 0..<count { heights[index] = given[start + index] }
        whole = Part()
        for cell in 0..<(count + Self.cell - 1) / Self.cell {
            let end = min((cell + 1) * Self.cell, count)
            cells[cell] = each(cell * Self.cell..<end)
            whole.add(cells[cell])
        }
    }

    /// Returns the sum, peak and number of the heights in `range`.
    func part(_ range: Range<Int>) -> Part {
        var part = range == 0..<count ? whole : sum(range)
        part.count = UInt32(truncatingIfNeeded: range.count)
        return part
    }

    /// Returns the sum and peak of the heights in `range`.
    private func sum(_ range: Range<Int>) -> Part {
        let (first, last) = ((range.lowerBound + Self.cell - 1) / Self.cell, range.upperBound / Self.cell)
        guard first <= last else { return each(range) }
        var part = each(range.lowerBound..<first * Self.cell)
        for cell in first..<last { part.add(cells[cell]) }
        part.add(each(last * Self.cell..<range.upperBound))
        return part
    }

    private func each(_ range: Range<Int>) -> Part {
        var part = Part()
        for index in range { part.add(Part(sum: Int64(heights[index]), peak: heights[index])) }
        return part
    }

    /// Reduces each frame to the magnitude of its loudest channel. A downmix would turn channels in opposite phase into
    /// silence.
    private mutating func fold(_ samples: Span<Float>, _ channelCount: Int) {
        switch channelCount {
        case 1: for index in 0..<count { magnitudes[index] = samples[index] }
        case 2:
            for index in 0..<count {
                magnitudes[index] = max(samples[2 * index].magnitude, samples[2 * index + 1].magnitude)
            }
        default:
            for index in 0..<count {
                var magnitude: Float = 0
                for channel in 0..<channelCount {
                    magnitude = max(magnitude, samples[index * channelCount + channel].magnitude)
                }
                magnitudes[index] = magnitude
            }
        }
    }

    private mutating func convert(cellCount: Int) {
        whole = Part()
        for cell in 0..<cellCount {
            cells[cell] = Self.convert(magnitudes, into: &heights, from: cell * Self.cell, scale)
            whole.add(cells[cell])
        }
    }

    /// Converts the samples of one cell to heights.
    @inline(__always)
    private static func convert(
        _ magnitudes: borrowing FixedBuffer<Float>, into heights: inout FixedBuffer<Int32>, from start: Int,
        _ scale: DecibelScale
    ) -> Part {
        var (sums, peaks) = (SIMD8<Int32>.zero, SIMD8<Int32>.zero)
        unsafe magnitudes.span.withUnsafeBytes { magnitudes in
            var room = heights.mutableSpan
            unsafe room.withUnsafeMutableBytes { heights in
                for place in stride(from: 4 * start, to: 4 * (start + cell), by: 32) {
                    let samples = unsafe magnitudes.loadUnaligned(fromByteOffset: place, as: SIMD8<Float>.self)
                    let values = scale.heights(samples)
                    unsafe heights.storeBytes(of: values, toByteOffset: place, as: SIMD8<Int32>.self)
                    // Adds without an overflow check: 64 heights of less than 30 million each fit into 32 bits.
                    sums &+= values
                    peaks.replace(with: values, where: values .> peaks)
                }
            }
        }
        return Part(sum: Int64(sums.wrappedSum()), peak: peaks.max())
    }
}
