internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourMediaSource

/// An output file of any kind. A file that exists stays unchanged until the first audio.
struct RenderedFile: ~Copyable, Sendable {
    /// The writer: exactly one of the two is there.
    private var lpcm: AudioFileWriter?
    private var opus: OggOpusFileWriter?
    private var hasBegun = false
    /// The file and its format, such as `song.flac (FLAC, 24 bits, 44100 Hz, 2 channels)`.
    let name: String

    /// Opens the file at `path`, whose name tells its kind. `width` is the sample width to keep; nil for 16 bits.
    init(path: String, format: LPCMFormat, width: SampleWidth?) throws(StreamError) {
        let kind = try OutputFileKind(path: path)
        let coding = SampleCoding(for: width, in: kind)
        do throws(AudioFileError) {
            if kind == .oggOpus {
                let opus = try OggOpusFileWriter(path: path, format: format)
                self.init(kind.name(path, coding, format), nil, opus)
            } else {
                let lpcm = try AudioFileWriter(
                    path: path, format: format, coding: coding,
                    container: kind == .flac ? .flac : kind == .raw ? .raw : .wav, createsOnFirstWrite: true)
                self.init(kind.name(path, coding, format), lpcm, nil)
            }
        } catch {
            throw .unusable(error.description, kind: .unusableOutput)
        }
    }

    private init(_ name: String, _ lpcm: consuming AudioFileWriter?, _ opus: consuming OggOpusFileWriter?) {
        self.name = name
        self.lpcm = lpcm
        self.opus = opus
    }

    /// Writes whole frames. `tags` is called before the first ones.
    mutating func write(_ samples: Span<Float>, tags: () -> AudioFileTags) throws(StreamError) {
        if !hasBegun {
            hasBegun = true
            let tags = tags()
            lpcm?.tags = tags
            opus?.tags = tags
        }
        do throws(AudioFileError) {
            try lpcm?.write(samples)
            try opus?.write(samples)
        } catch {
            throw .unusable(error.description, kind: .unusableOutput)
        }
    }

    /// Completes and closes the file. A second call does nothing.
    mutating func close() throws(StreamError) {
        do throws(AudioFileError) {
            try lpcm?.close()
            try opus?.close()
        } catch {
            throw .unusable(error.description, kind: .unusableOutput)
        }
    }
}

extension SampleCoding {
    /// The number of bits of an integer that are kept.
    fileprivate var significantBitCount: Int {
        switch self {
        case .unsigned8, .signed8: 8
        case .signed16: 16
        case .signed24, .packedSigned24, .float32: 24
        case .signed32: 32
        }
    }

    /// The coding in a file of `kind` for samples of `width`; nil: as for a lossy source, which has no width.
    init(for width: SampleWidth?, in kind: OutputFileKind) {
        switch (width, kind) {
        case (.floatingPoint, .flac): self = .packedSigned24
        case (.floatingPoint, _): self = .float32
        case (.integer(let bitCount), .flac): self = bitCount > 16 ? .packedSigned24 : .signed16
        case (.integer(...8), _): self = .unsigned8
        case (.integer(...16), _), (nil, _): self = .signed16
        case (.integer(...24), _): self = .packedSigned24
        case (.integer, _): self = .signed32
        }
    }
}

extension StreamerConfiguration {
    /// Takes what is not set from the format of the audio to be written to a file of `kind`.
    mutating func adopt(_ recorded: RecordedFormat, for kind: OutputFileKind) throws(StreamError) {
        let (rate, channelCount) = (recorded.format.rate, recorded.format.channelCount)
        if keepsFormat, kind.onlyRate == nil, !Self.sampleRates.contains(rate.hertz) {
            throw .unusable(
                "the audio has \(rate.hertz) Hz, and only \(Self.sampleRates.lowerBound) to \(Self.sampleRates.upperBound) Hz can be kept: write another rate with --sample-rate",
                kind: .unusableOutput)
        }
        if kind.onlyRate == nil, sampleRate == nil, Self.sampleRates.contains(rate.hertz) { sampleRate = rate }
        let maximum = keepsFormat ? kind.maximumChannelCount : 2
        self.channelCount = self.channelCount ?? min(channelCount, maximum)
        if keepsFormat { sampleWidth = recorded.sampleWidth }
        recordedWidth = recorded.sampleWidth
    }

    /// The samples of the audio that are wider than those of the output file; nil if there are none.
    var shortening: SampleShortening? {
        // A width that was chosen shortens nothing by surprise.
        if sampleWidth != nil, !keepsFormat { return nil }
        guard let recordedWidth, case .file(let path) = output, let kind = try? OutputFileKind(path: path),
            kind != .oggOpus
        else { return nil }
        let coding = SampleCoding(for: sampleWidth, in: kind)
        let isWider =
            switch recordedWidth {
            case .integer(let bitCount): bitCount > coding.significantBitCount
            case .floatingPoint: coding != .float32
            }
        return isWider ? SampleShortening(recorded: recordedWidth, coding: coding) : nil
    }
}

extension OutputFileKind {
    /// Describes a file of this kind.
    fileprivate func name(_ path: String, _ coding: SampleCoding, _ format: LPCMFormat) -> String {
        let kind =
            switch self {
            case .wav: "WAV, \(coding.rawValue)"
            case .flac: "FLAC, \(coding == .signed16 ? 16 : 24) bits"
            case .oggOpus: "Ogg Opus"
            case .raw: coding.rawValue
            }
        let count = format.channelCount
        return
            "\(path == "-" ? "standard output" : path) (\(kind), \(format.rate.hertz) Hz, \(count) channel\(count == 1 ? "" : "s"))"
    }
}
