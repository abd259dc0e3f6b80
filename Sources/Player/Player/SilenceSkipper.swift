internal import TenfourAudioCore
internal import TenfourMediaSource

/// Leaves out pauses of speech: reads audio, and holds back a pause until its length is known.
///
/// A pause lasts at least half a second, and its level is below −45 dBFS (root mean square of a chunk, about 10 ms). Its
/// first 120 ms and its last 80 ms stay, and are joined by a crossfade of 10 ms. For one thread at a time.
struct SilenceSkipper: ~Copyable {
    private let format: LPCMFormat
    private let leastPause: Int
    private let keptAtStart: Int
    private let keptAtEnd: Int
    private let fadeLength: Int
    private let threshold: Float

    /// Frames that were read and are ready to be returned, interleaved.
    private var ready: [Float] = []
    /// The number of samples of `ready` already returned.
    private var returned = 0
    /// The frames of the present pause that were read and not returned.
    private var held: [Float] = []
    /// The first frames after those kept at the start of the pause, which fade out.
    private var tail: [Float] = []
    /// The length of the present pause so far, in frames; 0 outside a pause.
    private var pauseLength = 0
    /// The number of frames of the present pause that have been left out.
    private var dropped = 0

    init(format: LPCMFormat) {
        self.format = format
        leastPause = FrameCount(.milliseconds(500), at: format.rate).rawValue
        keptAtStart = FrameCount(.milliseconds(120), at: format.rate).rawValue
        keptAtEnd = FrameCount(.milliseconds(80), at: format.rate).rawValue
        fadeLength = FrameCount(.milliseconds(10), at: format.rate).rawValue
        threshold = 3.16e-5
    }

    /// Drops what was read and not returned.
    mutating func clear() {
        ready.removeAll(keepingCapacity: true)
        returned = 0
        endPause()
    }

    /// Whether frames were read that are not returned yet.
    var holdsBack: Bool { returned < ready.count || !held.isEmpty || dropped > 0 }

    /// The position of the next frame that `read` returns.
    func position(in reader: any MediaReader) -> Estimate<Duration> {
        let ahead = (ready.count - returned + held.count) / format.channelCount
        var position = reader.position
        if ahead > 0 { position.value = max(position.value - FrameCount(ahead).duration(at: format.rate), .zero) }
        return position
    }

    /// Fills `chunk` from the front and returns the number of frames, which is 0 at the end of `reader`, and the number
    /// of frames left out before them. If `isActive` is false, nothing is left out from now on.
    mutating func read(
        into chunk: inout FixedBuffer<Float>, from reader: any MediaReader, isActive: Bool
    ) throws(ReaderError) -> (frameCount: Int, skipped: Int) {
        var skipped = 0
        while true {
            if returned < ready.count { return (takeReady(into: &chunk), skipped) }
            if !isActive, !held.isEmpty { skipped += resume() }
            if returned < ready.count { continue }
            let count = try Self.read(&chunk, from: reader)
            guard count > 0 else {
                // A pause at the end is left out like any other one.
                if dropped > 0 || held.isEmpty {
                    let rest = dropped > 0 ? dropped + held.count / format.channelCount : 0
                    endPause()
                    return (0, rest)
                }
                _ = resume()
                continue
            }
            let sampleCount = count * format.channelCount
            guard isActive, meanSquare(of: chunk.span(in: 0..<sampleCount)) < threshold else {
                if held.isEmpty {
                    endPause()
                    return (count, skipped)
                }
                skipped += resume()
                for index in 0..<sampleCount { ready.append(chunk[index]) }
                continue
            }
            pauseLength += count
            if held.isEmpty, dropped == 0, pauseLength - count < keptAtStart { return (count, skipped) }
            for index in 0..<sampleCount { held.append(chunk[index]) }
            if pauseLength >= leastPause { drop() }
        }
    }

    /// Leaves out what was held, but for the end of it.
    private mutating func drop() {
        let channels = format.channelCount
        if dropped == 0 { tail = Array(held.prefix(fadeLength * channels)) }
        let excess = held.count / channels - keptAtEnd
        guard excess > 0 else { return }
        held.removeFirst(excess * channels)
        dropped += excess
    }

    /// Ends the pause, and makes what is held ready. Returns the number of frames left out before it.
    private mutating func resume() -> Int {
        let skipped = dropped
        if skipped > 0 {
            let channels = format.channelCount
            let length = min(tail.count, held.count) / channels
            for frame in 0..<length {
                let gain = (Float(frame) + 0.5) / Float(length)
                for index in frame * channels..<(frame + 1) * channels {
                    held[index] = held[index] * gain + tail[index] * (1 - gain)
                }
            }
        }
        ready.append(contentsOf: held)
        endPause()
        return skipped
    }

    private mutating func endPause() {
        held.removeAll(keepingCapacity: true)
        tail.removeAll(keepingCapacity: true)
        (pauseLength, dropped) = (0, 0)
    }

    private mutating func takeReady(into chunk: inout FixedBuffer<Float>) -> Int {
        let count = min(ready.count - returned, chunk.count)
        for index in 0..<count { chunk[index] = ready[returned + index] }
        returned += count
        if returned == ready.count {
            ready.removeAll(keepingCapacity: true)
            returned = 0
        }
        return count / format.channelCount
    }

    private static func read(_ chunk: inout FixedBuffer<Float>, from reader: any MediaReader) throws(ReaderError) -> Int
    {
        var room = chunk.mutableSpan
        return try reader.read(into: &room).rawValue
    }
}
