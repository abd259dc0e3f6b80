public import TenfourAudioCore

/// Applies `EffectSettings` to a player's audio: filters, tone controls, compressor, delay, loudness, and a limiter
/// behind them.
///
/// With neutral settings audio passes unchanged, sample for sample. Every setting can change while audio passes, without
/// a click. `latency` is the look-ahead of the limiter. For one thread at a time; only `init` and `set` allocate.
public struct EffectProcessor: ~Copyable, AudioEffect, Sendable {
    public var format: LPCMFormat { chain.format }
    public var latency: Double { chain.latency }
    public private(set) var settings = EffectSettings()
    /// Whether the limiter works although the settings are neutral, because an effect before it can raise levels.
    public var limitsAlways = false {
        didSet { chain.second.isBypassed = settings.isNeutral && !limitsAlways }
    }

    private var chain: EffectChain<EffectStage, TruePeakLimiter>

    public init(format: LPCMFormat) {
        chain = EffectChain(
            EffectStage(format: format), TruePeakLimiter(checked: LimiterSettings(), format: format))
        chain.second.isBypassed = true
    }

    /// Changes the settings. Changes nothing if it throws.
    public mutating func set(_ settings: EffectSettings) throws(EffectError) {
        try settings.check()
        self.settings = settings
        chain.first.set(settings)
        try chain.second.set(settings.limiter)
        chain.second.isBypassed = settings.isNeutral && !limitsAlways
    }

    /// The loudness of the item so far in LUFS; nil unless a loudness is to be reached and has been measured.
    public var loudness: Double? { settings.loudness == nil ? nil : chain.first.normalizer.loudness }

    /// Forgets the loudness that was measured, before the next song.
    public mutating func beginItem() { chain.first.normalizer.beginItem() }

    public mutating func process(_ input: Span<Float>, into output: inout MutableSpan<Float>) -> EffectProgress {
        chain.process(input, into: &output)
    }

    public mutating func finish(into output: inout MutableSpan<Float>) -> FrameCount { chain.finish(into: &output) }

    public mutating func clear() { chain.clear() }
}

/// The effects before the limiter.
struct EffectStage: ~Copyable, InPlaceEffect, Sendable {
    let format: LPCMFormat
    var normalizer: LoudnessNormalizer
    /// The filters, behind the two tone controls.
    private var filter: BiquadFilter
    private var compressor: Bypassable<Compressor>
    /// nil until a delay is set, since its memory is large.
    private var delay: Bypassable<Delay>?

    /// The number of tone controls.
    private static var toneCount: Int { 2 }

    init(format: LPCMFormat) {
        self.format = format
        normalizer = LoudnessNormalizer(format: format)
        filter = BiquadFilter(format: format, capacity: Self.toneCount + EffectSettings.maximumFilterCount)
        compressor = Bypassable(Compressor(checked: CompressorSettings(), format: format), isBypassed: true)
    }

    /// Takes over settings that have been checked.
    mutating func set(_ settings: EffectSettings) {
        filter.setLimited(ToneControls.bass(settings.bass), at: 0)
        filter.setLimited(ToneControls.treble(settings.treble), at: 1)
        for index in 0..<EffectSettings.maximumFilterCount {
            let design = index < settings.filters.count ? settings.filters[index] : nil
            filter.setLimited(design, at: Self.toneCount + index)
        }
        // The settings have been checked, so nothing is thrown here.
        if let wanted = settings.compressor, wanted != compressor.effect.settings { try? compressor.effect.set(wanted) }
        compressor.isBypassed = settings.compressor == nil
        setDelay(settings.delay)
        normalizer.target = settings.loudness
    }

    private mutating func setDelay(_ settings: DelaySettings?) {
        if let settings {
            if delay == nil { delay = Bypassable(Delay(checked: settings, format: format), isBypassed: true) }
            // The settings have been checked, so nothing is thrown here.
            try? delay?.effect.set(settings)
        }
        delay?.isBypassed = settings == nil
    }

    mutating func apply(to samples: inout MutableSpan<Float>) {
        filter.apply(to: &samples)
        compressor.apply(to: &samples)
        delay?.apply(to: &samples)
        normalizer.apply(to: &samples)
    }

    mutating func clear() {
        filter.clear()
        compressor.clear()
        delay?.clear()
        normalizer.clear()
    }
}
