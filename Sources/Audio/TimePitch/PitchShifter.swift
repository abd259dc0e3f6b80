internal import Glibc
internal import TenfourAudioCore

/// Plays sound faster or slower, and so higher or lower, by reading it between its samples: by a windowed sinc of 16 zeros each
/// side, wide enough for what it leaves to have no frequencies above what it can hold. At ratio 1 it gives what it got, bit by
/// bit.
struct PitchShifter: ~Copyable, Sendable {
    var input: PitchShifterInput

    private let channelCount: Int
    private let kernel: SincKernel
    private var weights: FixedBuffer<Float>
    /// In frames of output.
    private let rampLength: Int
    /// Frames of input in a frame of output.
    private(set) var ratio = 1.0
    private var target = 1.0
    private var step = 0.0
    private var rampLeft = 0
    /// On the way to a whole frame, from which on nothing has to be read between samples.
    private var isSettling = false

    init(_ format: LPCMFormat) {
        channelCount = format.channelCount
        kernel = SincKernel()
        rampLength = max(format.rate.hertz / 100, 1)
        weights = FixedBuffer(repeating: 0, count: 2 * kernel.reach(at: Self.most))
        input = PitchShifterInput(channelCount: format.channelCount, reach: kernel.reach(at: Self.most))
    }

    /// The highest ratio: two octaves up.
    static var most: Double { 4 }

    /// Goes to `target` within 10 ms.
    mutating func turn(to target: Double) {
        guard target != self.target else { return }
        self.target = target
        isSettling = false
        step = (target - ratio) / Double(rampLength)
        rampLeft = rampLength
    }

    mutating func clear() {
        input.removeAll()
        (ratio, rampLeft, isSettling) = (target, 0, false)
    }

    private var isExact: Bool { ratio == 1 && target == 1 && rampLeft == 0 && input.fraction == 0 }

    /// How many frames of input are missing before the next frame of output can be given; zero when it can.
    var need: Int { isExact ? max(1 - input.ahead, 0) : max(kernel.reach(at: max(ratio, target)) + 1 - input.ahead, 0) }

    /// Gives the next frames into `output` from the frame `start` on, until it is full or input is missing; `isLast` says that
    /// no more comes. Returns how many.
    mutating func give(into output: inout MutableSpan<Float>, from start: Int, isLast: Bool) -> Int {
        let end = output.count / channelCount
        var at = start
        while at < end, input.ahead > 0, isLast || need == 0 {
            if isExact {
                let count = min(end - at, input.ahead)
                for index in 0..<count * channelCount { output[at * channelCount + index] = input[index] }
                input.advance(by: count)
                at += count
            } else {
                interpolate(into: &output, at)
                at += 1
                advance()
            }
        }
        return at - start
    }

    private mutating func interpolate(into output: inout MutableSpan<Float>, _ at: Int) {
        let cut = 1 / max(ratio, 1)
        let reach = kernel.reach(at: ratio)
        let frames = max(1 - reach, -input.behind)...min(reach, input.ahead - 1)
        kernel.weigh(frames, around: input.fraction, cut: Float(cut), into: &weights)
        for channel in 0..<channelCount {
            var sum: Float = 0
            var index = frames.lowerBound * channelCount + channel
            for place in 0..<frames.count {
                sum += input[index] * weights[place]
                index += channelCount
            }
            output[at * channelCount + channel] = sum
        }
    }

    private mutating func advance() {
        input.advance(by: ratio)
        if rampLeft > 0 {
            rampLeft -= 1
            ratio += step
            guard rampLeft == 0 else { return }
            if isSettling { input.round() }
            ratio = target
            isSettling = false
        }
        if target == 1, rampLeft == 0, !isExact {
            // Two cents for 10 ms.
            isSettling = true
            step = 0
            ratio = 1 + (1 - input.fraction) / Double(rampLength)
            rampLeft = rampLength
        }
    }
}

/// What a transposer reads from: sound to come, a little of what was, and where each frame of it comes from.
struct PitchShifterInput: ~Copyable, Sendable {
    private let channelCount: Int
    private let history: Int
    private let capacity: Int
    private var samples: FixedBuffer<Float>
    private var positions: FixedBuffer<Double>
    /// Frames.
    private var count = 0
    private var sampleCount = 0
    /// The frame before, or at, the one that is wanted next, and how far behind it that lies.
    private var place = 0
    private(set) var fraction = 0.0

