/// The settings of an `EffectProcessor`: what a listener can do to audio.
///
///     var settings = try EffectSettings(filters: "bass:+4,treble:-2,peak:1000:+3:1.4,lowpass:8000")
///     settings.loudness = -18
public struct EffectSettings: Hashable, Sendable {
    /// The filters, at most `maximumFilterCount`. A frequency that is too high for the sample rate is limited.
    public var filters: [FilterDesign] = []
    /// The gain of the tone controls in decibels, limited to `tones`: shelves at 100 Hz and 3 kHz.
    public var bass = 0.0
    public var treble = 0.0
    /// nil: no compressor.
    public var compressor: CompressorSettings?
    /// nil: no delay.
    public var delay: DelaySettings?
    /// The loudness to reach in LUFS, −40…−5; nil: audio keeps its loudness.
    public var loudness: Double?
    /// The limiter behind the effects. It works as soon as one of the other settings does.
    public var limiter = LimiterSettings()

    public static let maximumFilterCount = 32
    public static let tones = -20.0...20

    public init() {}

    /// Reads filters that are separated by commas. Each is a name and its values, separated by colons: `bass:+4`,
    /// `peak:1000:+3:1.4`, `lowpass:8k`. Names and forms are in `filterForms`.
    ///
    /// Accepts any text, for example from a stranger. Throws an error whose description is a sentence with the remedy.
    public init(filters text: String) throws(EffectError) {
        filters = try FilterText.designs(of: text, limit: Self.maximumFilterCount)
    }

    /// How each filter is written, such as `peak:FREQUENCY:GAIN[:Q]`.
    public static var filterForms: [String] { FilterText.names.map(FilterText.form(of:)) }

    /// Throws for the first setting that cannot be used.
    public func check() throws(EffectError) {
        guard filters.count <= Self.maximumFilterCount else {
            throw .tooManyFilters(count: filters.count, limit: Self.maximumFilterCount)
        }
        for filter in filters { try filter.checkWithoutRate() }
        try Self.tones.check(bass, "bass", unit: "dB")
        try Self.tones.check(treble, "treble", unit: "dB")
        try compressor?.check()
        try delay?.check()
        if let loudness { try LoudnessNormalizer.targets.check(loudness, "loudness", unit: "LUFS") }
        try limiter.check()
    }

    /// Whether audio passes unchanged.
    public var isNeutral: Bool {
        filters.isEmpty && bass == 0 && treble == 0 && compressor == nil && delay == nil && loudness == nil
    }
}
