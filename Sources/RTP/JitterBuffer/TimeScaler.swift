public import TenfourAudioCore

/// Shortens or lengthens audio by one of its own pitch periods, so that the pitch stays and no seam is heard.
///
/// It uses waveform similarity, as WSOLA and the accelerate and expand of NetEQ do. It finds the frame at which the
/// audio a period later (or earlier) is most similar, cross-fades from one to the other over 7.5 ms, and so removes (or
/// repeats) the period. Frame and period are chosen together, among all frames of the waiting audio and all periods
/// from 2.5 to 12.5 ms (the pitches of speech from 400 down to 80 Hz). Of two periods that are nearly as good it takes
/// the shorter, which moves the following audio less. Of two frames it takes the quieter, where a seam is heard less.
/// If no audio is similar (an onset, a plosive), it makes no cut and waits for the next packet. After each search
/// without a cut it accepts less similarity.
///
/// Use it on the playback thread only. Nothing is allocated after `init`.
public struct TimeScaler: ~Copyable, Sendable {
    /// The duration of audio needed after the position of a removal, or before the position of a repetition: 20 ms, for
    /// the longest pitch period and the cross-fade.
    public static var reach: FrameCount { @_noAllocation @_noLocks get { FrameCount(longestPeriod + overlap) } }
    /// The shortest pitch period that one cut removes or repeats: 2.5 ms.
    public static var shortest: FrameCount { @_noAllocation @_noLocks get { FrameCount(shortestPeriod) } }
    /// The longest pitch period that one cut removes or repeats: 12.5 ms.
    public static var longest: FrameCount { @_noAllocation @_noLocks get { FrameCount(longestPeriod) } }

    private static var shortestPeriod: Int { 120 }
    private static var longestPeriod: Int { 600 }
    /// The length of the cross-fade, in frames: 7.5 ms.
    private static var overlap: Int { 360 }
    /// The maximum duration of audio that is searched for a cut, in frames: 30 ms.
    private static var searchLength: Int { 1_440 }
    /// The number of frames that are summed to one element of `coarse`. The search compares these sums first, then all
    /// frames around the best result.
    private static var coarseness: Int { 4 }
    /// The maximum cost of a cut. It is raised by `costPerRefusal` after each search that makes no cut, until a cut is
    /// made. The cost is one less the squared correlation (0: identical, 1: unrelated), weighted with the loudness at
    /// the cut, plus a cost for each frame of the period. In a pause the cost for each frame is negative, so that a
    /// long period is preferred.
    private static var maximumCost: Float { 0.04 }
    /// The amount by which the maximum cost of a cut is raised after each search that makes no cut.
    private static var costPerRefusal: Float { 0.015 }
    /// The cost of each frame of a period, if the audio is speech.
    private static var ordinaryPeriodCost: Float { 0.12 / 480 }
    /// The mean square below which a cut is not heard: −50 dBFS.
    private static var quiet: Float { 1e-5 }
    /// The minimum of the talker's loudness, as a mean square: −70 dBFS. Audio below this level is not heard.
    private static var inaudible: Float { 1e-7 }
    /// The number of searches without a cut after which the next cut is made at any cost: 25, which take half a second.
    private static var maximumRefusals: Int { 25 }

    private let channelCount: Int
    private var mono: FixedBuffer<Float>
    private var coarse: FixedBuffer<Float>
    /// The sum of the squares of `coarse` from its start up to each index.
    private var energy: FixedBuffer<Double>
    /// The weight of a cut that begins at each index of `coarse`: 1 where the audio is as loud as the talker's speech,
    /// 0 in silence.
    private var weight: FixedBuffer<Float>
    /// The cost of each frame of the period in the present search; negative in a pause.
    private var periodCost: Float = 0
    /// The number of searches since the last cut.
    private var refusals = 0

    /// The distance, in frames, from the first frame at which the last cut was allowed to the frame of the cut.
    public private(set) var seam = FrameCount(0)

    /// A frame in `mono`, and the period that is removed or repeated at that frame.
    private struct Cut {
        var place: Int
        var period: Int
        /// A measure of how audible the seam is. A seam with a lower cost is less audible.
        var cost: Float
    }

    public init(channelCount: Int) {
        self.channelCount = channelCount
        let most = Self.longestPeriod + Self.searchLength
        mono = FixedBuffer(repeating: 0, count: most)
        coarse = FixedBuffer(repeating: 0, count: most / Self.coarseness)
        energy = FixedBuffer(repeating: 0, count: most / Self.coarseness + 1)
        weight = FixedBuffer(repeating: 1, count: most / Self.coarseness)
    }

