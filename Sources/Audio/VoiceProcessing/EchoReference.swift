internal import Glibc
public import TenfourAudioCore
public import TenfourSystem

/// What the loudspeaker plays, aligned with what the microphone captures.
///
/// Both cards say when they play and capture a frame, by the monotonic clock. `CardOffset` fits a line through these
/// times, so that the difference between the clocks of the two cards is followed without steps. The reference is
/// interpolated between the samples that were played.
///
/// Use it on the capture thread only. Nothing is allocated after `init`.
public struct EchoReference: ~Copyable, Sendable {
    /// By how much the reference is ahead of the time that the cards say, so that a card that says too long a delay
    /// does not make the echo come before its cause.
    public static var lead: Duration { Duration.milliseconds(4) }

    /// The number of times at which the reference was moved, because a card stood still or its delay changed.
    public private(set) var jumpCount = 0
    /// By how much the playback card's clock is faster than the capture card's, in parts per million.
    public var driftPartsPerMillion: Double { offset.driftPartsPerMillion }

    /// More than two seconds at 48 000 Hz.
    private static var historyCount: Int { 1 << 17 }
    private static var mask: Int { historyCount - 1 }

    private let ring: RingBufferConsumer<PlayedAudio>
    private let playedRate: Double
    private let ratio: Double
    private var history = FixedBuffer<Float>(repeating: 0, count: historyCount)
    private let filter = FractionalDelay()
    private var slot = PlayedAudio()
    /// The position after the newest frame of the history.
    private var end = 0
    /// The position after the last sample of the history that is not silence.
    private var audibleEnd = 0
    /// The position of the newest audio, and the time at which it is played; nil before the first. The time is averaged
    /// over several pieces, since a card's times jitter.
    private var newest: (position: Int, playedAt: Double)?
    private var offset: CardOffset
    /// The number of captured frames since the start.
    private var captured = 0

    /// `captureRate` and `playbackRate` are the cards' sample rates.
    public init(
        _ ring: consuming RingBufferConsumer<PlayedAudio>, captureRate: SampleRate, playbackRate: SampleRate
    ) {
        self.ring = ring
        playedRate = Double(playbackRate.hertz)
        ratio = Double(playbackRate.hertz) / Double(captureRate.hertz)
        offset = CardOffset(rate: Double(captureRate.hertz))
    }

    /// Records that the capture card missed `frameCount` frames.
    @_noAllocation @_noLocks
    public mutating func skip(_ frameCount: FrameCount) { captured &+= frameCount.rawValue }

    /// Begins a piece of captured audio whose first frame was at the microphone at `time`. `waiting` frames were
    /// captured before and are still to be read.
    ///
    /// Capture thread. Exempt from the compiler's allocation check, which does not see into `Double`'s functions.
    /// Reviewed by hand: nothing is allocated or freed here.
    @_semantics("no_performance_analysis")
    public mutating func begin(at time: Instant, waiting: Int = 0) {
        while ring.pop(into: &slot) { append() }
        guard let newest else { return }
        let sinceNewest = Double(time.nanoseconds) / 1e9 - newest.playedAt
        // More than the history holds: a card's time is wrong.
        guard abs(sinceNewest) < 2 else { return }
        let lead = Double(Instant.nanoseconds(in: Self.lead)) / 1e9
        let position = Double(newest.position) + (sinceNewest + lead) * playedRate
        let first = captured &+ waiting
        if offset.record(position - Double(first) * ratio, at: first) { jumpCount += 1 }
    }

    /// Fills `reference` with what is played while the next frames are captured, as many as fit.
    ///
    /// Capture thread. Exempt from the compiler's allocation check, like `begin`.
    @_semantics("no_performance_analysis")
    public mutating func read(into reference: inout MutableSpan<Float>) {
        for index in reference.indices {
            guard let offset = offset.next() else {
                reference[index] = 0
                captured &+= 1
                continue
            }
            reference[index] = sample(at: Double(captured) * ratio + offset)
            captured &+= 1
        }
    }

    private mutating func append() {
        guard slot.count > 0, slot.count <= 240 else { return }
        // Frames that found no room are silence. A longer gap than the history leaves only silence.
        let gap = max(0, min(slot.position - end, Self.historyCount))
        end = slot.position - gap
        for _ in 0..<gap {
            history[end & Self.mask] = 0
            end += 1
        }
        for index in 0..<slot.count {
            let sample = slot.samples[index]
            history[end & Self.mask] = abs(sample) <= 8 ? sample : 0
            end += 1
            if sample != 0 { audibleEnd = end }
        }
        let time = Double(slot.playedAt.nanoseconds) / 1e9
        guard let before = newest else {
            newest = (slot.position, time)
            return
        }
        let expected = before.playedAt + Double(slot.position - before.position) / playedRate
        let error = time - expected
        // A larger error is a jump.
        newest = (slot.position, abs(error) > 0.003 ? time : expected + error / 16)
    }

    private mutating func sample(at position: Double) -> Float {
        guard position > 64, position < 1e15 else { return 0 }
        let whole = Int(position)
        // A frame may be needed before it is written to the playback card.
        guard whole + FractionalDelay.reach < end else { return 0 }
        guard whole - FractionalDelay.reach > end - Self.historyCount else { return 0 }
        // While nobody is heard, there is nothing to interpolate.
        guard whole - FractionalDelay.reach < audibleEnd else { return 0 }
        return filter.sample(in: history, mask: Self.mask, at: whole, and: Float(position - Double(whole)))
    }
}

/// Interpolates between samples by a windowed sinc of 24 samples, tabulated at 64 places between two samples.
struct FractionalDelay: ~Copyable, Sendable {
    /// How many samples after the position are needed.
    static var reach: Int { 12 }
    private static var places: Int { 64 }
    private var table: FixedBuffer<Float>

    init() {
        let taps = 2 * Self.reach
        table = FixedBuffer(repeating: 0, count: (Self.places + 1) * taps)
        for place in 0...Self.places {
            let part = Double(place) / Double(Self.places)
            func weight(_ tap: Int) -> Double {
                let distance = Double(tap - Self.reach + 1) - part
                let sinc = distance == 0 ? 1 : sin(.pi * distance) / (.pi * distance)
                return sinc * (0.5 + 0.5 * cos(.pi * distance / Double(Self.reach + 1)))
            }
            let sum = (0..<taps).reduce(0) { $0 + weight($1) }
            for tap in 0..<taps { table[place * taps + tap] = Float(weight(tap) / sum) }
        }
    }

    /// Returns the value `part` (0..<1) of a sample after the sample at `whole`.
    func sample(in history: borrowing FixedBuffer<Float>, mask: Int, at whole: Int, and part: Float) -> Float {
        let taps = 2 * Self.reach
        let exact = part * Float(Self.places)
        let place = min(Int(exact), Self.places - 1)
        let rest = exact - Float(place)
        let first = whole - Self.reach + 1
        // Bare pointers, because a debug build takes ten times as long for the checks of each sample.
        return unsafe history.span.withUnsafeBufferPointer { history in
            unsafe table.span.withUnsafeBufferPointer { table in
                var (one, other): (Float, Float) = (0, 0)
                var (tap, row) = (0, place &* taps)
                while tap < taps {
                    let value = unsafe history[(first &+ tap) & mask]
                    unsafe one += value * table[row]
                    unsafe other += value * table[row &+ taps]
                    tap &+= 1
                    row &+= 1
                }
                return one + rest * (other - one)
            }
        }
    }
}
