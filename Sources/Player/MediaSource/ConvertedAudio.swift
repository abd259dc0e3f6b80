package import TenfourAudioCore

/// A queue of converted audio between a decoder and its reader, with the position of each frame in the track.
package final class ConvertedAudio {
    /// The converted samples, interleaved; empty when the decoder must deliver more.
    package var samples: [Float] = []
    /// The frame that is expected next, counted in decoded frames from the start of the track; nil at the start and
    /// after a seek.
    package var nextFrame: Int?
    /// The first frame at or after the requested position, counted in decoded frames from the start of the track.
    package var firstRequested = 0

    private let format: LPCMFormat
    private var readSamples = 0
    private var start = Duration.zero
    private var readFrames = FrameCount.zero
    /// The error that is thrown when the audio before it has been read.
    private var failure: ReaderError?

    package init(_ format: LPCMFormat) { self.format = format }

    /// The position of the next frame to be read. Never negative, whatever timestamps the file has.
    package var position: Duration {
        get { max(.zero, start + readFrames.duration(at: format.rate)) }
        set { (start, readFrames) = (newValue, .zero) }
    }

    /// Implements `MediaReader.read`. `refill` appends to `samples` and returns false at the end.
    package func read(
        into room: inout MutableSpan<Float>, refill: () throws(ReaderError) -> Bool
    ) throws(ReaderError) -> FrameCount {
        if let failure {
            self.failure = nil
            throw failure
        }
        let requested = room.count - room.count % format.channelCount
        var filled = 0
        while filled < requested {
            if readSamples == samples.count {
                samples.removeAll(keepingCapacity: true)
                readSamples = 0
                do throws(ReaderError) { guard try refill() else { break } } catch {
                    guard filled > 0 else { throw error }
                    failure = error
                    break
                }
            }
            let count = min(requested - filled, samples.count - readSamples)
            for index in 0..<count { room[filled + index] = samples[readSamples + index] }
            readSamples += count
            filled += count
        }
        let frames = FrameCount(filled / format.channelCount)
        readFrames += frames
        return frames
    }

    /// Lets `write` append at most `room` frames to the empty queue. A sample that is no number, which a file of floats
    /// may contain, becomes silence. Returns false if nothing was written.
    package func fill(upTo room: Int, _ write: (inout MutableSpan<Float>) -> Int) -> Bool {
        samples.append(contentsOf: repeatElement(0, count: room * format.channelCount))
        var span = samples.mutableSpan
        let frames = write(&span)
        samples.removeLast(samples.count - frames * format.channelCount)
        for index in samples.indices where !samples[index].isFinite { samples[index] = 0 }
        return frames > 0
    }

    /// Records that `count` decoded frames begin at frame `begin`. Returns the number of these frames that lie before
    /// the requested position. A gap before the frames is skipped.
    package func place(_ begin: Int, _ count: Int, at rate: SampleRate) -> Int {
        if let nextFrame, nextFrame > firstRequested {
            if begin != nextFrame, begin >= firstRequested {
                position += FrameCount(begin - nextFrame).duration(at: rate)
            }
            // Requests all audio from `begin` on if the timestamps have restarted at a lower value.
            firstRequested = min(firstRequested, begin)
        } else {
            position = FrameCount(max(begin, firstRequested)).duration(at: rate)
        }
        nextFrame = begin + count
        return max(firstRequested - begin, 0)
    }

    /// Seeks to `requested`, and makes `demuxer` seek to the start of the preroll before it. `rate` is the sample rate
    /// of the decoded frames. If the demuxer throws, nothing changes.
    package func seek(
        to requested: Duration, in demuxer: any Demuxer, preroll: Duration, at rate: SampleRate
    ) throws(ReaderError) {
        let requested = max(requested, .zero)
        let begin: Estimate<Duration>
        do { begin = try demuxer.seek(to: max(requested - preroll, .zero)) } catch { throw .demuxer(error) }
        let reached = min(requested, demuxer.reach ?? requested)
        samples.removeAll(keepingCapacity: true)
        (readSamples, failure) = (0, nil)
        position = max(reached, begin.value)
        (firstRequested, nextFrame) = (FrameCount(reached, at: rate).rawValue, nil)
    }
}
