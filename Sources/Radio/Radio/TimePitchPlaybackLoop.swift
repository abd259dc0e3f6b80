internal import Synchronization
internal import TenfourAudioCore
internal import TenfourRings
internal import TenfourSoundCard

/// The card's thread if time-pitch processing is on: at each request of the card it plays audio that the worker thread
/// has rendered.
struct TimePitchPlaybackLoop: ~Copyable, Sendable {
    private let controls: Controls
    private let sharedState: TimePitchSharedState
    private var output: PlaybackOutput
    private var source: TimePitchSource
    private var loudspeaker: LoudspeakerStage
    private var sound: FixedBuffer<Float>

    init(
        _ output: consuming PlaybackOutput, _ controls: Controls, _ sharedState: TimePitchSharedState,
        pieces: consuming RingBufferConsumer<RecordedAudio>
    ) {
        sound = FixedBuffer(repeating: 0, count: output.period.rawValue * output.format.channelCount)
        source = TimePitchSource(pieces)
        loudspeaker = LoudspeakerStage(format: output.format)
        self.output = output
        self.controls = controls
        self.sharedState = sharedState
    }

    consuming func run(priority: RealTime) {
        output.fit(priority)
        while !controls.stops {
            switch output.wait() {
            case .interrupted(let interruption): sharedState.record(interruption)
            case .demand:
                sharedState.consumedCount.add(source.fill(&sound), ordering: .releasing)
                loudspeaker.update(from: controls)
                loudspeaker.apply(to: &sound)
                output.write(sound)
                sharedState.recordDemand(output.period)
            }
        }
        output.finish()
    }
}

/// Reads a ring buffer of audio pieces as a sequence of samples.
struct TimePitchSource: ~Copyable, Sendable {
    private let pieces: RingBufferConsumer<RecordedAudio>
    private var piece = RecordedAudio()
    private var used = 0

    init(_ pieces: consuming RingBufferConsumer<RecordedAudio>) { self.pieces = pieces }

    /// Fills `sound`, with silence at the end if the audio does not suffice. Returns the number of samples that are not
    /// silence.
    @_noAllocation @_noLocks
    mutating func fill(_ sound: inout FixedBuffer<Float>) -> Int {
        var filled = 0
        while filled < sound.count {
            if used == piece.count {
                guard pieces.pop(into: &piece) else { break }
                used = 0
            }
            sound[filled] = piece.samples[used]
            used += 1
            filled += 1
        }
        for index in filled..<sound.count { sound[index] = 0 }
        return filled
    }
}
