internal import TenfourAudioCore

/// The sound that a stretch works on: what is to come, and a little of what was.
struct TimeStretcherInput: ~Copyable, Sendable {
    private(set) var count = 0
    private(set) var samples: FixedBuffer<Float>

    private let channelCount: Int
    private let history: Int
    private let coarseness: Int
    private let capacity: Int
    /// All channels as one, in means of `coarseness` frames.
    private var means: FixedBuffer<Float>
    /// The energy of `means` up to each index.
    private var energies: FixedBuffer<Double>
    private var meanCount = 0

    /// What each length of a splice is worth: by the 1.25th power. A long one has fewer after it; but what lies far apart is
    /// less alike.
    private var worths: FixedBuffer<Float>

    /// Where there is a splice, and how much it leaves out, or plays again where that is below zero.
    struct Splice {
        var wait: Int
        var jump: Int
    }

    /// How unlike even the best splice counts.
    private static var leastHarm: Float { 0.06 }

    init(channelCount: Int, _ lengths: TimeStretcherLengths) {
        self.channelCount = channelCount
        history = lengths.history
        coarseness = lengths.coarseness
        // Moved to the front by whole means.
        capacity = (lengths.capacity / coarseness + 1) * coarseness
        samples = FixedBuffer(repeating: 0, count: capacity * channelCount)
        means = FixedBuffer(repeating: 0, count: capacity / coarseness)
        energies = FixedBuffer(repeating: 0, count: capacity / coarseness + 1)
        worths = FixedBuffer(repeating: 0, count: lengths.jumps(at: 128).upperBound / coarseness + 1)
        for index in 0..<worths.count {
            let root = Float(index).squareRoot()
            worths[index] = Float(index) * root.squareRoot()
        }
    }

    mutating func removeAll() { (count, meanCount) = (0, 0) }

    /// Forgets what lies further back than the history of `place`, if room is needed. Returns by how many frames all moves to
    /// the front.
    mutating func forget(before place: Int) -> Int {
        let means = max(place - history, 0) / coarseness
        // Not for every few frames, since it moves all that follows.
        guard means * coarseness > capacity / 4 || count == capacity, means > 0 else { return 0 }
        let frames = min(means, meanCount) * coarseness
        let forgotten = frames / coarseness
        for index in frames * channelCount..<count * channelCount {
            samples[index - frames * channelCount] = samples[index]
        }
        let behind = energies[forgotten]
        for index in forgotten..<meanCount {
            self.means[index - forgotten] = self.means[index]
            energies[index - forgotten] = energies[index] - behind
        }
        energies[meanCount - forgotten] = energies[meanCount] - behind
        count -= frames
        meanCount -= forgotten
        return frames
    }

    /// Takes frames of `sound` from `start` on, as many as there is room for. Returns how many.
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

    /// Where the sound from `place` on is best spliced, at the `latest` so many frames later. nil where none may be: the sound
    /// drifts from where it should be, by `drift` at first, and a splice may not bring it further off on the other side than
    /// the bound.
    func splice(at place: Int, latest: Int, drift: Double, tempo: Double, _ lengths: TimeStretcherLengths) -> Splice? {
        let rough = roughSplice(at: place, latest: latest, drift: drift, tempo: tempo, lengths)
        guard let rough else { return nil }
        let sign = tempo > 1 ? 1 : -1
        let from = place + rough.wait
        var best = (likeness: -Float.infinity, jump: rough.jump)
        for length in abs(rough.jump) - coarseness...abs(rough.jump) + coarseness {
            let other = from + sign * length
            guard length > 0, other >= 0, max(from, other) + lengths.fade <= count else { continue }
            let likeness = likeness(from, other, length: lengths.fade)
            if likeness > best.likeness { best = (likeness, sign * length) }
        }
        return best.likeness > -.infinity ? Splice(wait: rough.wait, jump: best.jump) : nil
    }

    /// How much is best left out at `place`, of `jumps`.
    func bestJump(at place: Int, among jumps: ClosedRange<Int>, _ fade: Int) -> Int {
        var best = (likeness: -Float.infinity, jump: jumps.upperBound)
        for jump in stride(from: jumps.lowerBound, through: jumps.upperBound, by: coarseness) {
            let likeness = likeness(place, place + jump, length: fade)
            if likeness > best.likeness { best = (likeness, jump) }
        }
        return best.jump
    }

    /// The same among the means. From one place to the next only the ends of the pieces change, so all places cost little more
    /// than one.
    private func roughSplice(at place: Int, latest: Int, drift: Double, tempo: Double, _ lengths: TimeStretcherLengths)
        -> Splice?
    {
        let sign = tempo > 1 ? 1 : -1
        let (slope, ahead) = (abs(1 - tempo), Double(sign) * drift)
        let bound = Double(lengths.bound(at: tempo))
        let jumps = lengths.jumps(at: tempo)
        let pieces = lengths.fade / coarseness
        // The mean in which the place lies is nearly always begun already: the next is the first that is whole.
        let first = (place + coarseness - 1) / coarseness
        let offset = first * coarseness - place
        var best: (harm: Float, wait: Int, jump: Int)?
        for lag in (jumps.lowerBound + coarseness - 1) / coarseness...max(jumps.upperBound / coarseness, 1)
        where lag * coarseness >= jumps.lowerBound {
            let earliest = (ahead + Double(lag * coarseness) - bound) / slope
            let start = first + max(Int(earliest.rounded(.up)) + coarseness - 1 - offset, 0) / coarseness
            let last = min(first + max(latest - offset, 0) / coarseness, meanCount - pieces - max(sign * lag, 0))
            guard start <= last, start + sign * lag >= 0, latest >= offset || start == first else { continue }
            var product = 0.0
            for index in start..<start + pieces { product += Double(means[index] * means[index + sign * lag]) }
            let worth = worths[lag]
            for index in start...last {
                let other = index + sign * lag
                let one = Float(energies[index + pieces] - energies[index]) + 1e-6
                let two = Float(energies[other + pieces] - energies[other]) + 1e-6
                let likeness = Float(product * abs(product)) / (one * two)
                let harm = (1 - likeness + Self.leastHarm) / worth
                if harm < best?.harm ?? .infinity { best = (harm, index * coarseness - place, sign * lag * coarseness) }
                guard index < last else { break }
                product += Double(means[index + pieces] * means[other + pieces])
                product -= Double(means[index] * means[other])
            }
        }
        return best.map { Splice(wait: $0.wait, jump: $0.jump) }
    }

    /// The correlation of two pieces, squared with its sign kept: no root is needed to compare.
    private func likeness(_ one: Int, _ other: Int, length: Int) -> Float {
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

    /// All channels of a frame as one, the first the loudest: two that are opposites would otherwise be silence.
    private func fold(_ frame: Int) -> Float {
        var sum = samples[frame * channelCount]
        for channel in 1..<max(channelCount, 1) { sum += samples[frame * channelCount + channel] / Float(channel + 1) }
        return sum
    }
}
