internal import TenfourAudioCore
internal import TenfourEffects
internal import TenfourSystem

/// Takes blocks from the ring and renders the frames that the output requests, without a click where audio starts, ends
/// or jumps.
///
/// Reads no clock. Runs on the audio thread, or on the thread that writes a file. While open, the renderer plays. When
/// closed, it fades out within 8 ms and keeps its position; when opened again, it continues with the next frame. Audio
/// of an earlier generation also fades out within 8 ms and is discarded. On an underrun the last sample fades out.
struct Renderer: ~Copyable, Sendable {
    private(set) var timeline = PlaybackTimeline()
    /// The number of frames taken from the ring, played or not. It wraps.
    private(set) var consumed = 0
    /// The number of frames played in total.
    private(set) var played = 0

    private let format: LPCMFormat
    private let blocks: RingBufferConsumer<AudioBlock>
    /// Passes on what is heard; nil if nobody asked for it.
    private var tap: TapWriter?
    private var block = AudioBlock()
    /// The number of frames of `block` already consumed.
    private var offset = 0
    /// The gain of the fade at a start or an end: 0 while silent, 1 at full level.
    private var transitionLevel: Float = 0
    /// The change of `transitionLevel` per frame.
    private let transitionStep: Float
    /// The gain set by the user. It is applied to audio taken from the ring, and not in the effect chain before the
    /// ring. So a change is heard without the ring's delay.
    private var volume = Ramp(1)
    /// The gain of a fade-in or fade-out that the user requested.
    private var fade = Ramp(1)
    private var requested = RendererRequest()
    /// The last frame that was rendered.
    private var last = InlineArray<8, Float>(repeating: 0)
    /// The frame that fades out, held constant.
    private var tail = InlineArray<8, Float>(repeating: 0)
    /// The gain with which `tail` fades out; 0 if it has faded out.
    private var tailGain: Float = 0

    /// The length of a fade at a start or an end, in milliseconds.
    private static var transitionMilliseconds: Float { 8 }

    /// Creates a closed renderer. `format` has at most eight channels. Without `softensEdges`, audio starts and ends with
    /// its first and last frame at full level: a file gets exactly the samples that were read.
    init(
        format: LPCMFormat, blocks: consuming RingBufferConsumer<AudioBlock>, tap: consuming TapWriter? = nil,
        softensEdges: Bool = true
    ) {
        precondition(format.channelCount <= 8, "a renderer supports at most eight channels")
        self.format = format
        self.blocks = blocks
        self.tap = tap
        transitionStep = softensEdges ? 1_000 / (Self.transitionMilliseconds * Float(format.rate.hertz)) : 1
    }

    /// Fills the first `frameCount` frames of `samples`, the first of which is heard at `moment`.
    @_noAllocation @_noLocks
    mutating func pull(
        _ frameCount: Int, into samples: inout FixedBuffer<Float>, at moment: Instant, _ requested: RendererRequest
    ) {
        apply(requested)
        var frame = 0
        while frame < frameCount {
            if transitionLevel <= 0 {
                // Sets the new gain without a ramp, which causes no click because the previous audio has faded out.
                if requested.fade.duration == 0 { fade = Ramp(requested.fade.gain) }
                if block.generation < requested.generation { skip(to: requested.generation) }
            }
            if offset == block.frameCount {
                let wasStale = block.generation < requested.generation
                // Fades out the last frame if no block follows, or if a stale block ended before its own fade-out was
                // complete.
                if !nextBlock() || wasStale && block.generation >= requested.generation { fadeOutLastFrame() }
            }
            // Does not play a block of a later generation until a request has that generation.
            let isPlayable = offset < block.frameCount && block.generation <= requested.generation
            if !isPlayable { fadeOutLastFrame() }
            guard isPlayable, requested.isOpen || transitionLevel > 0 else {
                renderSilence(frame..<frameCount, of: &samples, at: moment)
                return
            }
            let isLeaving = !requested.isOpen || block.generation < requested.generation
            record(frame, moment)
            let end = min(frameCount, frame + block.frameCount - offset)
            let (begin, place, channelCount) = (frame, position(at: offset), format.channelCount)
            let heardAt = start(of: begin, moment)
            frame = play(frame..<end, of: &samples, isLeaving: isLeaving)
            tap?.record(begin..<frame, of: samples, channelCount: channelCount, from: block, at: place, heardAt)
        }
    }
}

