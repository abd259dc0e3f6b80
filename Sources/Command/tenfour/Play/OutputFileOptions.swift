import ArgumentParser
import TenfourAudioCore
import TenfourPlayer

/// The options of `tenfour play` for the format of an output file.
struct OutputFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The sample rate of the output file, in hertz; for Ogg Opus it is always 48000. Default: that of the first item.",
            valueName: "hertz"))
    var sampleRate: Int?

    @Flag(
        help:
            "Keep the rate, the channels and the sample width of the first item: 8, 16, 24 or 32 bits or floats, as far as the file can have them."
    )
    var keepFormat = false

    /// Throws if an option is wrong, or is given without an output file. `path` is the path of the file; nil if the audio
    /// is played. Called by `validate`.
    func check(path: String?, channels: Int?) throws {
        if let sampleRate, !StreamerConfiguration.sampleRates.contains(sampleRate) {
            throw ValidationError("--sample-rate \(sampleRate) is out of range: write 8000 to 192000.")
        }
        guard let path else {
            if sampleRate != nil { throw ValidationError("--sample-rate is only for an output file: add -o FILE.") }
            if keepFormat { throw ValidationError("--keep-format is only for an output file: add -o FILE.") }
            return
        }
        if keepFormat, sampleRate != nil || channels != nil {
            throw ValidationError("--keep-format keeps rate and channels: leave out --sample-rate and --channels.")
        }
        if let sampleRate, sampleRate != 48_000, (try? OutputFileKind(path: path)) == .oggOpus {
            throw ValidationError("Ogg Opus has 48000 Hz: leave out --sample-rate.")
        }
    }

    func apply(to configuration: inout StreamerConfiguration) {
        configuration.sampleRate = sampleRate.map { SampleRate(hertz: $0) }
        configuration.keepsFormat = keepFormat
    }
}
