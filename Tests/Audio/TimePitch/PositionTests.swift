import Glibc
import TenfourAudioCore
import TenfourTimePitch
import Testing

/// Returns audio whose pitch reveals the position: 400 Hz at the beginning, and 10 Hz more every 10 ms.
private func coded(_ seconds: Double) -> [Float] {
    var phase = 0.0
    return (0..<Int(seconds * 48_000)).map { index in
        phase += 2 * Double.pi * (400 + Double(index) / 48) / 48_000
        return Float(0.3 * sin(phase))
    }
}

/// Returns the input position of the audio around `place`, in frames, found by its frequency.
private func origin(of output: [Float], at place: Int) -> Double {
    // Measures between two zero crossings, over up to 20 ms.
    let piece = output[place - 480..<place + 480]
    let crossings = piece.indices.dropFirst().filter { output[$0 - 1] < 0 && output[$0] >= 0 }.map { index in
        Double(index) - Double(output[index] / (output[index] - output[index - 1]))
    }
    let hertz = Double(crossings.count - 1) * 48_000 / (crossings.last! - crossings.first!)
    return (hertz - 400) * 48
}

@Test func thePositionIsRightThroughChangesOfRate() {
    let input = coded(3)
    let rates = [1, 1.5, 0.8, 2, 1, 0.6, 3, 1.2, 0.5, 1, 4, 0.9]
    var run = TimePitchRun()
    for (index, rate) in rates.enumerated() {
        run.timePitch.rate = rate
        run.process(Array(input[index * 12_000..<(index + 1) * 12_000]))
    }
    var worst = 0.0
    for (frame, position) in run.positions where frame > 480 && frame < run.output.count - 480 {
        worst = max(worst, abs(origin(of: run.output, at: frame) - position))
    }
    // 20 ms: a sliding frequency cannot be measured more precisely across a cross-fade.
    #expect(worst < 960)
    let count = run.positions.count
    #expect(count > 250)
}

@Test func latencyIsWhatWasTakenAndIsNotYetGiven() {
    var run = TimePitchRun(rate: 1.5)
    run.process(tone(440, seconds: 1))
    let sum = run.timePitch.position + run.timePitch.latency
    #expect(abs(sum - 48_000) < 1e-6)
    let latency = run.timePitch.latency
    #expect(latency < 0.08 * 48_000)
    run.timePitch.rate = 1
    run.process(tone(440, seconds: 1))
    let rest = run.timePitch.latency
    #expect(rest == 0)
}
