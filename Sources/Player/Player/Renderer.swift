internal import TenfourAudioCore
internal import TenfourEffects
internal import TenfourRings

/// Takes blocks out of the ring and gives the output what it asks for, without a click wherever sound begins, ends or jumps.
///
/// Reads no clock and is told everything: on the audio thread, or wherever a file is written. What is open plays; what is closed
/// fades within a few milliseconds and stands still, and goes on with the next frame. Sound of a generation that is not wanted
/// any more fades as quickly and goes to waste. Where the ring runs dry, the last value fades in place of the sound.
struct Renderer: ~Copyable, Sendable {
    private(set) var timeline = Timeline()
    /// Frames taken out of the ring, played or not. Wraps.
    private(set) var taken = 0
    /// Frames that sounded, ever.
    private(set) var played = 0

    private let format: LPCMFormat
    private let blocks: RingBufferConsumer<AudioBlock>
    private var block = AudioBlock()
    /// How many frames of `block` are gone.
    private var offset = 0
    /// 0 where nothing is heard, 1 where everything is.
    private var opening: Float = 0
    private let step: Float
    /// Behind the ring and not in the chain before it, so that what is wanted of them is heard at once.
    private var volume = Ramp(1)
    private var fade = Ramp(1)
    private var orders = RendererRequest()
    /// What was given last, for each channel, and how much of it is added while it fades.
    private var last = InlineArray<2, Float>(repeating: 0)
    private var tail = InlineArray<2, Float>(repeating: 0)
    private var tailGain: Float = 0

    /// How long a beginning and an end take, in milliseconds.
    private static var transition: Float { 8 }

    /// Of one channel or two.
    init(format: LPCMFormat, blocks: consuming RingBufferConsumer<AudioBlock>) {
        precondition(format.channelCount <= 2, "a deck plays mono or stereo")
        self.format = format
        self.blocks = blocks
        step = 1_000 / (Self.transition * Float(format.rate.hertz))
    }

    /// Fills the first `frameCount` frames of `sound`, the first of which will be heard at `moment`.
    @_noAllocation @_noLocks
    mutating func pull(
        _ frameCount: Int, into sound: inout FixedBuffer<Float>, at moment: Instant, _ orders: RendererRequest
    ) {
        follow(orders)
        var frame = 0
        while frame < frameCount {
            if opening <= 0 {
                // What sounded before ended as faded as it was.
                if orders.fade.duration == 0 { fade = Ramp(orders.fade.gain) }
                if block.generation < orders.generation { skip(to: orders.generation) }
            }
            if offset == block.frameCount {
                let wasStale = block.generation < orders.generation
                // What faded was at its end before it was silent.
                if !take() || wasStale && block.generation >= orders.generation { runDry() }
            }
            // One that is ahead of the orders is for the next time, when they will have come.
            let isPlayable = offset < block.frameCount && block.generation <= orders.generation
            if !isPlayable { runDry() }
            guard isPlayable, orders.isOpen || opening > 0 else {
                rest(frame..<frameCount, of: &sound, at: moment)
                return
            }
            let isLeaving = !orders.isOpen || block.generation < orders.generation
            note(frame, moment)
            let end = min(frameCount, frame + block.frameCount - offset)
            frame = play(frame..<end, of: &sound, isLeaving: isLeaving)
        }
    }
}

// What is stale.
extension Renderer {
    /// Lets go of what is of an earlier generation, though nothing is asked for: the ring has room again.
    mutating func forget(before generation: Int) {
        guard block.generation < generation else { return }
        runDry()
        skip(to: generation)
    }
}

// The parts of a pull.
extension Renderer {
    @_noAllocation @_noLocks
    private mutating func follow(_ orders: RendererRequest) {
        if orders.volume.word != self.orders.volume.word { volume.begin(orders.volume, rate: format.rate) }
        if orders.fade.word != self.orders.fade.word, orders.fade.duration > 0 {
            if opening <= 0, orders.fade.gain > 0 { fade = Ramp(0) }
            fade.begin(orders.fade, rate: format.rate)
        }
        self.orders = orders
    }

    /// The next block. False when there is none, and what was is at its end.
    @_noAllocation @_noLocks
    private mutating func take() -> Bool {
        guard blocks.pop(into: &block) else { return false }
        offset = 0
        return true
    }

    /// Lets go of what is of an earlier generation.
    @_noAllocation @_noLocks
    private mutating func skip(to generation: Int) {
        while block.generation < generation {
            taken &+= block.frameCount - offset
            offset = block.frameCount
            guard take() else { return }
        }
    }

    /// There is nothing to fade: the last value does.
    @_noAllocation @_noLocks
    private mutating func runDry() {
        guard opening > 0 else { return }
        opening = 0
        tail = last
        tailGain = 1
    }

    @_noAllocation @_noLocks
    private mutating func note(_ frame: Int, _ moment: Instant) {
        timeline.note(
            Timeline.Stretch(
                start: start(of: frame, moment), position: position(at: offset), rate: block.rate, item: block.item,
                generation: block.generation, isExact: block.isExact))
    }

    @_noAllocation @_noLocks
    private func start(of frame: Int, _ moment: Instant) -> Instant {
        Instant(nanoseconds: moment.nanoseconds + Int64(frame) * 1_000_000_000 / Int64(format.rate.hertz))
    }

    @_noAllocation @_noLocks
    private func position(at offset: Int) -> Int64 {
        block.position + Int64(Double(offset) * block.rate * 1e9 / Double(format.rate.hertz))
    }

    /// Plays until the end of `frames` or until what leaves is silent. Returns up to where.
    @_noAllocation @_noLocks
    private mutating func play(_ frames: Range<Int>, of sound: inout FixedBuffer<Float>, isLeaving: Bool) -> Int {
        let channels = format.channelCount
        for frame in frames {
            if isLeaving {
                opening -= step
                if opening <= 0 {
                    opening = 0
                    return frame
                }
            } else if opening < 1 {
                opening = min(opening + step, 1)
            }
            volume.advance()
            fade.advance()
            let gain = opening * opening * (3 - 2 * opening) * volume.value * fade.value
            for channel in 0..<channels {
                var value = block.samples[offset * channels + channel] * gain
                if tailGain > 0 { value += tail[channel] * tailGain }
                last[channel] = value
                sound[frame * channels + channel] = value
            }
            if tailGain > 0 { tailGain = max(tailGain - step, 0) }
            offset += 1
            taken &+= 1
            played += 1
        }
        return frames.upperBound
    }

    /// Silence, after what still fades. The position stands where it goes on.
    @_noAllocation @_noLocks
    private mutating func rest(_ frames: Range<Int>, of sound: inout FixedBuffer<Float>, at moment: Instant) {
        timeline.note(
            Timeline.Stretch(
                start: start(of: frames.lowerBound, moment), position: position(at: offset), rate: 0, item: block.item,
                generation: block.generation, isExact: block.isExact))
        let channels = format.channelCount
        for frame in frames {
            for channel in 0..<channels {
                let value = tail[channel] * tailGain
                last[channel] = value
                sound[frame * channels + channel] = value
            }
            tailGain = max(tailGain - step, 0)
        }
    }
}
