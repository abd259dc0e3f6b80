internal import Synchronization
internal import TenfourAudioCore
internal import TenfourEffects
internal import TenfourSystem

/// The rate, pitch, equaliser and effects of the output. For any thread.
final class PlaybackParameters: Sendable {
    private let rateBits = Atomic<UInt64>((1.0).bitPattern)
    private let pitchBits = Atomic<UInt64>((0.0).bitPattern)
    private let skipsSilenceFlag = Atomic<Bool>(false)
    private let skippedNanoseconds = Atomic<Int64>(0)
    private let contents = Locked(Contents())
    private let version = Atomic<Int>(0)

    private struct Contents: Sendable {
        var bands: [EqualizerBand] = []
        var effects = EffectSettings()
        var replacement: EffectMaker?
    }

    typealias EffectMaker = @Sendable (LPCMFormat) -> AnyAudioEffect

    private let hasReplacement = Atomic<Bool>(false)

    /// Replaces the effect of the program's own when the worker processes audio next.
    func replaceEffect(_ makeEffect: @escaping EffectMaker) {
        contents.withLock { $0.replacement = makeEffect }
        hasReplacement.store(true, ordering: .releasing)
    }

    /// Returns what makes the next effect, once; nil if there is none. Worker's thread.
    func takeReplacement() -> EffectMaker? {
        guard hasReplacement.exchange(false, ordering: .acquiring) else { return nil }
        return contents.withLock { $0.replacement.take() }
    }

    var rate: Double {
        get { Double(bitPattern: rateBits.load(ordering: .relaxed)) }
        set { rateBits.store(newValue.bitPattern, ordering: .relaxed) }
    }

    /// The pitch shift in cents.
    var pitch: Double {
        get { Double(bitPattern: pitchBits.load(ordering: .relaxed)) }
        set { pitchBits.store(newValue.bitPattern, ordering: .relaxed) }
    }

    /// Whether pauses are left out.
    var skipsSilence: Bool {
        get { skipsSilenceFlag.load(ordering: .relaxed) }
        set { skipsSilenceFlag.store(newValue, ordering: .relaxed) }
    }

    /// The duration of the pauses left out so far.
    var skippedSilence: Duration { .nanoseconds(skippedNanoseconds.load(ordering: .relaxed)) }

    func addSkippedSilence(_ duration: Duration) {
        skippedNanoseconds.add(Instant.nanoseconds(in: duration), ordering: .relaxed)
    }

    var bands: [EqualizerBand] {
        get { contents.withLock { $0.bands } }
        set {
            contents.withLock { $0.bands = newValue }
            version.add(1, ordering: .releasing)
        }
    }

    var effects: EffectSettings { contents.withLock { $0.effects } }

    /// Changes the effects in one step, so that two threads can change different settings.
    func changeEffects(_ change: (inout EffectSettings) throws(EffectError) -> Void) throws(EffectError) {
        let result = contents.withLock { contents -> EffectError? in
            var effects = contents.effects
            do throws(EffectError) {
                try change(&effects)
                try effects.check()
                contents.effects = effects
                return nil
            } catch {
                return error
            }
        }
        if let result { throw result }
        version.add(1, ordering: .releasing)
    }

    /// Incremented with each change of `bands` and `effects`, so that the worker fetches them only after a change.
    var effectsVersion: Int { version.load(ordering: .acquiring) }
}
