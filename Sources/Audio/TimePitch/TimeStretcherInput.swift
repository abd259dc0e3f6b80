internal import TenfourAudioCore

/// The input of a `TimeStretcher`: audio to be rendered and a little history.
struct TimeStretcherInput: ~Copyable, Sendable {
    private(set) var count = 0
    private(set) var samples: FixedBuffer<Float>

    private let channelCount: Int
    private let history: Int
    private let coarseness: Int
    private let capacity: Int
    /// The downmix at a lower resolution: each element is the sum of `coarseness` frames.
    private var means: FixedBuffer<Float>
    /// Element i is the sum of the squares of all `means` before index i.
    private var energies: FixedBuffer<Double>
    private var meanCount = 0

    /// The weight of each splice length: the length to the power of 1.25. Longer splices are needed less often, but
    /// distant segments are less similar.
    private var jumpWeights: FixedBuffer<Float>

    /// The position of a splice, and the number of frames that it omits (negative: repeats).
    struct Splice {
        var wait: Int
        var jump: Int
    }

    /// The addition to the cost of every splice. Because of it, a splice between two equal segments costs something
    /// too, and a longer splice between equal segments is preferred.
    private static var minimumCost: Float { 0.06 }

    init(channelCount: Int, _ lengths: TimeStretcherLengths) {
        self.channelCount = channelCount
        history = lengths.history
        coarseness = lengths.coarseness
        // The capacity is a multiple of `coarseness`, since frames are moved to the front in groups of `coarseness`.
        capacity = (lengths.capacity / coarseness + 1) * coarseness
        samples = FixedBuffer(repeating: 0, count: capacity * channelCount)
        means = FixedBuffer(repeating: 0, count: capacity / coarseness)
        energies = FixedBuffer(repeating: 0, count: capacity / coarseness + 1)
        jumpWeights = FixedBuffer(repeating: 0, count: lengths.jumps(at: 128).upperBound / coarseness + 1)
        for index in 0..<jumpWeights.count {
            let root = Float(index).squareRoot()
            jumpWeights[index] = Float(index) * root.squareRoot()
        }
    }

    mutating func removeAll() { (count, meanCount) = (0, 0) }

    /// Drops audio before the history that precedes `place`, if space is needed. Returns the number of frames dropped.
    mutating func discard(before place: Int) -> Int {
        let means = max(place - history, 0) / coarseness
        // Drops nothing if only a few frames could be dropped, since all frames after them have to be moved.
        guard means * coarseness > capacity / 4 || count == capacity, means > 0 else { return 0 }
        let frames = min(means, meanCount) * coarseness
        let discardedCount = frames / coarseness
        for index in frames * channelCount..<count * channelCount {
            samples[index - frames * channelCount] = samples[index]
        }
        let behind = energies[discardedCount]
        for index in discardedCount..<meanCount {
            self.means[index - discardedCount] = self.means[index]
            energies[index - discardedCount] = energies[index] - behind
        }
        energies[meanCount - discardedCount] = energies[meanCount] - behind
        count -= frames
        meanCount -= discardedCount
        return frames
    }

    /// Appends frames of `sound` from `start` on, as many as fit and at most `most`. Returns the number of frames
    /// appended.
    mutating func append(_ sound: Span<Float>, from start: Int, atMost most: Int) -> Int {
        let taken = min(min(sound.count / channelCount - start, most), capacity - count)
        for index in 0..<taken * channelCount {
            samples[count * channelCount + index] = sound[start * channelCount + index]
        }
        count += taken
        while (meanCount + 1) * coarseness <= count {
            var sum: Float = 0
            for frame in meanCount * coarseness..<(meanCount + 1) * coarseness { sum += fold(frame) }
            means[meanCount] = sum
            energies[meanCount + 1] = energies[meanCount] + Double(sum * sum)
            meanCount += 1
        }
        return taken
    }

