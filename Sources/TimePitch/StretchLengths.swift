internal import Sound

/// How long what is in a stretch, in frames of its rate.
struct StretchLengths: Sendable {
    /// How long one stretch of sound fades into the other.
    let fade: Int
    /// The shortest and, up to tempo 2.25, the longest that is left out or repeated at once: periods of 400 down to 40 Hz.
    let shortest: Int
    let longest: Int
    /// How far ahead a place for it is looked for.
    let look: Int
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
        longest = frames(milliseconds: 25)
        look = frames(milliseconds: 25)
        pace = frames(milliseconds: 10)
        second = frames(milliseconds: 20)
    }

    /// What may be left out or repeated at once at `tempo`. A fade must be through before the next splice is due, so the faster it goes
    /// the more is left out, and between tempo 4 and 12 so much more that words are heard of what is skimmed.
    func jumps(at tempo: Double) -> ClosedRange<Int> {
        let slope = abs(tempo - 1)
        let fastest = 128.0 - 1
        let between = Double(second) * min(max(tempo / 4, 1), 3)
        let most = tempo > 1 ? Int(min(slope * between, fastest * Double(second))) : 0
        let least = max(shortest, Int(Double(fade) * slope))
        guard most > longest else { return min(least, longest)...longest }
        return max(min(least, most), most - longest)...most
    }

    /// How far from where it should be the sound may be: a jump leads from one side to the other.
    func bound(at tempo: Double) -> Int { max((jumps(at: tempo).upperBound + longest) / 2, longest) }

    /// How much sound must be known to plan.
    func view(at tempo: Double) -> Int {
        look + fade + 2 * coarseness + (tempo > 1 ? jumps(at: tempo).upperBound + coarseness : 0)
    }

    /// The most of it that is kept: what may be repeated, what is looked at, and some to come.
    var capacity: Int { history + view(at: 128) + look }

    /// How much of what was played may be repeated.
    var history: Int { longest + 2 * coarseness }
}
