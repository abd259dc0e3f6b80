public import TenfourAudioCore

/// Shortens or lengthens sound by one of its own periods, so that its pitch stays and no seam is heard.
///
/// Waveform similarity, as in WSOLA and the accelerate and expand of NetEQ: where the sound a period further on (or back)
/// looks most like the sound here, the one fades into the other over 7.5 ms, and what lies between is left out (or heard
/// twice). Place and period are chosen together: anywhere in what waits, periods from 2.5 to 12.5 ms, which are the pitches
/// of speech from 400 down to 80 Hz. Of periods that are nearly as good the shorter wins, since it moves what follows less,
/// and of places the quieter, since a seam there is heard less.
/// Where nothing is alike (an onset, a plosive) the next packet is waited for, and the longer the less is asked of it.
///
/// Playback thread. Nothing is allocated after `init`.
public struct TimeScaler: ~Copyable, Sendable {
    /// How much sound must lie behind the place where some is left out, or before the one where some is repeated: 20 ms.
    public static var reach: FrameCount { @_noAllocation @_noLocks get { FrameCount(longestPeriod + overlap) } }
    /// The least and the most that one cut changes.
    public static var shortest: FrameCount { @_noAllocation @_noLocks get { FrameCount(shortestPeriod) } }
    public static var longest: FrameCount { @_noAllocation @_noLocks get { FrameCount(longestPeriod) } }

    private static var shortestPeriod: Int { 120 }
    private static var longestPeriod: Int { 600 }
    private static var overlap: Int { 360 }
    /// No more than so much of what waits is looked at: 30 ms.
    private static var look: Int { 1_440 }
    /// The search is made on the means of so many samples, then around its best on all of them.
    private static var coarseness: Int { 4 }
    /// How unlike (0: the same, 1: unrelated; one less the squared correlation) two pieces may be for a cut: at first, and more
    /// with each refusal. It counts in proportion to how loud the place is. In the choice each frame of the period adds to it; where
    /// nobody speaks it takes from it, as a pause is to be used while it lasts.
    private static var unlikeness: Float { 0.04 }
    private static var leniency: Float { 0.015 }
    private static var ordinaryLengthiness: Float { 0.12 / 480 }
    /// −50 dBFS: whatever is cut there is not heard.
    private static var quiet: Float { 1e-5 }
    /// −70 dBFS: no talker is so quiet.
    private static var inaudible: Float { 1e-7 }
    /// After so many refusals in a row, half a second, any place will do.
    private static var patience: Int { 25 }

    private let channelCount: Int
    private var mono: FixedBuffer<Float>
    private var coarse: FixedBuffer<Float>
    /// The energy of `coarse` up to each index.
    private var energy: FixedBuffer<Double>
    /// How much a seam that begins at each index of `coarse` is heard: 1 where it is as loud as the talker, 0 in silence.
    private var weight: FixedBuffer<Float>
    /// What each frame of a period adds to its harm, or takes from it.
    private var lengthiness: Float = 0
    private var refusals = 0

    /// Where the last change was made: so far behind the place it was allowed from.
    public private(set) var seam = FrameCount(0)

    /// A place in `mono`, and what is left out or repeated there.
    private struct Cut {
        var place: Int
        var period: Int
        /// How much of a seam it leaves.
        var harm: Float
    }

    public init(channelCount: Int) {
        self.channelCount = channelCount
        let most = Self.longestPeriod + Self.look
        mono = FixedBuffer(repeating: 0, count: most)
        coarse = FixedBuffer(repeating: 0, count: most / Self.coarseness)
        energy = FixedBuffer(repeating: 0, count: most / Self.coarseness + 1)
        weight = FixedBuffer(repeating: 1, count: most / Self.coarseness)
    }