    /// The most that is put in at once.
    static var block: Int { 256 }

    init(channelCount: Int, reach: Int) {
        self.channelCount = channelCount
        history = reach
        capacity = 4 * reach + 8 * Self.block
        samples = FixedBuffer(repeating: 0, count: capacity * channelCount)
        positions = FixedBuffer(repeating: 0, count: capacity)
    }

    /// Frames from the next on, and before it.
    var ahead: Int { count - place }
    var behind: Int { place }

    /// Where the frame that is wanted next comes from. nil where that is not here yet.
    var position: Double? {
        guard place < count else { return nil }
        guard place + 1 < count else { return positions[place] + fraction }
        return positions[place] + (positions[place + 1] - positions[place]) * fraction
    }

    /// Counted in samples from the next frame on.
    subscript(index: Int) -> Float { samples[place * channelCount + index] }

    mutating func removeAll() { (count, sampleCount, place, fraction) = (0, 0, 0, 0) }

    /// Makes room for a block.
    mutating func makeRoom() {
        let forgotten = min(place, count) - history
        guard capacity - count < Self.block, forgotten > 0 else { return }
        for index in forgotten * channelCount..<sampleCount {
            samples[index - forgotten * channelCount] = samples[index]
        }
        for index in forgotten..<count { positions[index - forgotten] = positions[index] }
        count -= forgotten
        place -= forgotten
        sampleCount -= forgotten * channelCount
    }

    mutating func beginFrame(at position: Double) {
        positions[count] = position
        count += 1
    }

    mutating func append(_ sample: Float) {
        samples[sampleCount] = sample
        sampleCount += 1
    }

    mutating func advance(by frames: Int) { place += frames }

    mutating func advance(by frames: Double) {
        fraction += frames
        let whole = fraction.rounded(.down)
        place += Int(whole)
        fraction -= whole
    }

    /// To the nearest frame.
    mutating func round() {
        place += fraction < 0.5 ? 0 : 1
        fraction = 0
    }
}

/// A sinc in a Kaiser window, from a table of 512 places between two zeros.
struct SincKernel: ~Copyable, Sendable {
    private var table: FixedBuffer<Float>

    private static var zeros: Int { 16 }
    private static var places: Int { 512 }
    /// Side lobes below −80 dB.
    private static var beta: Double { 8 }

    init() {
        let count = Self.zeros * Self.places
        table = FixedBuffer(repeating: 0, count: count + 2)
        table[0] = 1
        for index in 1..<count {
            let angle = Double.pi * Double(index) / Double(Self.places)
            let side = Double(index) / Double(count)
            let window = Self.bessel(Self.beta * (1 - side * side).squareRoot()) / Self.bessel(Self.beta)
            table[index] = index % Self.places == 0 ? 0 : Float(sin(angle) / angle * window)
        }
    }

    /// How many frames each side count where `ratio` frames are read for one.
    func reach(at ratio: Double) -> Int { Int((Double(Self.zeros) * max(ratio, 1)).rounded(.up)) }

    /// What each of `frames`, counted from a frame, counts for the place that lies a `fraction` behind that, where only the
    /// share `cut` of all frequencies is left.
    func weigh(_ frames: ClosedRange<Int>, around fraction: Double, cut: Float, into weights: inout FixedBuffer<Float>)
    {
        let end = Float(Self.zeros * Self.places)
        let step = cut * Float(Self.places)
        for index in 0..<frames.count {
            let place = abs((Float(frames.lowerBound + index) - Float(fraction)) * step)
            guard place < end else {
                weights[index] = 0
                continue
            }
            let before = Int(place)
            let share = place - Float(before)
            let (one, two) = (table[before], table[before + 1])
            weights[index] = (one + (two - one) * share) * cut
        }
    }

    /// The modified Bessel function of the first kind and order 0, by its series.
    private static func bessel(_ value: Double) -> Double {
        var (sum, term, index) = (1.0, 1.0, 1.0)
        while term > 1e-12 * sum {
            term *= (value / 2 / index) * (value / 2 / index)
            sum += term
            index += 1
        }
        return sum
    }
}
