import TenfourAudioCore
import TenfourTimePitch
import Testing

/// A live stream at 8 kHz that is played in blocks of 10 ms as it arrives.
private struct Stream: ~Copyable {
    var live: LiveTimePitch
    private(set) var heard: [Float] = []
    /// The number of blocks for which there was not enough audio.
    private(set) var gaps = 0
    private var sent = 0
    private var hasBegun = false

    init(longestLag: Duration = .seconds(30)) {
        live = LiveTimePitch(format: LPCMFormat(rate: SampleRate(hertz: 8_000)), longestLag: longestLag)
    }

    mutating func run(seconds: Double, isSilent: Bool = false) {
        var room = [Float](repeating: 0, count: 80)
        for _ in 0..<Int(seconds * 100) {
            let piece = (0..<80).map { isSilent ? 0 : wave(sent + $0) }
            sent += 80
            live.append(piece.span)
            var span = room.mutableSpan
            let given = live.render(into: &span).rawValue
            if given > 0 { hasBegun = true }
            if hasBegun, given < 80 { gaps += 1 }
            heard += room[..<given]
        }
    }

    /// Returns a sample of a tone of 1000 Hz.
    private func wave(_ index: Int) -> Float { [0, 0.2, 0.3, 0.2, 0, -0.2, -0.3, -0.2][index % 8] }
}

private func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }

@Test func aLiveStreamThatIsPlayedSlowlyFallsBehindAsMuch() {
    var stream = Stream()
    stream.live.rate = 0.8
    stream.run(seconds: 5)
    let (lag, gaps) = (seconds(stream.live.lag), stream.gaps)
    #expect(abs(lag - 1.1) < 0.1)
    #expect(gaps == 0)
}

@Test func itFallsNoFurtherBehindThanItMayAndLosesNothing() {
    var stream = Stream(longestLag: .seconds(1))
    stream.live.rate = 0.5
    stream.run(seconds: 5)
    let (lag, dropped, gaps) = (seconds(stream.live.lag), stream.live.dropped, stream.gaps)
    #expect(abs(lag - 1) < 0.1)
    #expect(dropped == .zero)
    #expect(gaps == 0)
}

@Test func itCatchesUpWhenTheRateIsSetBack() {
    var stream = Stream()
    stream.live.rate = 0.8
    stream.run(seconds: 5)
    stream.live.rate = 1
    stream.run(seconds: 6)
    let (lag, rate, gaps) = (seconds(stream.live.lag), stream.live.currentRate, stream.gaps)
    #expect(abs(lag - 0.1) < 0.05)
    #expect(rate == 1)
    #expect(gaps == 0)
}

@Test func itCatchesUpInAPause() {
    var stream = Stream()
    stream.live.rate = 0.8
    stream.run(seconds: 5)
    stream.run(seconds: 3, isSilent: true)
    let (lag, skipped) = (seconds(stream.live.lag), stream.live.skipped)
    #expect(lag < 0.8)
    #expect(skipped > .zero)
}

@Test func nothingIsFasterThanItComes() {
    var stream = Stream()
    stream.live.rate = 2
    stream.run(seconds: 3)
    let (rate, gaps) = (stream.live.currentRate, stream.gaps)
    #expect(rate == 1)
    #expect(gaps == 0)
}

@Test func whenNobodyTakesWhatIsGivenItStaysWithinItsBounds() {
    var live = LiveTimePitch(format: LPCMFormat(rate: SampleRate(hertz: 8_000)), longestLag: .seconds(1))
    for _ in 0..<500 { live.append([Float](repeating: 0.1, count: 80).span) }
    let (lag, dropped) = (seconds(live.lag), live.dropped)
    #expect(lag <= 2)
    #expect(dropped == FrameCount(40_000 - 16_000))
}
