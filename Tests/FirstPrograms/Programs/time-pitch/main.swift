import Glibc
import TenfourAudioCore
import TenfourTimePitch

/// Returns the tone at half the speed and an octave higher.
func changed(_ tone: [Float]) -> [Float] {
    var effect = TimePitch(format: .mono)
    effect.rate = 0.5
    effect.pitch = 1_200
    var (output, start) = ([Float](), 0)
    var block = [Float](repeating: 0, count: 480)
    while true {
        var room = block.mutableSpan
        let progress = effect.process(tone.span.extracting(start..<tone.count), into: &room)
        let count = progress.produced == .zero ? effect.finish(into: &room) : progress.produced
        if count == .zero { return output }
        start += progress.consumed.rawValue
        output += block.prefix(count.rawValue)
    }
}

let tone = (0..<48_000).map { sin(2 * .pi * 440 * Float($0) / 48_000) }
let output = changed(tone)
let crossings = zip(output, output.dropFirst()).count { $0 < 0 && $1 >= 0 }
let seconds = Double(output.count) / 48_000
print("\((10 * seconds).rounded() / 10) s at \(Int((Double(crossings) / seconds / 10).rounded()) * 10) Hz")
