import Glibc
import TenfourAudioCore

/// A tone of 440 Hz that fades to silence: a source of audio, as a card is.
struct Tone: AudioSource {
    let format = LPCMFormat.mono
    private let end = FrameCount(.seconds(1))
    private var position = FrameCount.zero

    mutating func read(into samples: inout MutableSpan<Float>) -> FrameCount {
        let count = min(FrameCount(samples.count), end - position)
        for index in 0..<count.rawValue {
            let frame = Float(position.rawValue + index)
            let gain = 1 - frame / Float(end.rawValue)
            let phase = 440 * frame / Float(format.rate.hertz)
            samples[index] = gain * sin(2 * .pi * phase)
        }
        position += count
        return count
    }
}

// Prints the level of every tenth of a second.
var tone = Tone()
let block = FrameCount(.milliseconds(100), at: tone.format.rate)
var samples = [Float](repeating: 0, count: block.rawValue)
var time = Instant.start
while true {
    var space = samples.mutableSpan
    let count = tone.read(into: &space)
    if count == .zero { break }
    let heard = samples.span.extracting(first: count.rawValue)
    let level = Level(rootMeanSquareOf: heard)
    print("\(time - .start): \(Int(level.decibels.rounded())) dBFS")
    time = time + count.duration()
}
