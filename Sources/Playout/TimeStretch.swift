public import Sound

/// Shortens or lengthens sound by one of its own periods, so that its pitch stays and no seam is heard.
///
/// Waveform similarity, as in WSOLA and the accelerate and expand of NetEQ: where the sound a period further on (or back)
/// looks most like the sound here, the one fades into the other over 7.5 ms, and what lies between is left out (or heard
/// twice). Periods from 2.5 to 12.5 ms are looked for, which are the pitches of speech from 400 down to 80 Hz. A place where
/// nothing is alike (an onset, a plosive) is refused, until waiting costs more than a seam would.
///
/// Playback thread. Nothing is allocated after `init`.
public struct TimeStretch: ~Copyable, Sendable {
    /// How much sound must lie behind the place where some is left out, or before the one where some is repeated: 20 ms.
    public static var reach: FrameCount { @_noAllocation @_noLocks get { FrameCount(longestPeriod + overlap) } }
    /// The least and the most that one cut changes.
    public static var shortest: FrameCount { @_noAllocation @_noLocks get { FrameCount(shortestPeriod) } }
    public static var longest: FrameCount { @_noAllocation @_noLocks get { FrameCount(longestPeriod) } }

    private static var shortestPeriod: Int { 120 }
    private static var longestPeriod: Int { 600 }
    private static var overlap: Int { 360 }
    /// The search is made on the means of so many samples, then around its best on all of them.
    private static var coarseness: Int { 4 }
    /// How alike (1: the same, 0: unrelated) two pieces must be for a cut: a correlation of 0.9, squared.
    private static var likeness: Float { 0.8 }
    private static var preference: Float { 0.1 }
    /// −50 dBFS: whatever is cut there is not heard.
    private static var quiet: Float { 1e-5 }
    /// After so many refusals in a row, half a second, any place will do.
    private static var patience: Int { 25 }

    private let channelCount: Int
    private var mono: Preallocated<Float>
    private var coarse: Preallocated<Float>
    private var refusals = 0

    public init(channelCount: Int) {
        self.channelCount = channelCount
        mono = Preallocated(repeating: 0, count: Self.longestPeriod + Self.overlap)
        coarse = Preallocated(repeating: 0, count: (Self.longestPeriod + Self.overlap) / Self.coarseness)
    }

    /// Leaves out a period of `samples` (interleaved) at the frame `start`, at most `limit`, and moves what follows up to
    /// there. The sound goes on to `end`. Returns by how many frames it is shorter, which may be none. `anywhere` says that
    /// no place is refused: nobody speaks there, or it was made up anyway.
    @_noAllocation @_noLocks
    public mutating func shorten(
        _ samples: inout Preallocated<Float>, from start: Int, to end: Int, atMost limit: FrameCount,
        anywhere: Bool = false
    ) -> FrameCount {
        let longest = min(min(Self.longestPeriod, limit.rawValue), end - start - Self.overlap)
        guard longest >= Self.shortestPeriod else { return .zero }
        fold(samples, from: start, count: longest + Self.overlap)
        guard let period = period(upTo: longest, template: 0, step: 1, anywhere) else { return .zero }
        for frame in 0..<Self.overlap {
            fade(&samples, at: start + frame, from: start + frame, to: start + period + frame, frame)
        }
        for index in (start + Self.overlap) * channelCount..<(end - period) * channelCount {
            samples[index] = samples[index + period * channelCount]
        }
        return FrameCount(period)
    }

