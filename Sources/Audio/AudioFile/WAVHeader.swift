internal import TenfourAudioCore

/// The header of a WAV file (Microsoft's Multimedia Programming Interface 1.0, RF64 by EBU Tech 3306).
internal struct WAVHeader {
    var format: RawFormat
    /// The size of the samples in bytes; nil if the program that wrote the header did not know it.
    var byteCount: Int?
    /// The size, in bytes, of the chunks after the samples.
    var chunkByteCount = 0

    // MARK: Reading

    /// Reads from `descriptor` up to the first sample. The file header (`RIFF`, size, `WAVE`) must have been read
    /// before.
    init(reading descriptor: Descriptor) throws(AudioFileError) {
        var parser = WAVHeaderParser()
        for _ in 0..<WAVHeaderParser.chunkLimit {
            let header = try Self.read(WAVHeaderParser.chunkHeaderByteCount, from: descriptor)
            let (kind, size) = WAVHeaderParser.chunk(header.span)
            if kind == .samples {
                guard let format = parser.format else {
                    throw Self.malformed("The WAV file has samples before their format.", descriptor)
                }
                self.format = try Self.rawFormat(format, descriptor)
                byteCount = parser.sampleByteCount(stated: size)
                return
            }
            guard size <= Self.maximumChunkByteCount else { break }
            let body = try Self.read(size + size % 2, from: descriptor)
            switch kind {
            case .format where WAVHeaderParser.formatByteCounts.contains(size): _ = parser.parseFormat(body.span)
            case .sizes where WAVHeaderParser.sizesByteCounts.contains(size): parser.parseSizes(body.span)
            case .format, .sizes:
                throw Self.malformed(
                    "The WAV file is damaged: its fmt or ds64 chunk has an impossible length, \(size) bytes.",
                    descriptor)
            case .list, .samples, .other: break
            }
        }
        throw Self.malformed("The WAV file has no samples.", descriptor)
    }

    /// The maximum size of a chunk before the samples: 1 MiB. A file with a larger chunk is refused.
    private static let maximumChunkByteCount = 1 << 20

    private static func rawFormat(
        _ format: WAVHeaderParser.Format, _ descriptor: Descriptor
    ) throws(AudioFileError) -> RawFormat {
        let (channelCount, bits) = (format.channelCount, format.bitsPerSample)
        try LPCMFormat.check(channelCount: channelCount, hertz: format.hertz, for: descriptor.name)
        let coding: SampleCoding
        switch (format.tag, format.frameByteCount, bits) {
        case (1, channelCount, _): coding = .unsigned8
        case (1, 2 * channelCount, _): coding = .signed16
        case (1, 3 * channelCount, _): coding = .packedSigned24
        // arecord writes S24_LE with this header; other programs align 24 bits to the top of 32 and use
        // WAVE_FORMAT_EXTENSIBLE.
        case (1, 4 * channelCount, 24) where !format.isExtensible: coding = .signed24
        case (1, 4 * channelCount, _): coding = .signed32
        case (3, 4 * channelCount, 32): coding = .float32
        default:
            throw malformed(
                "WAV format tag \(format.tag) with \(bits) bits per sample is not supported; convert it to 16-bit PCM.",
                descriptor)
        }
        return RawFormat(
            coding: coding, format: LPCMFormat(rate: SampleRate(hertz: format.hertz), channelCount: channelCount))
    }

    private static func read(_ count: Int, from descriptor: Descriptor) throws(AudioFileError) -> [UInt8] {
        let bytes = try descriptor.read(count)
        guard bytes.count == count else { throw malformed("The WAV file ends within its header.", descriptor) }
        return bytes
    }

    private static func malformed(_ words: String, _ descriptor: Descriptor) -> AudioFileError {
        AudioFileError(.isNotSound(words), name: descriptor.name)
    }

    // MARK: Writing

    init(format: RawFormat, byteCount: Int?) {
        self.format = format
        self.byteCount = byteCount
    }

    /// Returns whether a WAV file can store samples of this coding. WAV has no signed 8-bit samples, and most programs
    /// would misread S24_LE.
    static func canHold(_ coding: SampleCoding) -> Bool { coding != .signed8 && coding != .signed24 }

    /// The maximum size of the samples in bytes, since the header states sizes in 32 bits. Writing more to a file
    /// throws `.isTooLong`.
    static let maximumByteCount = 0xFFFF_FFFF - 44

    /// The bytes of the header. If `byteCount` is nil, both sizes have the maximum value, as in a header that ffmpeg
    /// writes to a pipe.
    var bytes: InlineArray<44, UInt8> {
        InlineArray { index in
            switch index {
            case 0..<4: Self.byte(index, of: "RIFF")
            case 4..<8: Self.byte(index - 4, of: byteCount.map { 36 + $0 + $0 % 2 + chunkByteCount } ?? 0xFFFF_FFFF)
            case 8..<16: Self.byte(index - 8, of: "WAVEfmt ")
            case 16..<20: Self.byte(index - 16, of: 16)
            case 20..<22: Self.byte(index - 20, of: format.coding == .float32 ? 3 : 1)
            case 22..<24: Self.byte(index - 22, of: format.format.channelCount)
            case 24..<28: Self.byte(index - 24, of: format.format.rate.hertz)
            case 28..<32: Self.byte(index - 28, of: format.format.rate.hertz * format.frameByteCount)
            case 32..<34: Self.byte(index - 32, of: format.frameByteCount)
            case 34..<36: Self.byte(index - 34, of: 8 * format.coding.byteCount)
            case 36..<40: Self.byte(index - 36, of: "data")
            default: Self.byte(index - 40, of: byteCount ?? 0xFFFF_FFFF)
            }
        }
    }

    private static func byte(_ index: Int, of number: Int) -> UInt8 { UInt8(truncatingIfNeeded: number >> (8 * index)) }

    private static func byte(_ index: Int, of text: StaticString) -> UInt8 {
        text.withUTF8Buffer { unsafe $0[index] }
    }
}
