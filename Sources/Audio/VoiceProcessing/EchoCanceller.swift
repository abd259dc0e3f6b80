/// Removes the echo of a loudspeaker from a microphone's audio, by an adaptive filter that models the path between
/// both.
///
/// The filter is a partitioned-block frequency-domain Kalman filter (Enzner and Vary, "Frequency-domain adaptive Kalman
/// filter for acoustic echo control in hands-free telephones", 2006; with partitions: Kuech, Mabande and Enzner, 2014).
/// It needs no detector of double talk: the louder the near end is compared with the expected residual echo, the less
/// it adapts. `ResidualEchoGate` removes what remains of the echo.
///
/// Use it on one thread at a time. Nothing is allocated after `init`.
@safe
public struct EchoCanceller: ~Copyable, @unchecked Sendable {
    /// The number of frames in a block: 10 ms at 48 000 Hz.
    public static var blockLength: Int { @_noAllocation @_noLocks get { 480 } }

    /// The duration of the modelled echo path, in frames.
    public var pathLength: Int { partitionCount * Self.blockLength }

    private static var length: Int { RealFourier.length }
    private static var bins: Int { RealFourier.binCount }
    /// The share of the modelled path that lasts from one block to the next. A value nearer to 1 follows a moving
    /// speaker more slowly, and is disturbed less by double talk.
    private static var transition: Float { 0.9998 }
    /// The variance of the path's coefficients before anything is known. Later partitions expect less, as sound decays.
    private static var firstVariance: Float { 0.5 }
    private static var decay: Float { 0.88 }
    /// How much the near end's power counts more than measured, since it is measured over two blocks only.
    private static var caution: Float { 3 }
    /// The partitions whose coefficients are limited to one block's length after each block. It costs two transforms
    /// each, so the partitions take turns.
    private static var limitedCount: Int { 4 }
    /// The factor by which the covariance of a block in a window is less than that of a whole window.
    private static var share: Float { Float(blockLength) / Float(length) }

    private let fourier = RealFourier()
    private let partitionCount: Int
    /// All numbers below, in one allocation.
    private let memory: UnsafeMutablePointer<Float>
    private let pathReal: UnsafeMutablePointer<Float>
    private let pathImaginary: UnsafeMutablePointer<Float>
    private let variance: UnsafeMutablePointer<Float>
    private let playedReal: UnsafeMutablePointer<Float>
    private let playedImaginary: UnsafeMutablePointer<Float>
    private let playedPower: UnsafeMutablePointer<Float>
    /// The energy of each spectrum of the reference.
    private let energies: UnsafeMutablePointer<Float>
    private let nearPower: UnsafeMutablePointer<Float>
    private let gain: UnsafeMutablePointer<Float>
    private let sumReal: UnsafeMutablePointer<Float>
    private let sumImaginary: UnsafeMutablePointer<Float>
    private let window: UnsafeMutablePointer<Float>
    private let scratch: UnsafeMutablePointer<Float>
    /// The partition of the newest spectrum of the reference.
    private var newest = 0
    private var nextLimited = 0
    /// The number of frames of silence that the reference ended with, as far as they count.
    private var silentCount = 0
    /// Smoothed power before and after cancellation.
    private var powerBefore: Float = 0
    private var powerAfter: Float = 0

    /// Creates a canceller for echo paths of up to `partitionCount` blocks.
    public init(partitionCount: Int = 20) {
        precondition(partitionCount > 0, "a path has a length")
        self.partitionCount = partitionCount
        let spectra = partitionCount * Self.bins
        let count = 6 * spectra + partitionCount + 4 * Self.bins + 2 * Self.length
        unsafe memory = .allocate(capacity: count)
        unsafe memory.initialize(repeating: 0, count: count)
        var next = unsafe memory
        func take(_ count: Int) -> UnsafeMutablePointer<Float> {
            defer { unsafe next += count }
            return unsafe next
        }
        unsafe pathReal = take(spectra)
        unsafe pathImaginary = take(spectra)
        unsafe variance = take(spectra)
        unsafe playedReal = take(spectra)
        unsafe playedImaginary = take(spectra)
        unsafe playedPower = take(spectra)
        unsafe energies = take(partitionCount)
        unsafe nearPower = take(Self.bins)
        unsafe gain = take(Self.bins)
        unsafe sumReal = take(Self.bins)
        unsafe sumImaginary = take(Self.bins)
        unsafe window = take(Self.length)
        unsafe scratch = take(Self.length)
        forget()
    }

