import TenfourAudioCore
import TenfourJitterBuffer
import Testing

/// Feeds the estimate for `seconds` with packets of `length` frames; `delay` is each one's, by its end.
private func estimate(seconds: Int, length: Int, delay: (Int) -> Int) -> (last: Double, most: Double) {
    var drift = DriftEstimate()
    var most = 0.0
    for end in stride(from: length, to: seconds * 48_000, by: length) {
        drift.insert(FrameCount(delay(end)), at: FrameCount(end + delay(end)))
        most = max(most, abs(drift.partsPerMillion))
    }
    return (drift.partsPerMillion, most)
}

@Test(arguments: [-300.0, -20, 0, 300])
func theDriftOfTwoClocksIsKnownAfterTwentySeconds(partsPerMillion: Double) {
    let drift = estimate(seconds: 20, length: 960) { end in
        Int(Double(end) * partsPerMillion * 1e-6) + end / 960 * 7 % 24
    }
    #expect(abs(drift.last - partsPerMillion) < 15)
}

/// As ffmpeg sends: it takes sound in pieces of 1024 frames, and a packet goes out when the piece that ends it is there.
@Test(arguments: [960, 1_920, 2_880])
func packetsInBurstsAreNotTakenForDrift(length: Int) {
    let drift = estimate(seconds: 60, length: length) { end in (1_024 - end % 1_024) % 1_024 + end / length * 389 % 200
    }
    #expect(drift.most < 300)
    #expect(abs(drift.last) < 30)
}

/// Of 10 and 30 ms, as many networks have it: the fastest packet of a second is then off by as much.
@Test(arguments: 1...6, [480.0, 1_440])
func jitterIsNotTakenForDrift(seed: Int, sigma: Double) {
    var chance = Chance(state: UInt64(seed))
    let drift = estimate(seconds: 120, length: 960) { _ in Int(min(max(chance.normal(), -3), 3) * sigma + 3 * sigma) }
    #expect(drift.most < 250)
    #expect(abs(drift.last) < 80)
}

/// Steps and ramps within seconds of each other, from the second second on, with jitter of at most 5 ms.
@Test func frequentChangesOfTheDelayAreNotTakenForDrift() {
    for seed in 0..<300 as Range<UInt64> {
        let link = QuietLink(seed: seed)
        var drift = DriftEstimate()
        for (number, delay) in link.delays().enumerated() {
            let end = FrameCount((number + 1) * link.packet.rawValue)
            let arrival = FrameCount(Int(Double(end.rawValue) * (1 + link.driftPartsPerMillion * 1e-6)) + delay)
            drift.insert(arrival - end, at: arrival)
        }
        #expect(abs(drift.partsPerMillion - link.driftPartsPerMillion) < 60, "\(drift.partsPerMillion) ppm: \(link)")
    }
}

/// Steps and slow ramps in either direction, of a stream that also has drift.
@Test(arguments: 1...8) func aChangeOfTheDelayIsNotTakenForDrift(seed: Int) {
    var chance = Chance(state: UInt64(seed))
    let truth = Double.random(in: -200...200, using: &chance)
    var changes: [(at: Double, seconds: Double, frames: Double)] = []
    for number in 0..<4 {
        let size = Double.random(in: 1_500...7_200, using: &chance)
        let isUp = Bool.random(using: &chance)
        changes.append((Double(number * 12 + 10), number % 2 == 0 ? 0 : 5, isUp ? size : -size))
    }
    let drift = estimate(seconds: 70, length: 960) { end in
        let now = Double(end) / 48_000
        var delay = 20_000 + Double(end) * truth * 1e-6
        for change in changes where now >= change.at {
            delay += change.seconds > 0 ? change.frames * min((now - change.at) / change.seconds, 1) : change.frames
        }
        return Int(delay) + Int.random(in: 0...48, using: &chance)
    }
    #expect(abs(drift.last - truth) < 30, "\(drift.last) instead of \(truth) ppm")
}