    /// Leaves out a period of `samples` (interleaved) behind the frame `start`, at most `limit`, and moves what follows up to
    /// there. The sound goes on to `end`. Returns by how many frames it is shorter, which may be none. `anywhere` says that
    /// no place is refused: nobody speaks there, or it was made up anyway. `loudness` is the mean square of the talker while
    /// talking; zero where it is not known.
    @_noAllocation @_noLocks
    public mutating func shorten(
        _ samples: inout FixedBuffer<Float>, from start: Int, to end: Int, atMost limit: FrameCount,
        anywhere: Bool = false, loudness: Float = 0
    ) -> FrameCount {
        let longest = min(min(Self.longestPeriod, limit.rawValue), end - start - Self.overlap)
        guard longest >= Self.shortestPeriod else { return .zero }
        let count = min(end - start, Self.look)
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

    /// Repeats a period of `samples` (interleaved) that ends at the frame `start` or behind it, at most `limit`, and moves the
    /// rest, to `end`, further back; there is room for it. Returns by how many frames it is longer, which may be none.
    /// `anywhere` and `loudness` as in `shorten`.
    @_noAllocation @_noLocks
    public mutating func lengthen(
        _ samples: inout FixedBuffer<Float>, from start: Int, to end: Int, atMost limit: FrameCount,
        anywhere: Bool = false, loudness: Float = 0
    ) -> FrameCount {
        let longest = min(min(Self.longestPeriod, limit.rawValue), start) / Self.coarseness * Self.coarseness
        guard longest >= Self.shortestPeriod, end - start >= Self.overlap else { return .zero }
        let count = longest + min(end - start, Self.look)
        fold(samples, from: start - longest, count: count, loudness)
        guard let cut = cut(upTo: longest, from: longest, to: count, step: -1, anywhere) else { return .zero }
        let (place, period) = (start - longest + cut.place, cut.period)
        seam = FrameCount(cut.place - longest)
        // From its end on, since it moves over itself.
        for index in (place * channelCount..<end * channelCount).reversed() {
            samples[index + period * channelCount] = samples[index]
        }
        // What would have come next lies a period further back now. What is to be repeated lies a period further ahead,
        // or, once that is used up, already in its place.
        for frame in 0..<max(period, Self.overlap) {
            let repeated = frame < period ? place - period + frame : place + frame
            fade(&samples, at: place + frame, from: place + period + frame, to: repeated, frame)
        }
        return FrameCount(period)
    }

    /// Which of the frames `places` of `samples` (interleaved) begins a piece that is most like the one at `template`. Both
    /// are so long.
    @_noAllocation @_noLocks
    public static func place(
        in samples: borrowing FixedBuffer<Float>, of template: Int, among places: ClosedRange<Int>, length: Int,
        _ channelCount: Int
    ) -> Int {
        var best = (place: places.lowerBound, likeness: -Float.infinity)
        for place in places {
            let likeness = likeness(samples, template * channelCount, place * channelCount, length * channelCount)
            if likeness > best.likeness { best = (place, likeness) }
        }
        return best.place
    }

    /// Sets the frame at `place` on the way from one frame to another, `step` of `overlap` into it.
    @_noAllocation @_noLocks
    private func fade(_ samples: inout FixedBuffer<Float>, at place: Int, from one: Int, to other: Int, _ step: Int) {
        let weight = step < Self.overlap ? Float(step) / Float(Self.overlap) : 1
        for channel in 0..<channelCount {
            let here = weight < 1 ? samples[one * channelCount + channel] * (1 - weight) : 0
            samples[place * channelCount + channel] = here + samples[other * channelCount + channel] * weight
        }
    }

    /// All channels as one, in full and in means.
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
        // Of the sums over channels and over the frames of a mean.
        let scale = Float(channelCount * channelCount * Self.coarseness * Self.coarseness)
        let loud = max(loudness, Self.inaudible) * Float(length) * scale
        for index in 0...count / Self.coarseness - length {
            let share = Float(energy[index + length] - energy[index]) / loud
            weight[index] = loudness > 0 && share < 1 ? Self.root(of: share) : 1
        }
    }

