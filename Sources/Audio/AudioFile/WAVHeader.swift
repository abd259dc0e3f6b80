internal import TenfourAudioCore

/// The header of a WAV file (Microsoft's Multimedia Programming Interface 1.0, RF64 by EBU Tech 3306).
internal struct WAVHeader {
    var format: RawFormat
    /// The size of the samples; nil if the writer did not know it.
    var byteCount: Int?
    /// The size of the chunks after the samples.
    var chunkByteCount = 0

    // MARK: Reading

    /// Reads a pipe from behind the twelve bytes that `AudioFileFormat` was told from up to the first sample.
    init(reading descriptor: Descriptor) throws(AudioFileError) {
        var longByteCount: Int?
        var format: RawFormat?
        var skipped = 0
        while true {
            let head = try Self.read(8, from: descriptor)
            let size = Self.number(head, at: 4, byteCount: 4)
            switch String(decoding: head[..<4], as: UTF8.self) {
            case "fmt ":
                guard (16...256).contains(size) else { throw Self.malformed("A strange fmt chunk.", descriptor) }
                format = try Self.format(try Self.read(size + size % 2, from: descriptor), descriptor)
            case "ds64":
                guard (16...1_024).contains(size) else { throw Self.malformed("A strange ds64 chunk.", descriptor) }
                longByteCount = Self.number(try Self.read(size, from: descriptor), at: 8, byteCount: 8)
            case "data":
                guard let format else { throw Self.malformed("Samples before their format.", descriptor) }
                self.format = format
                // arecord, sox and ffmpeg say almost 2 GiB, almost 4 GiB or nothing when they do not know.
                byteCount = size == 0 || size >= 0x7FFF_0000 ? nil : size
                if size == 0xFFFF_FFFF, let longByteCount, longByteCount > 0 { byteCount = longByteCount }
                return
            default:
                skipped += 1
                guard size <= 1 << 20, skipped <= 64 else {
                    throw Self.malformed("No samples to be found.", descriptor)
                }
                _ = try Self.read(size + size % 2, from: descriptor)
            }
        }
    }

    private static func format(_ fmt: [UInt8], _ descriptor: Descriptor) throws(AudioFileError) -> RawFormat {
        var tag = number(fmt, at: 0, byteCount: 2)
        let channelCount = number(fmt, at: 2, byteCount: 2)
        let hertz = number(fmt, at: 4, byteCount: 4)
        let bits = number(fmt, at: 14, byteCount: 2)
        try LPCMFormat.check(channelCount: channelCount, hertz: hertz, for: descriptor.name)
        let isExtensible = tag == 0xFFFE && fmt.count >= 26
        if isExtensible { tag = number(fmt, at: 24, byteCount: 2) }
        let coding: SampleCoding
        switch (tag, number(fmt, at: 12, byteCount: 2), bits) {
        case (1, channelCount, _): coding = .unsigned8
        case (1, 2 * channelCount, _): coding = .signed16
        case (1, 3 * channelCount, _): coding = .packedSigned24
        // arecord's way to say S24_LE; others align such samples to the top of 32 bits and call them extensible.
        case (1, 4 * channelCount, 24) where !isExtensible: coding = .signed24
        case (1, 4 * channelCount, _): coding = .signed32
        case (3, 4 * channelCount, 32): coding = .float32
        default: throw malformed("Its samples are of coding \(tag) with \(bits) bits.", descriptor)
        }
        return RawFormat(
            coding: coding, format: LPCMFormat(rate: SampleRate(hertz: hertz), channelCount: channelCount))
    }

    private static func read(_ count: Int, from descriptor: Descriptor) throws(AudioFileError) -> [UInt8] {
        let bytes = try descriptor.read(count)
        guard bytes.count == count else { throw malformed("It ends in its header.", descriptor) }
        return bytes
    }

    private static func number(_ bytes: [UInt8], at offset: Int, byteCount: Int) -> Int {
        (0..<byteCount).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    private static func malformed(_ words: String, _ descriptor: Descriptor) -> AudioFileError {
        AudioFileError(.isNotSound(words), name: descriptor.name)
    }

    // MARK: Writing

    init(format: RawFormat, byteCount: Int?) {
        self.format = format
        self.byteCount = byteCount
    }

    /// WAV has no signed 8-bit samples, and would misread S24_LE.
    static func canHold(_ coding: SampleCoding) -> Bool { coding != .signed8 && coding != .signed24 }

    /// The most bytes of samples, since sizes have 32 bits.
    static let maximumByteCount = 0xFFFF_FFFF - 44

    /// With an unknown `byteCount` both sizes are the largest, as ffmpeg writes to a pipe.
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