    /// Removes one pitch period from `samples` (interleaved) behind the frame `start`, at most `limit` long. Moves up
    /// the audio after it, which ends at `end`. Returns the number of frames removed; zero if no cut was good enough.
    /// If `anywhere` is true, any cut is accepted: nobody speaks in the audio, or it was concealed. `loudness` is the
    /// mean square of the talker's speech; zero if it is not known.
    @_noAllocation @_noLocks
    public mutating func shorten(
        _ samples: inout FixedBuffer<Float>, from start: Int, to end: Int, atMost limit: FrameCount,
        anywhere: Bool = false, loudness: Float = 0
    ) -> FrameCount {
        let longest = min(min(Self.longestPeriod, limit.rawValue), end - start - Self.overlap)
        guard longest >= Self.shortestPeriod else { return .zero }
        let count = min(end - start, Self.searchLength)
        fold(samples, from: start, count: count, loudness)
        guard let cut = cut(upTo: longest, from: 0, to: count, step: 1, anywhere) else { return .zero }
        let (place, period) = (start + cut.place, cut.period)
        seam = FrameCount(cut.place)
        for frame in 0..<Self.overlap {
            fade(&samples, at: place + frame, from: place + frame, to: place + period + frame, frame)
        }
        for index in (place + Self.overlap) * channelCount..<(end - period) * channelCount {
            samples[index] = samples[index + period * channelCount]
        }
        return FrameCount(period)
    }

    /// Repeats one pitch period of `samples` (interleaved), at most `limit` long. The period ends at or behind the
    /// frame `start`. Moves back the audio after it, which ends at `end`; the buffer needs space for it. Returns the
    /// number of frames inserted; zero if no cut was good enough. If `anywhere` is true, any cut is accepted.
    /// `loudness` is the mean square of the talker's speech; zero if it is not known.
    @_noAllocation @_noLocks
    public mutating func lengthen(
        _ samples: inout FixedBuffer<Float>, from start: Int, to end: Int, atMost limit: FrameCount,
        anywhere: Bool = false, loudness: Float = 0
    ) -> FrameCount {
        let longest = min(min(Self.longestPeriod, limit.rawValue), start) / Self.coarseness * Self.coarseness
        guard longest >= Self.shortestPeriod, end - start >= Self.overlap else { return .zero }
        let count = longest + min(end - start, Self.searchLength)
        fold(samples, from: start - longest, count: count, loudness)
        guard let cut = cut(upTo: longest, from: longest, to: count, step: -1, anywhere) else { return .zero }
        let (place, period) = (start - longest + cut.place, cut.period)
        seam = FrameCount(cut.place - longest)
        // Moves the audio from its end to its beginning, because source and destination overlap.
        for index in (place * channelCount..<end * channelCount).reversed() {
            samples[index + period * channelCount] = samples[index]
        }
        // Cross-fades into the repeated period. The audio after `place` now lies a period further back. The first
        // period to be repeated lies before `place`; the audio after this period is at the right index already.
        for frame in 0..<max(period, Self.overlap) {
            let repeated = frame < period ? place - period + frame : place + frame
            fade(&samples, at: place + frame, from: place + period + frame, to: repeated, frame)
        }
        return FrameCount(period)
    }

    /// Returns the frame, one of `places`, at which the segment of `samples` (interleaved) is most similar to the
    /// segment at `template`. Both segments are `length` long.
    @_noAllocation @_noLocks
    public static func place(
        in samples: borrowing FixedBuffer<Float>, of template: Int, among places: ClosedRange<Int>, length: Int,
        _ channelCount: Int
    ) -> Int {
        var best = (place: places.lowerBound, similarity: -Float.infinity)
        for place in places {
            let similarity = similarity(samples, template * channelCount, place * channelCount, length * channelCount)
            if similarity > best.similarity { best = (place, similarity) }
        }
        return best.place
    }

    /// Writes one frame of a cross-fade at `place`: a mix of the frames `one` and `other`. `step` is the number of this
    /// frame in the cross-fade, from 0 (all of `one`) to `overlap` (all of `other`).
    @_noAllocation @_noLocks
    private func fade(_ samples: inout FixedBuffer<Float>, at place: Int, from one: Int, to other: Int, _ step: Int) {
        let weight = step < Self.overlap ? Float(step) / Float(Self.overlap) : 1
        for channel in 0..<channelCount {
            let here = weight < 1 ? samples[one * channelCount + channel] * (1 - weight) : 0
            samples[place * channelCount + channel] = here + samples[other * channelCount + channel] * weight
        }
    }

    /// Writes the sum of the channels into `mono`, and the sums of `coarseness` successive frames of `mono` into
    /// `coarse`. Computes `energy` and `weight` from `coarse`.
    @_noAllocation @_noLocks
    private mutating func fold(_ samples: borrowing FixedBuffer<Float>, from start: Int, count: Int, _ loudness: Float)
    {
        for frame in 0..<count {
            var sum: Float = 0
            for channel in 0..<channelCount { sum += samples[(start + frame) * channelCount + channel] }
            mono[frame] = sum
        }
        for index in 0..<count / Self.coarseness {
            var sum: Float = 0
            for offset in 0..<Self.coarseness { sum += mono[index * Self.coarseness + offset] }
            coarse[index] = sum
            energy[index + 1] = energy[index] + Double(sum * sum)
        }
        let length = Self.overlap / Self.coarseness
        // Scales the talker's mean square to the values of `coarse`, which are sums over all channels and over
        // `coarseness` frames.
        let scale = Float(channelCount * channelCount * Self.coarseness * Self.coarseness)
        let loud = max(loudness, Self.inaudible) * Float(length) * scale
        for index in 0...count / Self.coarseness - length {
            let share = Float(energy[index + length] - energy[index]) / loud
            weight[index] = loudness > 0 && share < 1 ? Self.root(of: share) : 1
        }
    }

