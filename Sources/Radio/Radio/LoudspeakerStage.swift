internal import Synchronization
internal import TenfourAudioCore
internal import TenfourEffects

/// The last step before the card: it sets the volume of received audio, and adds a replay and the tones for the
/// station's own user.
///
/// Use it on the thread that writes to the card. Nothing is allocated after `init`.
struct LoudspeakerStage: ~Copyable, Sendable {
    private var volume: Volume
    private var tones: SignalToneGenerator
    private var replay: LoudspeakerReplay?
    /// Whether the tones are muted, too.
    private var isMutedByUser = false

    /// Whether `update` was called. The first call sets the mute without a fade.
    private var isUpdated = false

    init(format: LPCMFormat, replay: consuming LoudspeakerReplay? = nil) {
        volume = Volume(format: format)
        tones = SignalToneGenerator(format: format)
        self.replay = replay
    }

    /// Takes over the volume, the mute, the next tone and whether a replay is heard. A change of the volume takes 10 ms.
    /// The user's own mute silences the tones, too.
    mutating func update(from controls: Controls) {
        isMutedByUser = controls.isSpeakerMuted.load(ordering: .relaxed)
        let isMuted = isMutedByUser || controls.mutesForHalfDuplex
        let isReplaying = replay?.update(isMuted: isMuted) ?? false
        let background =
            controls.isMutedByOtherSession.load(ordering: .relaxed)
            ? .muted : Background(rawValue: controls.background.load(ordering: .relaxed)) ?? .none
        let wanted = Float(bitPattern: controls.volume.load(ordering: .relaxed)) * background.gain
        let gain = isMuted ? 0 : isReplaying ? min(LoudspeakerReplay.gainOfOthers, wanted) : wanted
        if !isUpdated {
            isUpdated = true
            volume = Volume(format: volume.format, gain: gain)
        } else if gain != volume.target {
            volume.fade(to: gain)
        }
        if let tone = controls.takeTone() { tones.begin(tone) }
    }

    /// Applies the mute, the replay and the tones to the next audio.
    @_noAllocation @_noLocks
    mutating func apply(to sound: inout FixedBuffer<Float>) {
        Self.apply(&volume, &replay, &tones, isMutedByUser: isMutedByUser, to: &sound)
    }

    /// Exempt from the compiler's allocation check, which would take the end of a Span's lifetime for a deallocation.
    /// Reviewed by hand: nothing is freed here.
    @_semantics("no_performance_analysis")
    private static func apply(
        _ volume: inout Volume, _ replay: inout LoudspeakerReplay?, _ tones: inout SignalToneGenerator,
        isMutedByUser: Bool, to sound: inout FixedBuffer<Float>
    ) {
        var samples = sound.mutableSpan
        volume.apply(to: &samples)
        replay?.add(to: &samples)
        if !isMutedByUser { tones.add(to: &samples) }
    }
}