    /// Repeats the period of `samples` (interleaved) before the frame `start`, at most `limit`, and moves the rest, to
    /// `end`, further back; there is room for it. Returns by how many frames it is longer, which may be none. `anywhere` says
    /// that no place is refused: nobody speaks there.
    @_noAllocation @_noLocks
    public mutating func lengthen(
        _ samples: inout Preallocated<Float>, from start: Int, to end: Int, atMost limit: FrameCount,
        anywhere: Bool = false
    ) -> FrameCount {
        let longest = min(min(Self.longestPeriod, limit.rawValue), start)
        guard longest >= Self.shortestPeriod, end - start >= Self.overlap else { return .zero }
        fold(samples, from: start - longest, count: longest + Self.overlap)
        guard let period = period(upTo: longest, template: longest, step: -1, anywhere) else { return .zero }
        // From its end on, since it moves over itself.
        for index in (start * channelCount..<end * channelCount).reversed() {
            samples[index + period * channelCount] = samples[index]
        }
        // What would have come next lies a period further back now. What is to be repeated lies a period further ahead,
        // or, once that is used up, already in its place.
        for frame in 0..<max(period, Self.overlap) {
            let repeated = frame < period ? start - period + frame : start + frame
            fade(&samples, at: start + frame, from: start + period + frame, to: repeated, frame)
        }
        return FrameCount(period)
    }

    /// Which of the frames `places` of `samples` (interleaved) begins a piece that is most like the one at `template`. Both
    /// are so long.
    @_noAllocation @_noLocks
    public static func place(
        in samples: borrowing Preallocated<Float>, of template: Int, among places: ClosedRange<Int>, length: Int,
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
    private func fade(_ samples: inout Preallocated<Float>, at place: Int, from one: Int, to other: Int, _ step: Int) {
        let weight = step < Self.overlap ? Float(step) / Float(Self.overlap) : 1
        for channel in 0..<channelCount {
            let here = weight < 1 ? samples[one * channelCount + channel] * (1 - weight) : 0
            samples[place * channelCount + channel] = here + samples[other * channelCount + channel] * weight
        }
    }

    /// All channels as one, in full and in means.
    @_noAllocation @_noLocks
    private mutating func fold(_ samples: borrowing Preallocated<Float>, from start: Int, count: Int) {
        for frame in 0..<count {
            var sum: Float = 0
            for channel in 0..<channelCount { sum += samples[(start + frame) * channelCount + channel] }
            mono[frame] = sum
        }
        for index in 0..<count / Self.coarseness {
            var sum: Float = 0
            for offset in 0..<Self.coarseness { sum += mono[index * Self.coarseness + offset] }
            coarse[index] = sum
        }
    }

    /// The lag at which the sound is most like the piece at `template`, looking on (`step` 1) or back (−1).
    @_noAllocation @_noLocks
    private mutating func period(upTo longest: Int, template: Int, step: Int, _ anywhere: Bool) -> Int? {
        var best = (lag: 0, likeness: -Float.infinity)
        let length = Self.overlap / Self.coarseness
        for lag in Self.shortestPeriod / Self.coarseness...longest / Self.coarseness {
            let here = template / Self.coarseness
            let likeness = Self.likeness(coarse, here, here + step * lag, length)
            // The shortest that is nearly as good: one period and not two.
            if likeness > best.likeness + Self.preference { best = (lag * Self.coarseness, likeness) }
        }
        let rough = best.lag
        best.likeness = -.infinity
        for lag in max(rough - Self.coarseness, Self.shortestPeriod)...min(rough + Self.coarseness, longest) {
            let likeness = Self.likeness(mono, template, template + step * lag, Self.overlap)
            if likeness > best.likeness { best = (lag, likeness) }
        }
        if !anywhere, best.likeness < Self.likeness, !isQuiet(at: template), refusals < Self.patience {
            refusals += 1
            return nil
        }
        refusals = 0
        return best.lag
    }

    @_noAllocation @_noLocks
    private func isQuiet(at template: Int) -> Bool {
        var energy: Float = 0
        for index in template..<template + Self.overlap { energy += mono[index] * mono[index] }
        return energy < Self.quiet * Float(Self.overlap * channelCount * channelCount)
    }

    /// The normalised correlation of two pieces of `length`, squared with its sign kept: no root is needed to compare.
    @_noAllocation @_noLocks
    private static func likeness(_ sound: borrowing Preallocated<Float>, _ one: Int, _ other: Int, _ length: Int)
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