    /// Where in `mono`, from `first` on and to `end`, the sound is most like itself a period further on (`step` 1) or back
    /// (−1); nil where that is not alike enough.
    @_noAllocation @_noLocks
    private mutating func cut(upTo longest: Int, from first: Int, to end: Int, step: Int, _ anywhere: Bool) -> Cut? {
        lengthiness = anywhere ? -Self.ordinaryLengthiness : Self.ordinaryLengthiness
        var best = roughCut(upTo: longest, from: first, to: end, step: step)
        let (place, rough) = (best.place, best.period)
        // Behind the cut there may not be as much as the rough period asked for.
        let most = step > 0 ? min(longest, end - Self.overlap - place) : longest
        best.harm = .infinity
        for period in max(rough - Self.coarseness, Self.shortestPeriod)...min(rough + Self.coarseness, most) {
            let likeness = Self.likeness(mono, place, place + step * period, Self.overlap)
            let harm = harm(at: place / Self.coarseness, likeness: likeness, period: period)
            if harm < best.harm { best = Cut(place: place, period: period, harm: harm) }
        }
        // How long it is matters for the choice only: a deep voice is no reason to wait.
        let allowed = Self.unlikeness + Self.leniency * Float(refusals) + lengthiness * Float(best.period)
        if !anywhere, best.harm > allowed, !isQuiet(at: place), refusals < Self.patience {
            refusals += 1
            return nil
        }
        refusals = 0
        return best
    }

    /// The same among the means. From one place to the next only the ends of the pieces change, so all places cost little more
    /// than one.
    @_noAllocation @_noLocks
    private func roughCut(upTo longest: Int, from first: Int, to end: Int, step: Int) -> Cut {
        let length = Self.overlap / Self.coarseness
        let (first, end) = (first / Self.coarseness, end / Self.coarseness)
        var best = Cut(place: first * Self.coarseness, period: Self.shortestPeriod, harm: .infinity)
        for lag in Self.shortestPeriod / Self.coarseness...longest / Self.coarseness {
            let last = end - length - (step > 0 ? lag : 0)
            guard last >= first else { break }
            var product = 0.0
            for index in first..<first + length { product += Double(coarse[index] * coarse[index + step * lag]) }
            for place in first...last {
                let other = place + step * lag
                let energies =
                    (energy[place + length] - energy[place] + 1e-9) * (energy[other + length] - energy[other] + 1e-9)
                let likeness = Float(product * abs(product)) / Float(energies)
                let harm = harm(at: place, likeness: likeness, period: lag * Self.coarseness)
                if harm < best.harm {
                    best = Cut(place: place * Self.coarseness, period: lag * Self.coarseness, harm: harm)
                }
                guard place < last else { break }
                product += Double(coarse[place + length] * coarse[other + length])
                product -= Double(coarse[place] * coarse[other])
            }
        }
        return best
    }

    /// How much of a seam a cut at `place`, counted in means, leaves.
    @_noAllocation @_noLocks
    private func harm(at place: Int, likeness: Float, period: Int) -> Float {
        (1 - likeness) * weight[place] + lengthiness * Float(period)
    }

    /// Vetted: one instruction, which the compiler takes for a call it does not know.
    @_semantics("no_performance_analysis")
    private static func root(of square: Float) -> Float { square.squareRoot() }

    @_noAllocation @_noLocks
    private func isQuiet(at template: Int) -> Bool {
        var energy: Float = 0
        for index in template..<template + Self.overlap { energy += mono[index] * mono[index] }
        return energy < Self.quiet * Float(Self.overlap * channelCount * channelCount)
    }

    /// The normalised correlation of two pieces of `length`, squared with its sign kept: no root is needed to compare.
    @_noAllocation @_noLocks
    private static func likeness(_ sound: borrowing FixedBuffer<Float>, _ one: Int, _ other: Int, _ length: Int)
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