// MARK: Tap
extension Renderer {
    /// Wakes the thread of the tap if it has something to do.
    mutating func wakeTap() { tap?.wake() }

    /// Whether the tap takes more blocks now.
    mutating func tapHasRoom() -> Bool { tap?.hasRoom() ?? true }
}

// MARK: Stale blocks
extension Renderer {
    /// Discards blocks of generations before `generation`, so that the ring has space even while nothing is rendered.
    mutating func discard(before generation: Int) {
        guard block.generation < generation else { return }
        fadeOutLastFrame()
        skip(to: generation)
    }
}

// MARK: Rendering
extension Renderer {
    @_noAllocation @_noLocks
    private mutating func apply(_ requested: RendererRequest) {
        if requested.volume.word != self.requested.volume.word { volume.begin(requested.volume, rate: format.rate) }
        if requested.fade.word != self.requested.fade.word, requested.fade.duration > 0 {
            if transitionLevel <= 0, requested.fade.gain > 0 { fade = Ramp(0) }
            fade.begin(requested.fade, rate: format.rate)
        }
        self.requested = requested
    }

    /// Takes the next block from the ring into `block`. Returns false if the ring is empty.
    @_noAllocation @_noLocks
    private mutating func nextBlock() -> Bool {
        guard blocks.pop(into: &block) else { return false }
        offset = 0
        return true
    }

    /// Discards blocks until the block of `generation` or a later one is reached, or the ring is empty.
    @_noAllocation @_noLocks
    private mutating func skip(to generation: Int) {
        while block.generation < generation {
            consumed &+= block.frameCount - offset
            offset = block.frameCount
            guard nextBlock() else { return }
        }
    }

    /// Starts a fade-out of the last frame, held constant, since no more audio is available.
    @_noAllocation @_noLocks
    private mutating func fadeOutLastFrame() {
        guard transitionLevel > 0 else { return }
        transitionLevel = 0
        tail = last
        tailGain = 1
    }

    @_noAllocation @_noLocks
    private mutating func record(_ frame: Int, _ moment: Instant) {
        timeline.record(
            PlaybackTimeline.Segment(
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

    /// Renders `frames` of the output, or fewer if the fade-out is complete earlier (`isLeaving`) or the block ends.
    /// Returns the index after the last rendered frame.
    @_noAllocation @_noLocks
    private mutating func play(_ frames: Range<Int>, of samples: inout FixedBuffer<Float>, isLeaving: Bool) -> Int {
        let channels = format.channelCount
        for frame in frames {
            if isLeaving {
                transitionLevel -= transitionStep
                if transitionLevel <= 0 {
                    transitionLevel = 0
                    return frame
                }
            } else if transitionLevel < 1 {
                transitionLevel = min(transitionLevel + transitionStep, 1)
            }
            volume.advance()
            fade.advance()
            let gain = transitionLevel * transitionLevel * (3 - 2 * transitionLevel) * volume.value * fade.value
            for channel in 0..<channels {
                var value = block.samples[offset * channels + channel] * gain
                if tailGain > 0 { value += tail[channel] * tailGain }
                last[channel] = value
                samples[frame * channels + channel] = value
            }
            if tailGain > 0 { tailGain = max(tailGain - transitionStep, 0) }
            offset += 1
            consumed &+= 1
            played += 1
        }
        return frames.upperBound
    }

    /// Renders the rest of a fade-out and then silence. The timeline keeps the position at which playback continues.
    @_noAllocation @_noLocks
    private mutating func renderSilence(_ frames: Range<Int>, of samples: inout FixedBuffer<Float>, at moment: Instant)
    {
        timeline.record(
            PlaybackTimeline.Segment(
                start: start(of: frames.lowerBound, moment), position: position(at: offset), rate: 0, item: block.item,
                generation: block.generation, isExact: block.isExact))
        let channels = format.channelCount
        for frame in frames {
            for channel in 0..<channels {
                let value = tail[channel] * tailGain
                last[channel] = value
                samples[frame * channels + channel] = value
            }
            tailGain = max(tailGain - transitionStep, 0)
        }
    }
}
