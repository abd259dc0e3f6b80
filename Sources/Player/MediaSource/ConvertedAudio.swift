package import TenfourAudioCore

/// Sound on its way from a decoder to whoever reads it: converted, not yet given, and where in the track it lies.
package final class ConvertedAudio {
    /// Interleaved. Empty whenever more is wanted.
    package var samples: [Float] = []
    /// In decoded frames: where more is expected, and where that begins which is wanted.
    package var nextFrame: Int?
    package var firstWanted = 0

    private let format: LPCMFormat
    private var givenSamples = 0
    private var start = Duration.zero
    private var givenFrames = FrameCount.zero

    package init(_ format: LPCMFormat) { self.format = format }

    /// Where the next frame lies that is given. Never before the beginning, whatever clocks a file has.
    package var position: Duration {
        get { max(.zero, start + givenFrames.duration(at: format.rate)) }
        set { (start, givenFrames) = (newValue, .zero) }
    }

    /// What `MediaReader.read` does. `refill` puts more into `samples`; false where there is no more.
    package func read(
        into room: inout MutableSpan<Float>, refill: () throws(ReaderError) -> Bool
    ) throws(ReaderError) -> FrameCount {
        let wanted = room.count - room.count % format.channelCount
        var filled = 0
        while filled < wanted {
            if givenSamples == samples.count {
                samples.removeAll(keepingCapacity: true)
                givenSamples = 0
                guard try refill() else { break }
            }
            let count = min(wanted - filled, samples.count - givenSamples)
            for index in 0..<count { room[filled + index] = samples[givenSamples + index] }
            givenSamples += count
            filled += count
        }
        let frames = FrameCount(filled / format.channelCount)
        givenFrames += frames
        return frames
    }

    /// Where it is empty: has `write` write at most `room` frames. False when it wrote none.
    package func fill(upTo room: Int, _ write: (inout MutableSpan<Float>) -> Int) -> Bool {
        samples.append(contentsOf: repeatElement(0, count: room * format.channelCount))
        var span = samples.mutableSpan
        let frames = write(&span)
        samples.removeLast(samples.count - frames * format.channelCount)
        return frames > 0
    }

    /// `count` decoded frames lie from `begin` on; so many of them come before what is wanted. What is missing between them and
    /// those before is passed over.
    package func place(_ begin: Int, _ count: Int, at rate: SampleRate) -> Int {
        if let nextFrame, nextFrame > firstWanted {
            if begin != nextFrame, begin >= firstWanted { position += FrameCount(begin - nextFrame).duration(at: rate) }
            // Where timestamps begin anew at a lower value, the sound from there on is wanted.
            firstWanted = min(firstWanted, begin)
        } else {
            position = FrameCount(max(begin, firstWanted)).duration(at: rate)
        }
        nextFrame = begin + count
        return max(firstWanted - begin, 0)
    }

    /// Goes to `wanted`, and `parser` to what must be decoded before that, of whose frames `rate` are a second. Where the parser
    /// cannot go there, all stays as it is.
    package func seek(
        to wanted: Duration, in parser: any Demuxer, preroll: Duration, at rate: SampleRate
    ) throws(ReaderError) {
        let wanted = max(wanted, .zero)
        let begin: Estimate<Duration>
        do { begin = try parser.seek(to: max(wanted - preroll, .zero)) } catch { throw .parse(error) }
        let reached = min(wanted, parser.reach ?? wanted)
        samples.removeAll(keepingCapacity: true)
        givenSamples = 0
        position = max(reached, begin.value)
        (firstWanted, nextFrame) = (FrameCount(reached, at: rate).rawValue, nil)
    }
}
