internal import TenfourAudioCore

/// The lengths that a `TimeStretcher` uses, in frames.
struct TimeStretcherLengths: Sendable {
    /// The length of a cross-fade.
    let fade: Int
    /// The length of the shortest splice: the pitch period of a voice of 400 Hz.
    let shortest: Int
    /// The length of the longest splice up to tempo 2: the pitch period of a voice of 50 Hz.
    let longest: Int
    /// The length of the audio in which a splice position is searched.
    let searchLength: Int
    /// The maximum deviation from the exact timing, up to tempo 2.
    private let maximumDrift: Int
    /// The length of the audio that is copied while no splice is possible.
    let pace: Int
    /// The length of the audio between two splices at high tempo: 20 ms. Above tempo 16 it grows to twice this length.
    private let second: Int
    /// The number of frames in each group whose mean is used in the first step of the search. The second step uses all
    /// frames around the best group.
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

    /// The maximum deviation from the exact timing at `tempo`. It grows with the splice lengths, since a splice leads
    /// from a deviation in one direction to a deviation in the other.
    func bound(at tempo: Double) -> Int {
        let most = jumps(at: tempo).upperBound
        return most > longest ? (most + longest) / 2 : maximumDrift
    }

    /// The length of the splices that the deviation must permit before the search for a splice starts. It is longer
    /// than the shortest splice, so that several lengths are compared.
    func choice(at tempo: Double) -> Int {
        let jumps = jumps(at: tempo)
        return jumps.lowerBound + jumps.count * 2 / 5
    }

    /// The number of frames needed to plan a splice.
    func view(at tempo: Double) -> Int {
        searchLength + fade + 2 * coarseness + (tempo > 1 ? jumps(at: tempo).upperBound + coarseness : 0)
    }

    /// The capacity: history, the frames needed to plan a splice, and one search length more.
    var capacity: Int { history + view(at: 128) + searchLength }

    /// The number of past frames kept, which may be repeated.
    var history: Int { longest + 2 * coarseness }
}