    deinit { unsafe memory.deallocate() }

    /// Subtracts the echo of `reference` from `near`, and writes the subtracted echo to `echo`. All three have
    /// `blockLength` frames of one channel; `reference` is what the loudspeaker plays at the time at which `near` is
    /// captured.
    ///
    /// Audio thread. Exempt from the compiler's allocation check, which does not see through pointers. Reviewed by
    /// hand: nothing is allocated or freed here.
    @_semantics("no_performance_analysis")
    public mutating func process(
        _ near: inout MutableSpan<Float>, reference: Span<Float>, echo: inout MutableSpan<Float>
    ) {
        precondition(
            near.count == Self.blockLength && reference.count == Self.blockLength && echo.count == Self.blockLength,
            "a block has a fixed length")
        if !followsOnlySilence(reference) { insert(reference) }
        guard isReferenceAudible else {
            for index in echo.indices { echo[index] = 0 }
            return
        }
        estimate()
        var (before, after): (Float, Float) = (0, 0)
        let start = Self.length - Self.blockLength
        for index in 0..<Self.blockLength {
            let estimate = unsafe scratch[start &+ index]
            let rest = near[index] - estimate
            before += near[index] * near[index]
            after += rest * rest
            echo[index] = estimate
            near[index] = rest
            unsafe scratch[index] = 0
            unsafe scratch[start &+ index] = rest
        }
        for index in Self.blockLength..<start { unsafe scratch[index] = 0 }
        powerBefore = 0.9 * powerBefore + 0.1 * before
        powerAfter = 0.9 * powerAfter + 0.1 * after
        guard isPlausible(before: before, after: after) else { return restart(&near, &echo) }
        adapt()
        limit()
    }

    /// Forgets the echo path.
    public mutating func forget() {
        (powerBefore, powerAfter) = (0, 0)
        var expected = Self.firstVariance
        for partition in 0..<partitionCount {
            let first = partition * Self.bins
            for bin in first..<first + Self.bins {
                unsafe pathReal[bin] = 0
                unsafe pathImaginary[bin] = 0
                unsafe variance[bin] = expected
            }
            expected *= Self.decay
        }
        for bin in 0..<Self.bins { unsafe nearPower[bin] = 1e-7 }
    }
}

// MARK: - The steps of a block
extension EchoCanceller {
    /// Whether the window and all spectra hold silence, and the next block is silence, too: nothing would change.
    private mutating func followsOnlySilence(_ reference: Span<Float>) -> Bool {
        for index in reference.indices where reference[index] != 0 {
            silentCount = 0
            return false
        }
        let longest = Self.length + pathLength
        guard silentCount < longest else { return true }
        silentCount += Self.blockLength
        return false
    }

    private mutating func insert(_ reference: Span<Float>) {
        let kept = Self.length - Self.blockLength
        for index in 0..<kept { unsafe window[index] = window[index &+ Self.blockLength] }
        for index in 0..<Self.blockLength { unsafe window[kept &+ index] = reference[index] }
        newest = newest == 0 ? partitionCount - 1 : newest - 1
        let first = newest * Self.bins
        unsafe fourier.transform(window, toReal: playedReal + first, imaginary: playedImaginary + first)
        var (bin, sum): (Int, Float) = (first, 0)
        while bin < first &+ Self.bins {
            let power = unsafe playedReal[bin] * playedReal[bin] + playedImaginary[bin] * playedImaginary[bin]
            unsafe playedPower[bin] = power
            sum += power
            bin &+= 1
        }
        unsafe energies[newest] = sum
    }

    /// Whether the path holds audio above −96 dBFS. If it holds none, there is no echo, and nothing to learn.
    private var isReferenceAudible: Bool {
        var sum: Float = 0
        for partition in 0..<partitionCount { unsafe sum += energies[partition] }
        return sum > 1e-4
    }

    /// Whether the filter does not make the microphone louder, as it does after the path has changed.
    private func isPlausible(before: Float, after: Float) -> Bool {
        after.isFinite && before.isFinite && (powerAfter <= 1.3 * powerBefore + 1e-6)
    }

    /// Undoes the last subtraction, and begins anew.
    private mutating func restart(_ near: inout MutableSpan<Float>, _ echo: inout MutableSpan<Float>) {
        for index in near.indices {
            let sum = near[index] + echo[index]
            near[index] = sum.isFinite ? sum : 0
            echo[index] = 0
        }
        forget()
    }

