internal import TenfourAudioCore

/// The lengths that a `TimeStretcher` uses, in frames.
struct TimeStretcherLengths: Sendable {
    /// The length of a cross-fade.
    let fade: Int
    /// The shortest and, up to tempo 2, the longest splice: pitch periods of 400 down to 50 Hz.
    let shortest: Int
    let longest: Int
    /// How far ahead a splice position is searched.
    let searchLength: Int
    /// The maximum drift from the exact timing.
    private let maximumDrift: Int
    /// The length of a copy while no splice is possible.
    let pace: Int
    /// The audio between two splices at high tempo.
    private let second: Int
    /// The search uses means of this many frames first, then all frames around the best.
    let coarseness: Int

    init(_ rate: SampleRate) {
        func frames(milliseconds: Int) -> Int { max(rate.hertz * milliseconds / 1_000, 8) }
        coarseness = max(rate.hertz / 12_000, 1)
        fade = frames(milliseconds: 12)
        shortest = frames(milliseconds: 5) / 2
        longest = frames(milliseconds: 20)
        maximumDrift = frames(milliseconds: 18)
        searchLength = frames(milliseconds: 20)
        pace = frames(milliseconds: 10)
        second = frames(milliseconds: 20)
    }

    /// The permitted splice lengths at `tempo`. A cross-fade must end before the next splice, so splices grow with the
    /// tempo; above tempo 16 they are up to twice as long, so that words are heard when skimming.
    func jumps(at tempo: Double) -> ClosedRange<Int> {
        let slope = abs(tempo - 1)
        let fastest = 128.0 - 1
        let between = Double(second) * min(max(tempo / 16, 1), 2)
        let most = tempo > 1 ? Int(min(slope * between, fastest * Double(second))) : 0
        let least = max(shortest, Int(Double(fade) * slope))
        guard most > longest else { return min(least, longest)...longest }
        return max(min(least, most), most - longest)...most
    }

    /// The maximum drift at `tempo`: a splice leads from one side to the other.
    func bound(at tempo: Double) -> Int {
        let most = jumps(at: tempo).upperBound
        return most > longest ? (most + longest) / 2 : maximumDrift
    }

    /// The splice length that must be permitted before a search starts, so that there is a choice.
    func choice(at tempo: Double) -> Int {
        let jumps = jumps(at: tempo)
        return jumps.lowerBound + jumps.count * 2 / 5
    }

    /// The audio needed to plan a splice.
    func view(at tempo: Double) -> Int {
        searchLength + fade + 2 * coarseness + (tempo > 1 ? jumps(at: tempo).upperBound + coarseness : 0)
    }

    /// The capacity: history, search range and some audio to come.
    var capacity: Int { history + view(at: 128) + searchLength }

    /// The history that may be repeated.
    var history: Int { longest + 2 * coarseness }
}