    /// Finds the frame in `mono`, between `first` and `end`, that is most similar to the audio a period later (`step`
    /// 1) or earlier (−1). Returns nil if no frame is similar enough.
    @_noAllocation @_noLocks
    private mutating func cut(upTo longest: Int, from first: Int, to end: Int, step: Int, _ anywhere: Bool) -> Cut? {
        periodCost = anywhere ? -Self.ordinaryPeriodCost : Self.ordinaryPeriodCost
        var best = roughCut(upTo: longest, from: first, to: end, step: step)
        let (place, rough) = (best.place, best.period)
        // Limits the period, because the audio after `place` may be too short for the period that the rough search has
        // found.
        let most = step > 0 ? min(longest, end - Self.overlap - place) : longest
        best.cost = .infinity
        for period in max(rough - Self.coarseness, Self.shortestPeriod)...min(rough + Self.coarseness, most) {
            let similarity = Self.similarity(mono, place, place + step * period, Self.overlap)
            let cost = cost(at: place / Self.coarseness, similarity: similarity, period: period)
            if cost < best.cost { best = Cut(place: place, period: period, cost: cost) }
        }
        // Adds the cost of the period to the maximum. That cost decides between cuts, but a long period (a deep voice)
        // is no reason to postpone the cut.
        let allowed = Self.maximumCost + Self.costPerRefusal * Float(refusals) + periodCost * Float(best.period)
        if !anywhere, best.cost > allowed, !isQuiet(at: place), refusals < Self.maximumRefusals {
            refusals += 1
            return nil
        }
        refusals = 0
        return best
    }

    /// Finds the best cut in `coarse`. From one index to the next, only the ends of the compared segments change. So
    /// for each period the search of all indices costs little more than one comparison.
    @_noAllocation @_noLocks
    private func roughCut(upTo longest: Int, from first: Int, to end: Int, step: Int) -> Cut {
        let length = Self.overlap / Self.coarseness
        let (first, end) = (first / Self.coarseness, end / Self.coarseness)
        var best = Cut(place: first * Self.coarseness, period: Self.shortestPeriod, cost: .infinity)
        for lag in Self.shortestPeriod / Self.coarseness...longest / Self.coarseness {
            let last = end - length - (step > 0 ? lag : 0)
            guard last >= first else { break }
            var product = 0.0
            for index in first..<first + length { product += Double(coarse[index] * coarse[index + step * lag]) }
            for place in first...last {
                let other = place + step * lag
                let energies =
                    (energy[place + length] - energy[place] + 1e-9) * (energy[other + length] - energy[other] + 1e-9)
                let similarity = Float(product * abs(product)) / Float(energies)
                let cost = cost(at: place, similarity: similarity, period: lag * Self.coarseness)
                if cost < best.cost {
                    best = Cut(place: place * Self.coarseness, period: lag * Self.coarseness, cost: cost)
                }
                guard place < last else { break }
                product += Double(coarse[place + length] * coarse[other + length])
                product -= Double(coarse[place] * coarse[other])
            }
        }
        return best
    }

    /// The cost of a cut. `place` is an index into `weight`, which has one element per `coarseness` frames; `period` is
    /// in frames.
    @_noAllocation @_noLocks
    private func cost(at place: Int, similarity: Float, period: Int) -> Float {
        (1 - similarity) * weight[place] + periodCost * Float(period)
    }

    /// Reviewed: the compiler takes this for an unknown call, but it is one instruction.
    @_semantics("no_performance_analysis")
    private static func root(of square: Float) -> Float { square.squareRoot() }

    @_noAllocation @_noLocks
    private func isQuiet(at template: Int) -> Bool {
        var energy: Float = 0
        for index in template..<template + Self.overlap { energy += mono[index] * mono[index] }
        return energy < Self.quiet * Float(Self.overlap * channelCount * channelCount)
    }

    /// The normalised correlation of two segments of `length`, squared with its sign kept, because a comparison needs
    /// no root.
    @_noAllocation @_noLocks
    private static func similarity(_ sound: borrowing FixedBuffer<Float>, _ one: Int, _ other: Int, _ length: Int)
        -> Float
    {
        var product: Float = 0
        var oneEnergy: Float = 1e-9
        var otherEnergy: Float = 1e-9
        for index in 0..<length {
            let (left, right) = (sound[one + index], sound[other + index])
            product += left * right
            oneEnergy += left * left
            otherEnergy += right * right
        }
        return product * abs(product) / (oneEnergy * otherEnergy)
    }
}
