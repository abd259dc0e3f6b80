internal import TenfourAudioCore

/// How long what is in a stretch, in frames of its rate.
struct TimeStretcherLengths: Sendable {
    /// How long one stretch of sound fades into the other.
    let fade: Int
    /// The shortest and, up to tempo 2, the longest that is left out or repeated at once: periods of 400 down to 50 Hz.
    let shortest: Int
    let longest: Int
    /// How far ahead a place for it is looked for.
    let look: Int
    /// How far from where it should be the sound may be.
    private let slack: Int
    /// How long a copy lasts where nothing may be spliced yet.
    let pace: Int
    /// Above that tempo, as much sound passes between two splices.
    private let second: Int
    /// The search is made on the means of so many frames, then around its best on all of them.
    let coarseness: Int

    init(_ rate: SampleRate) {
        func frames(milliseconds: Int) -> Int { max(rate.hertz * milliseconds / 1_000, 8) }
        coarseness = max(rate.hertz / 12_000, 1)
        fade = frames(milliseconds: 12)
        shortest = frames(milliseconds: 5) / 2
        longest = frames(milliseconds: 20)
        slack = frames(milliseconds: 18)
        look = frames(milliseconds: 20)
        pace = frames(milliseconds: 10)
        second = frames(milliseconds: 20)
    }

    /// What may be left out or repeated at once at `tempo`. A fade must be through before the next splice is due, so the faster
    /// it goes the more is left out, and above tempo 16 so much more that words are heard of what is skimmed.
    func jumps(at tempo: Double) -> ClosedRange<Int> {
        let slope = abs(tempo - 1)
        let fastest = 128.0 - 1
        let between = Double(second) * min(max(tempo / 16, 1), 2)
        let most = tempo > 1 ? Int(min(slope * between, fastest * Double(second))) : 0
        let least = max(shortest, Int(Double(fade) * slope))
        guard most > longest else { return min(least, longest)...longest }
        return max(min(least, most), most - longest)...most
    }

    /// How far from where it should be the sound may be: a jump leads from one side to the other.
    func bound(at tempo: Double) -> Int {
        let most = jumps(at: tempo).upperBound
        return most > longest ? (most + longest) / 2 : slack
    }

    /// A jump of so many frames must be allowed before any is looked for, so that there is a choice.
    func choice(at tempo: Double) -> Int {
        let jumps = jumps(at: tempo)
        return jumps.lowerBound + jumps.count * 2 / 5
    }

    /// How much sound must be known to plan.
    func view(at tempo: Double) -> Int {
        look + fade + 2 * coarseness + (tempo > 1 ? jumps(at: tempo).upperBound + coarseness : 0)
    }

    /// The most of it that is kept: what may be repeated, what is looked at, and some to come.
    var capacity: Int { history + view(at: 128) + look }

    /// How much of what was played may be repeated.
    var history: Int { longest + 2 * coarseness }
}