    /// Writes the expected echo to the last `blockLength` numbers of `scratch`.
    private func estimate() {
        var bin = 0
        while bin < Self.bins {
            unsafe sumReal[bin] = 0
            unsafe sumImaginary[bin] = 0
            bin &+= 1
        }
        for partition in 0..<partitionCount {
            let place = (newest + partition) % partitionCount
            let (re, im) = unsafe (playedReal + place * Self.bins, playedImaginary + place * Self.bins)
            let (a, b) = unsafe (pathReal + partition * Self.bins, pathImaginary + partition * Self.bins)
            bin = 0
            while bin < Self.bins {
                unsafe sumReal[bin] += a[bin] * re[bin] - b[bin] * im[bin]
                unsafe sumImaginary[bin] += a[bin] * im[bin] + b[bin] * re[bin]
                bin &+= 1
            }
        }
        unsafe fourier.invert(real: sumReal, imaginary: sumImaginary, to: scratch)
    }

    /// Adapts the path to the rest of the last block, which is at the end of `scratch`.
    private func adapt() {
        unsafe fourier.transform(scratch, toReal: sumReal, imaginary: sumImaginary)
        weigh()
        let kept = Self.transition * Self.transition
        let lost = 1 - kept
        let halfShare = 0.5 * Self.share
        for partition in 0..<partitionCount {
            let first = (newest + partition) % partitionCount * Self.bins
            let (re, im, power) = unsafe (playedReal + first, playedImaginary + first, playedPower + first)
            let own = partition * Self.bins
            let (a, b, doubt) = unsafe (pathReal + own, pathImaginary + own, variance + own)
            var bin = 0
            while bin < Self.bins {
                let step = unsafe doubt[bin] * gain[bin]
                let (playedReal, playedImaginary) = unsafe (re[bin], im[bin])
                let (restReal, restImaginary) = unsafe (sumReal[bin], sumImaginary[bin])
                let (oldReal, oldImaginary) = unsafe (a[bin], b[bin])
                let newReal = oldReal + step * (playedReal * restReal + playedImaginary * restImaginary)
                let newImaginary = oldImaginary + step * (playedReal * restImaginary - playedImaginary * restReal)
                unsafe a[bin] = newReal
                unsafe b[bin] = newImaginary
                let learnt = unsafe halfShare * step * power[bin]
                let remaining = unsafe kept * (1 - learnt) * doubt[bin]
                unsafe doubt[bin] = remaining + lost * (newReal * newReal + newImaginary * newImaginary)
                bin &+= 1
            }
        }
    }

    /// Computes the Kalman gain of each frequency without its partition's factors: one by the expected power of the
    /// rest.
    private func weigh() {
        var bin = 0
        while bin < Self.bins {
            unsafe gain[bin] = 0
            bin &+= 1
        }
        for partition in 0..<partitionCount {
            let power = unsafe playedPower + (newest + partition) % partitionCount * Self.bins
            let doubt = unsafe variance + partition * Self.bins
            bin = 0
            while bin < Self.bins {
                unsafe gain[bin] += doubt[bin] * power[bin]
                bin &+= 1
            }
        }
        let (share, caution) = (Self.share, Self.caution)
        bin = 0
        while bin < Self.bins {
            let (re, im) = unsafe (sumReal[bin], sumImaginary[bin])
            let near: Float = unsafe 0.5 * (nearPower[bin] + re * re + im * im)
            unsafe nearPower[bin] = near
            let residual: Float = unsafe gain[bin] * share
            unsafe gain[bin] = 1 / (residual + caution * near + 1e-9)
            bin &+= 1
        }
    }

    /// Limits some partitions to a block's length, since a longer one would wrap around.
    private mutating func limit() {
        for _ in 0..<min(Self.limitedCount, partitionCount) {
            let own = nextLimited * Self.bins
            unsafe fourier.invert(real: pathReal + own, imaginary: pathImaginary + own, to: scratch)
            var index = Self.blockLength
            while index < Self.length {
                unsafe scratch[index] = 0
                index &+= 1
            }
            unsafe fourier.transform(scratch, toReal: pathReal + own, imaginary: pathImaginary + own)
            nextLimited = (nextLimited + 1) % partitionCount
        }
    }
}
