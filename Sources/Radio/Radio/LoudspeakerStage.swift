internal import Synchronization
internal import TenfourAudioCore
internal import TenfourEffects
internal import TenfourSignalTones

/// The last step before the card: it mutes received audio, and adds the tones for the station's own user.
///
/// Use it on the thread that writes to the card. Nothing is allocated after `init`.
struct LoudspeakerStage: ~Copyable, Sendable {
    private var volume: Volume
    private var tones: SignalToneGenerator
    /// Whether the tones are muted, too.
    private var isMutedByUser = false

    /// Whether `update` was called. The first call sets the mute without a fade.
    private var isUpdated = false

    init(format: LPCMFormat) {
        volume = Volume(format: format)
        tones = SignalToneGenerator(format: format)
    }

    /// Takes over the mute and the next tone. A change of the mute takes 10 ms. The user's own mute silences the tones,
    /// too.
    mutating func update(from controls: Controls) {
        isMutedByUser = controls.isSpeakerMuted.load(ordering: .relaxed)
        let gain: Float = isMutedByUser || controls.mutesForHalfDuplex ? 0 : 1
        if !isUpdated {
            isUpdated = true
            volume = Volume(format: volume.format, gain: gain)
        } else if gain != volume.target {
            volume.fade(to: gain)
        }
        if let tone = controls.takeTone() { tones.begin(tone) }
    }

    /// Applies the mute and the tones to the next audio.
    @_noAllocation @_noLocks
    mutating func apply(to sound: inout FixedBuffer<Float>) {
        Self.apply(&volume, &tones, isMutedByUser: isMutedByUser, to: &sound)
    }

    /// Exempt from the compiler's allocation check, which would take the end of a Span's lifetime for a deallocation.
    /// Reviewed by hand: nothing is freed here.
    @_semantics("no_performance_analysis")
    private static func apply(
        _ volume: inout Volume, _ tones: inout SignalToneGenerator, isMutedByUser: Bool,
        to sound: inout FixedBuffer<Float>
    ) {
        var samples = sound.mutableSpan
        volume.apply(to: &samples)
        if !isMutedByUser { tones.add(to: &samples) }
    }
}
