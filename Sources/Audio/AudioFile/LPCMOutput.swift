internal import Glibc
internal import TenfourAudioCore

/// Writes samples to a descriptor, with or without a WAV header.
internal struct LPCMOutput {
    let descriptor: Descriptor
    let format: RawFormat
    /// The WAV header; nil for raw samples.
    private var header: WAVHeader?
    /// The offset at which the header is rewritten; nil if it cannot be rewritten.
    private let headerOffset: off_t?

    init(_ descriptor: Descriptor, _ format: RawFormat, _ container: AudioFileWriter.Container) {
        self.descriptor = descriptor
        self.format = format
        // With O_APPEND all data is written to the end of the file, so the header cannot be rewritten.
        let mayRewrite = descriptor.isRegularFile && fcntl(descriptor.number, F_GETFL) & O_APPEND == 0
        headerOffset = mayRewrite ? lseek(descriptor.number, 0, SEEK_CUR) : nil
        if container == .wav { header = WAVHeader(format: format, byteCount: mayRewrite ? 0 : nil) }
    }

    /// Writes the header.
    func begin(unless isAbandoned: () -> Bool) throws(AudioFileError) {
        guard let bytes = header?.bytes else { return }
        try descriptor.write(bytes.count, of: bytes.span, unless: isAbandoned)
    }

    mutating func write(_ samples: Span<Float>, unless isAbandoned: () -> Bool) throws(AudioFileError) {
        let byteCount = samples.count * format.coding.byteCount
        if let length = header?.byteCount, length > WAVHeader.maximumByteCount - byteCount {
            throw AudioFileError(.isTooLong, name: descriptor.name)
        }
        var chunk = InlineArray<4_096, UInt8>(repeating: 0)
        var start = 0
        while start < samples.count {
            let count = min(samples.count - start, 4_096 / format.coding.byteCount)
            var bytes = chunk.mutableSpan
            for index in 0..<count {
                format.coding.encode(samples[start + index], into: &bytes, at: index * format.coding.byteCount)
            }
            try descriptor.write(count * format.coding.byteCount, of: bytes.span, unless: isAbandoned)
            start += count
        }
        header?.byteCount? += byteCount
        if let header { try rewrite(header) }
    }

    /// Pads the samples to an even size, and appends `marks` if the header can be rewritten.
    func end(_ marks: WAVMarks) throws(AudioFileError) {
        guard var header, let byteCount = header.byteCount else { return }
        var tail = [UInt8](repeating: 0, count: byteCount % 2)
        let chunks = marks.chunks(before: FrameCount(byteCount / format.frameByteCount))
        if headerOffset != nil, byteCount + tail.count + chunks.count <= WAVHeader.maximumByteCount {
            tail += chunks
            header.chunkByteCount = chunks.count
        }
        guard !tail.isEmpty else { return }
        try descriptor.write(tail.count, of: tail.span)
        if header.chunkByteCount > 0 { try rewrite(header) }
    }

    private func rewrite(_ header: WAVHeader) throws(AudioFileError) {
        guard let headerOffset else { return }
        let bytes = header.bytes
        let result = unsafe bytes.span.withUnsafeBytes {
            unsafe pwrite(descriptor.number, $0.baseAddress, $0.count, headerOffset)
        }
        guard result == bytes.count
        else { throw AudioFileError(errno: errno, in: "pwrite", name: descriptor.name, isWriting: true) }
    }
}