    /// Finds the best splice after `place`, at most `latest` frames later; nil if none is permitted. `drift` is the
    /// present deviation from the exact timing, which grows until the splice. The splice must not cause a deviation in
    /// the opposite direction that exceeds the bound.
    func splice(at place: Int, latest: Int, drift: Double, tempo: Double, _ lengths: TimeStretcherLengths) -> Splice? {
        let rough = roughSplice(at: place, latest: latest, drift: drift, tempo: tempo, lengths)
        guard let rough else { return nil }
        let sign = tempo > 1 ? 1 : -1
        let from = place + rough.wait
        var best = (similarity: -Float.infinity, jump: rough.jump)
        for length in abs(rough.jump) - coarseness...abs(rough.jump) + coarseness {
            let other = from + sign * length
            guard length > 0, other >= 0, max(from, other) + lengths.fade <= count else { continue }
            let similarity = similarity(from, other, length: lengths.fade)
            if similarity > best.similarity { best = (similarity, sign * length) }
        }
        return best.similarity > -.infinity ? Splice(wait: rough.wait, jump: best.jump) : nil
    }

    /// Returns the number of frames to omit at `place`, among `jumps`, with the greatest similarity. `fade` is the
    /// length of the compared segments, in frames.
    func bestJump(at place: Int, among jumps: ClosedRange<Int>, _ fade: Int) -> Int {
        var best = (similarity: -Float.infinity, jump: jumps.upperBound)
        for jump in stride(from: jumps.lowerBound, through: jumps.upperBound, by: coarseness) {
            let similarity = similarity(place, place + jump, length: fade)
            if similarity > best.similarity { best = (similarity, jump) }
        }
        return best.jump
    }

    /// Finds the best splice with a resolution of one element of `means`. Between adjacent positions only the ends of
    /// the segments change, so a search of all positions takes little more time than the search of one position.
    private func roughSplice(at place: Int, latest: Int, drift: Double, tempo: Double, _ lengths: TimeStretcherLengths)
        -> Splice?
    {
        let sign = tempo > 1 ? 1 : -1
        let (slope, ahead) = (abs(1 - tempo), Double(sign) * drift)
        let bound = Double(lengths.bound(at: tempo))
        let jumps = lengths.jumps(at: tempo)
        let pieces = lengths.fade / coarseness
        // The index of the first element of `means` that does not begin before `place`.
        let first = (place + coarseness - 1) / coarseness
        let offset = first * coarseness - place
        var best: (cost: Float, wait: Int, jump: Int)?
        for lag in (jumps.lowerBound + coarseness - 1) / coarseness...max(jumps.upperBound / coarseness, 1)
        where lag * coarseness >= jumps.lowerBound {
            let earliest = (ahead + Double(lag * coarseness) - bound) / slope
            let start = first + max(Int(earliest.rounded(.up)) + coarseness - 1 - offset, 0) / coarseness
            let last = min(first + max(latest - offset, 0) / coarseness, meanCount - pieces - max(sign * lag, 0))
            guard start <= last, start + sign * lag >= 0, latest >= offset || start == first else { continue }
            var product = 0.0
            for index in start..<start + pieces { product += Double(means[index] * means[index + sign * lag]) }
            let weight = jumpWeights[lag]
            for index in start...last {
                let other = index + sign * lag
                let one = Float(energies[index + pieces] - energies[index]) + 1e-6
                let two = Float(energies[other + pieces] - energies[other]) + 1e-6
                let similarity = Float(product * abs(product)) / (one * two)
                let cost = (1 - similarity + Self.minimumCost) / weight
                if cost < best?.cost ?? .infinity { best = (cost, index * coarseness - place, sign * lag * coarseness) }
                guard index < last else { break }
                product += Double(means[index + pieces] * means[other + pieces])
                product -= Double(means[index] * means[other])
            }
        }
        return best.map { Splice(wait: $0.wait, jump: $0.jump) }
    }

    /// Returns the correlation of two segments times its magnitude: the signed square, since a square root would take
    /// time.
    private func similarity(_ one: Int, _ other: Int, length: Int) -> Float {
        var product: Float = 0
        var oneEnergy: Float = 1e-9
        var otherEnergy: Float = 1e-9
        for frame in 0..<length {
            let (left, right) = (fold(one + frame), fold(other + frame))
            product += left * right
            oneEnergy += left * left
            otherEnergy += right * right
        }
        return product * abs(product) / (oneEnergy * otherEnergy)
    }

    /// The downmix of a frame. Each further channel has a lower weight, so that channels in opposite phase do not
    /// cancel out.
    private func fold(_ frame: Int) -> Float {
        var sum = samples[frame * channelCount]
        for channel in 1..<max(channelCount, 1) { sum += samples[frame * channelCount + channel] / Float(channel + 1) }
        return sum
    }
}
