internal import Synchronization
internal import TenfourAudioCore
internal import TenfourSoundCard
internal import TenfourSystem
internal import TenfourVoiceProcessing

/// The card's thread if time-pitch processing is on: at each request of the card it plays audio that the worker thread
/// has rendered.
struct TimePitchPlaybackLoop: ~Copyable, Sendable {
    private let controls: Controls
    private let sharedState: TimePitchSharedState
    private var output: PlaybackOutput
    private var source: RecordedAudioReader
    private var loudspeaker: LoudspeakerStage
    private var sound: FixedBuffer<Float>
    private var echo: PlayedAudioWriter?

    init(
        _ output: consuming PlaybackOutput, _ controls: Controls, _ sharedState: TimePitchSharedState,
        _ loudspeaker: consuming LoudspeakerStage, pieces: consuming RingBufferConsumer<RecordedAudio>,
        echo: consuming PlayedAudioWriter?
    ) {
        sound = FixedBuffer(repeating: 0, count: output.period.rawValue * output.format.channelCount)
        source = RecordedAudioReader(pieces)
        self.loudspeaker = loudspeaker
        self.output = output
        self.controls = controls
        self.sharedState = sharedState
        self.echo = echo
    }

    consuming func run(priority: RealTime) {
        output.fit(priority)
        while !controls.stops {
            switch output.wait() {
            case .interrupted(let interruption): sharedState.record(interruption)
            case .starting: discardWaiting()
            case .demand(_, _, let playedAt):
                sharedState.consumedCount.add(source.fill(&sound), ordering: .releasing)
                loudspeaker.update(from: controls)
                loudspeaker.apply(to: &sound)
                echo?.write(sound, playedAt: playedAt)
                output.write(sound)
                sharedState.recordDemand(output.period)
            }
        }
        output.finish()
    }

    /// Drops the audio that has come before the card begins to play.
    private mutating func discardWaiting() {
        var count = source.fill(&sound)
        while count > 0 {
            sharedState.consumedCount.add(count, ordering: .releasing)
            count = source.fill(&sound)
        }
    }
}
