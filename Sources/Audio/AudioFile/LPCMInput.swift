internal import TenfourAudioCore

/// Reads samples from a pipe. Never reads ahead, so that live audio is not delayed.
internal struct LPCMInput {
    let descriptor: Descriptor
    let format: RawFormat
    /// The first samples, which were read from the pipe to recognise the file format. They precede the bytes still in
    /// the pipe.
    private var sniffed: [UInt8]
    /// The number of bytes left to read; nil if there is no header or it does not state a length.
    private var remainingByteCount: Int?

    init(_ descriptor: Descriptor, _ format: RawFormat, after sniffed: [UInt8] = [], byteCount: Int? = nil) {
        self.descriptor = descriptor
        self.format = format
        self.sniffed = sniffed
        remainingByteCount = byteCount
    }

    /// Fills `samples` and returns the number of frames, which is less than requested only at the end. An incomplete
    /// last frame is dropped.
    mutating func read(into samples: inout MutableSpan<Float>) throws(AudioFileError) -> Int {
        var chunk = InlineArray<4_096, UInt8>(repeating: 0)
        let frameByteCount = format.frameByteCount
        let requested = samples.count / format.format.channelCount
        var frames = 0
        while frames < requested {
            let asked = min(requested - frames, 4_096 / frameByteCount) * frameByteCount
            var bytes = chunk.mutableSpan
            let got = try read(asked, into: &bytes)
            let whole = got / frameByteCount
            let sampleCount = whole * format.format.channelCount
            let start = frames * format.format.channelCount
            for index in 0..<sampleCount {
                samples[start + index] = format.coding.decode(bytes.span, at: index * format.coding.byteCount)
            }
            frames += whole
            if got < asked { break }
        }
        return frames
    }

    private mutating func read(_ asked: Int, into bytes: inout MutableSpan<UInt8>) throws(AudioFileError) -> Int {
        let allowed = min(asked, remainingByteCount ?? asked)
        var got = 0
        if !sniffed.isEmpty {
            got = min(sniffed.count, allowed)
            for index in 0..<got { bytes[index] = sniffed[index] }
            sniffed.removeFirst(got)
        }
        if got < allowed {
            got += try descriptor.read(into: &bytes, got..<allowed)
        }
        remainingByteCount? -= got
        return got
    }
}
