import ArgumentParser
import TenfourAudioCore
import TenfourMediaSource
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

    @Option(
        name: .customLong("format"),
        help: ArgumentHelp(
            "The format of the samples of the output file, by its ALSA name. Default: S16_LE.",
            valueName: "format"))
    var sampleFormat: SampleFormat?

    /// The formats of samples in an output file.
    enum SampleFormat: String, ExpressibleByArgument, CaseIterable {
        case unsigned8 = "U8"
        case signed16 = "S16_LE"
        case packedSigned24 = "S24_3LE"
        case signed32 = "S32_LE"
        case float32 = "FLOAT_LE"

        var width: SampleWidth {
            switch self {
            case .unsigned8: .integer(bitCount: 8)
            case .signed16: .integer(bitCount: 16)
            case .packedSigned24: .integer(bitCount: 24)
            case .signed32: .integer(bitCount: 32)
            case .float32: .floatingPoint
            }
        }
    }

    /// Throws if an option is wrong, or is given without an output file. `path` is the path of the file; nil if the audio
    /// is played. Called by `validate`.
    func check(path: String?, channels: Int?) throws {
        if let sampleRate, !StreamerConfiguration.sampleRates.contains(sampleRate) {
            throw ValidationError("--sample-rate \(sampleRate) is out of range: write 8000 to 192000.")
        }
        guard let path else {
            if sampleRate != nil { throw ValidationError("--sample-rate is only for an output file: add -o FILE.") }
            if sampleFormat != nil { throw ValidationError("--format is only for an output file: add -o FILE.") }
            if keepFormat { throw ValidationError("--keep-format is only for an output file: add -o FILE.") }
            return
        }
        if keepFormat, sampleRate != nil || channels != nil || sampleFormat != nil {
            throw ValidationError(
                "--keep-format keeps rate, channels and format: leave out --sample-rate, --channels and --format.")
        }
        if let sampleFormat { try Self.check(sampleFormat, for: path) }
        if let sampleRate, sampleRate != 48_000, (try? OutputFileKind(path: path)) == .oggOpus {
            throw ValidationError("Ogg Opus has 48000 Hz: leave out --sample-rate.")
        }
    }

    private static func check(_ format: SampleFormat, for path: String) throws {
        switch try? OutputFileKind(path: path) {
        case .oggOpus: throw ValidationError("Ogg Opus has no sample format: leave out --format.")
        case .flac where format != .signed16 && format != .packedSigned24:
            throw ValidationError(
                "--format \(format.rawValue) does not fit into FLAC: write S16_LE or S24_3LE, or a WAV file.")
        default: break
        }
    }

    func apply(to configuration: inout StreamerConfiguration) {
        configuration.sampleRate = sampleRate.map { SampleRate(hertz: $0) }
        configuration.keepsFormat = keepFormat
        configuration.sampleWidth = sampleFormat?.width
    }
}
