internal import Glibc
internal import TenfourAudioCore

/// Changes speed and pitch together by interpolation with a windowed sinc of 16 zero crossings per side, wide enough to
/// prevent aliasing. At ratio 1 the output equals the input bit by bit.
struct PitchShifter: ~Copyable, Sendable {
    var input: PitchShifterInput

    private let channelCount: Int
    private let kernel: SincKernel
    private var weights: FixedBuffer<Float>
    /// The duration of a change of the ratio, in output frames.
    private let rampLength: Int
    /// The present number of input frames per output frame.
    private(set) var ratio = 1.0
    /// The ratio at the end of the present change.
    private var target = 1.0
    /// The change of the ratio per output frame.
    private var step = 0.0
    private var rampLeft = 0
    /// Whether the position is being moved to a whole frame. From the whole frame on, no interpolation is needed.
    private var isReturningToWholeFrame = false

    init(_ format: LPCMFormat) {
        channelCount = format.channelCount
        kernel = SincKernel()
        rampLength = max(format.rate.hertz / 100, 1)
        weights = FixedBuffer(repeating: 0, count: 2 * kernel.reach(at: Self.most))
        input = PitchShifterInput(channelCount: format.channelCount, reach: kernel.reach(at: Self.most))
    }

    /// The highest ratio: two octaves up.
    static var most: Double { 4 }

    /// Changes the ratio to `target` within 10 ms.
    mutating func setRatio(to target: Double) {
        guard target != self.target else { return }
        self.target = target
        isReturningToWholeFrame = false
        step = (target - ratio) / Double(rampLength)
        rampLeft = rampLength
    }

    mutating func clear() {
        input.removeAll()
        (ratio, rampLeft, isReturningToWholeFrame) = (target, 0, false)
    }

    private var isExact: Bool { ratio == 1 && target == 1 && rampLeft == 0 && input.fraction == 0 }

    /// The number of input frames needed before the next output frame can be rendered.
    var framesNeeded: Int {
        isExact ? max(1 - input.ahead, 0) : max(kernel.reach(at: max(ratio, target)) + 1 - input.ahead, 0)
    }

    /// Renders output frames from `start` on until `output` is full or input is missing. `isLast` is true if no more
    /// input follows. Returns the number of frames rendered.
    mutating func render(into output: inout MutableSpan<Float>, from start: Int, isLast: Bool) -> Int {
        let end = output.count / channelCount
        var at = start
        while at < end, input.ahead > 0, isLast || framesNeeded == 0 {
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
        kernel.score(frames, around: input.fraction, cut: Float(cut), into: &weights)
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
            if isReturningToWholeFrame { input.round() }
            ratio = target
            isReturningToWholeFrame = false
        }
        if target == 1, rampLeft == 0, !isExact {
            // Moves the position to a whole frame. This shifts the pitch by at most two cents for 10 ms.
            isReturningToWholeFrame = true
            step = 0
            ratio = 1 + (1 - input.fraction) / Double(rampLength)
            rampLeft = rampLength
        }
    }
}

/// The input of a `PitchShifter`: audio to be rendered, a little history, and the input position of each frame.
struct PitchShifterInput: ~Copyable, Sendable {
    private let channelCount: Int
    private let history: Int
    private let capacity: Int
    private var samples: FixedBuffer<Float>
    private var positions: FixedBuffer<Double>
    /// The number of frames in `samples`.
    private var count = 0
    /// The number of samples of all channels in `samples`.
    private var sampleCount = 0
    /// The integer part of the next frame's position in `samples`, in frames.
    private var place = 0
    /// The fractional part of the next frame's position, 0..<1.
    private(set) var fraction = 0.0

    /// The maximum number of frames appended by one call.
    static var block: Int { 256 }

    init(channelCount: Int, reach: Int) {
        self.channelCount = channelCount
        history = reach
        capacity = 4 * reach + 8 * Self.block
        samples = FixedBuffer(repeating: 0, count: capacity * channelCount)
        positions = FixedBuffer(repeating: 0, count: capacity)
    }

    /// The number of frames in `samples` from the next frame on.
    var ahead: Int { count - place }
    /// The number of frames in `samples` before the next frame.
    var behind: Int { place }

    /// The position of the next frame in the input of the whole effect; nil if this frame has not been appended yet.
    var position: Double? {
        guard place < count else { return nil }
        guard place + 1 < count else { return positions[place] + fraction }
        return positions[place] + (positions[place + 1] - positions[place]) * fraction
    }

    /// The sample at `index`, relative to the first sample of the next frame.
    subscript(index: Int) -> Float { samples[place * channelCount + index] }

    mutating func removeAll() { (count, sampleCount, place, fraction) = (0, 0, 0, 0) }

    /// Drops history so that a block of input can be appended.
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

    /// Rounds the position to the nearest frame.
    mutating func round() {
        place += fraction < 0.5 ? 0 : 1
        fraction = 0
    }
}

/// A Kaiser-windowed sinc, from a table of 512 values between two zero crossings.
struct SincKernel: ~Copyable, Sendable {
    private var table: FixedBuffer<Float>

    private static var zeros: Int { 16 }
    private static var places: Int { 512 }
    /// The window's parameter: 8 gives side lobes below −80 dB.
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

    /// The number of frames per side that contribute at `ratio` input frames per output frame.
    func reach(at ratio: Double) -> Int { Int((Double(Self.zeros) * max(ratio, 1)).rounded(.up)) }

    /// Computes the weights of `frames` for a position `fraction` after the reference frame. The weights include a
    /// low-pass filter, whose cut-off frequency is `cut` times half the sample rate.
    func score(_ frames: ClosedRange<Int>, around fraction: Double, cut: Float, into weights: inout FixedBuffer<Float>)
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
