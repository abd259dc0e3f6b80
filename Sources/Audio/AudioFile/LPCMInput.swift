internal import TenfourAudioCore

/// Samples as they come through a pipe. Never reads a byte more than it is asked for, so that live sound is not late.
internal struct LPCMInput {
    let descriptor: Descriptor
    let format: RawFormat
    /// Bytes already taken from the pipe, to look for a header, that were samples.
    private var peeked: [UInt8]
    /// nil where the header does not know or there is none.
    private var remainingByteCount: Int?

    init(_ descriptor: Descriptor, _ format: RawFormat, after peeked: [UInt8] = [], byteCount: Int? = nil) {
        self.descriptor = descriptor
        self.format = format
        self.peeked = peeked
        remainingByteCount = byteCount
    }

    /// Fills `samples` and returns how many frames there were: fewer only at the end. Half a frame at the end is dropped.
    mutating func read(into samples: inout MutableSpan<Float>) throws(AudioFileError) -> Int {
        var chunk = InlineArray<4_096, UInt8>(repeating: 0)
        let frameByteCount = format.frameByteCount
        let wanted = samples.count / format.format.channelCount
        var frames = 0
        while frames < wanted {
            let asked = min(wanted - frames, 4_096 / frameByteCount) * frameByteCount
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
        if !peeked.isEmpty {
            got = min(peeked.count, allowed)
            for index in 0..<got { bytes[index] = peeked[index] }
            peeked.removeFirst(got)
        }
        if got < allowed {
            got += try descriptor.read(into: &bytes, got..<allowed)
        }
        remainingByteCount? -= got
        return got
    }
}
