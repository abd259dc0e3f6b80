import ArgumentParser
import TenfourEffects
import TenfourMediaSource
import TenfourPlayer

/// The options for filters, tone controls and loudness.
struct EffectOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Filters, separated by commas: bass, mid, treble, peak, lowshelf, highshelf, lowpass, highpass, bandpass, bandskirt, notch or allpass, each with its frequency, gain and width if it has them, such as bass:+4,peak:1000:+3:1.4,lowpass:8k.",
            valueName: "filters"))
    var eq: String?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Gain of low notes: -20 to 20 decibels.", valueName: "dB"))
    var bass = 0.0

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Gain of high notes: -20 to 20 decibels.", valueName: "dB"))
    var treble = 0.0

    @Flag(help: "Play everything at about the same loudness (-18 LUFS by EBU R 128), measured while it plays.")
    var normalize = false

    @Option(
        help: ArgumentHelp(
            "Which gain of ReplayGain or R128 tags to apply. Default: track; in an output file, none.",
            valueName: "track|album"))
    var gain: GainChoice?

    @Flag(help: "Ignore ReplayGain and R128 tags.")
    var noGain = false

    func validate() throws {
        if noGain, gain != nil { throw ValidationError("--gain and --no-gain exclude each other: write one of them.") }
        if let eq {
            do throws(EffectError) { _ = try EffectSettings(filters: eq) } catch {
                throw ValidationError("--eq: \(error).")
            }
        }
        for (name, gain) in [("bass", bass), ("treble", treble)] where !EffectSettings.tones.contains(gain) {
            throw ValidationError("--\(name) \(gain) is out of range: write -20 to 20.")
        }
    }

    /// Returns the gain of tags to apply. A file keeps the level of its source unless a gain is asked for.
    func gainMode(writesFile: Bool) -> ReplayGain.Mode {
        if noGain { return .none }
        return gain?.mode ?? (writesFile ? .none : .track)
    }

    func apply(to streamer: Streamer) throws {
        var settings = EffectSettings()
        if let eq { settings = try EffectSettings(filters: eq) }
        (settings.bass, settings.treble) = (bass, treble)
        if normalize { settings.loudness = LoudnessNormalizer.usualTarget }
        try streamer.setEffects(settings)
    }
}

/// Which gain `--gain` applies.
enum GainChoice: String, ExpressibleByArgument, CaseIterable {
    case track, album

    var mode: ReplayGain.Mode { self == .track ? .track : .album }
}
