internal import Synchronization
internal import TenfourAudioCore
internal import TenfourEffects
internal import TenfourSystem

/// The card's end of a replay: it adds the replay to other audio, which is played more softly meanwhile.
///
/// Use it on the thread that writes to the card. Nothing is allocated after `init`.
struct LoudspeakerReplay: ~Copyable, Sendable {
    private let replays: Replays
    private var reader: RecordedAudioReader
    private var volume: Volume
    private var sound: FixedBuffer<Float>

    /// The gain of a replay, and that of other audio during a replay. Their sum is 1, so that both together do not clip.
    static let gain: Float = 0.75
    static let gainOfOthers: Float = 0.25
    /// The time in which a replay is faded in and out.
    private static let fade = Duration.milliseconds(10)

    /// `period` is the number of frames that the card takes at a time.
    init(
        _ replays: Replays, _ pieces: consuming RingBufferConsumer<RecordedAudio>, format: LPCMFormat,
        period: FrameCount
    ) {
        self.replays = replays
        reader = RecordedAudioReader(pieces)
        volume = Volume(format: format, gain: 0)
        sound = FixedBuffer(repeating: 0, count: period.rawValue * format.channelCount)
    }

    /// Whether a replay is heard. Takes over whether it is to be heard; `isMuted` silences it, although it goes on.
    mutating func update(isMuted: Bool) -> Bool {
        let isPlaying = replays.isPlaying
        let gain = isPlaying && !isMuted ? Self.gain : 0
        if gain != volume.target { volume.fade(to: gain, over: Self.fade) }
        return isPlaying
    }

    /// Adds the next audio of the replay to `samples`, which has the length of a period.
    mutating func add(to samples: inout MutableSpan<Float>) {
        let count = reader.fill(&sound)
        guard count > 0 else { return }
        replays.consumedCount.add(count, ordering: .releasing)
        Self.apply(&volume, to: &sound)
        for index in samples.indices { samples[index] += sound[index] }
    }

    /// Static, so that the compiler permits access to two properties at once.
    private static func apply(_ volume: inout Volume, to sound: inout FixedBuffer<Float>) {
        var samples = sound.mutableSpan
        volume.apply(to: &samples)
    }
}
