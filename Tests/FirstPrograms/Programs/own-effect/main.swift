import TenfourAudioCore
import TenfourEffects
import TenfourPlayer

/// Swaps the two channels.
struct Swap: InPlaceEffect {
    let format: LPCMFormat

    mutating func apply(to samples: inout MutableSpan<Float>) {
        for left in stride(from: 0, to: samples.count - 1, by: 2) {
            (samples[left], samples[left + 1]) = (samples[left + 1], samples[left])
        }
    }

    mutating func clear() {}
}

// own-effect song.mp3 swapped.wav
var configuration = StreamerConfiguration()
configuration.output = .file(CommandLine.arguments[2])
configuration.makeEffect = { format in AnyAudioEffect(Swap(format: format)) }
let streamer = try Streamer(configuration)
try streamer.playToEnd(CommandLine.arguments[1])
streamer.close()
