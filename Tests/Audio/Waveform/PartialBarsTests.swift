import TenfourAudioCore
import TenfourWaveform
import Testing

/// The bars of a recording that is read in parts.
struct PartialBarsTests {
    /// Samples whose levels vary.
    private let samples: [Float] = (0..<40_000).map { (frame: Int) -> Float in
        let (value, loudness) = (frame * 7_919 % 1_000, frame / 500 % 9 + 1)
        return Float(value * loudness) / 9_000
    }

    private func reduction(_ barCount: Int, expecting frameCount: Int? = 40_000) -> BarReduction {
        BarReduction(barCount: barCount, expecting: frameCount.map { FrameCount($0) })
    }

    private var whole: Bars {
        var reduction = reduction(100)
        reduction.append(samples.span)
        return reduction.bars()
    }

    @Test func theyGrowAndEndAsThoseOfTheWhole() {
        var reduction = reduction(100)
        for start in stride(from: 0, to: 40_000, by: 1_000) {
            reduction.append(samples.span.extracting(start..<start + 1_000))
            let partial = reduction.partialBars(of: FrameCount(40_000))
            let count = (start + 1_000) / 400
            #expect(partial.bars.count == 100 && partial.bars.isExact == (count == 100))
            #expect(partial.readRanges == [0..<(start + 1_000 + 399) / 400])
            #expect(abs(partial.readShare - Double(start + 1_000) / 40_000) < 1e-9)
            #expect(partial.bars.averages.prefix(count) == whole.averages.prefix(count))
            #expect(partial.bars.peaks.prefix(count) == whole.peaks.prefix(count))
            #expect(partial.bars.averages.dropFirst(count + 1).allSatisfy { $0 == -70 })
        }
        #expect(reduction.partialBars(of: FrameCount(40_000)).bars == whole)
    }

    @Test func partsInAnyOrderAndTwiceAreTheWhole() {
        var reduction = reduction(100)
        for range in [30_000..<40_000, 10_000..<20_000, 15_000..<35_000, 0..<12_345] {
            reduction.move(to: FrameCount(range.lowerBound))
            reduction.append(samples.span.extracting(range))
        }
        #expect(reduction.bars() == whole)
    }

    @Test func whatIsMissingIsTold() {
        var reduction = reduction(100)
        reduction.append(samples.span.extracting(0..<8_000))
        reduction.move(to: FrameCount(20_000))
        reduction.append(samples.span.extracting(20_000..<30_200))
        let partial = reduction.partialBars(of: FrameCount(40_000))
        #expect(partial.readRanges == [0..<20, 50..<76] && !partial.bars.isExact)
        #expect(abs(partial.readShare - 18_200.0 / 40_000) < 1e-9)
        // Half of this bar has been read.
        let half = samples[30_000..<30_200].max() ?? 0
        #expect(abs(partial.bars.peaks[75] - level(ofPeak: half)) < 0.001)
    }

    /// The length is not known, so that the bars come from cells.
    @Test func anUnknownLengthIsApproximated() {
        let samples = (0..<200_000).map { _ in Float(0.1) }
        var reduction = BarReduction(barCount: 100)
        reduction.append(samples.span)
        let partial = reduction.partialBars(of: FrameCount(1_000_000))
        #expect(partial.readRanges == [0..<20] && !partial.bars.isExact)
        #expect(partial.bars.averages.prefix(20).allSatisfy { abs($0 + 20) < 0.001 })
        #expect(abs(partial.readShare - 0.2) < 0.001)
    }

    @Test func anyPositionIsTaken() {
        var reduction = BarReduction(barCount: 10)
        for position in [Int.max, Int.min, -1, 1 << 60, 1 << 48] {
            reduction.move(to: FrameCount(position))
            reduction.append(samples.span.extracting(0..<10))
            for whole in [Int.max, Int.min, 0, 5, 1 << 40] {
                #expect(reduction.partialBars(of: FrameCount(whole)).bars.count <= 10)
            }
        }
    }
}

private func level(ofPeak peak: Float) -> Float { Level(meanSquare: peak * peak).decibels }

/// The picture of a recording that is played.
struct WaveformStripTests {
    private func bars(_ count: Int, read: Range<Int>? = nil) -> PartialBars {
        var bars = Bars(frameCount: FrameCount(count * 480), framesPerBar: FrameCount(480))
        bars.averages = [Float](repeating: -20, count: count)
        bars.peaks = [Float](repeating: -10, count: count)
        var partial = PartialBars(bars: bars, isRead: true)
        if let read { partial.readRanges = [read] }
        return partial
    }

    private func plain(_ lines: [String]) -> [String] { lines.map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") } }

    @Test func itFillsItsPlaceAndShowsThePosition() {
        var strip = WaveformStrip(bars(1_000), duration: .seconds(10), position: .seconds(5))
        strip.arrived = 0.75
        let lines = plain(strip.lines(width: 40, height: 4))
        #expect(lines.count == 5 && lines.allSatisfy { $0.count == 40 })
        #expect(lines.dropLast().allSatisfy { Array($0)[20] == "│" })
        #expect(lines.last == String(repeating: "━", count: 20) + "●─────────" + String(repeating: "┈", count: 10))
    }

    @Test func whatHasNotBeenReadIsEmpty() {
        let lines = plain(
            WaveformStrip(bars(1_000, read: 0..<500), duration: .seconds(10)).lines(width: 40, height: 4))
        #expect(lines.dropLast().allSatisfy { $0.dropFirst(20).allSatisfy { $0 == " " } })
        #expect(lines.dropLast().allSatisfy { !$0.dropFirst(1).prefix(19).contains(" ") })
        let nothing = WaveformStrip(nil, duration: .seconds(10), position: .seconds(20)).lines(width: 40, height: 2)
        #expect(plain(nothing).allSatisfy { $0.count == 40 })
    }

    @Test func playedUpcomingAndLostPartsHaveColoursOfTheirOwn() {
        var strip = WaveformStrip(bars(1_000), duration: .seconds(10), position: .seconds(5))
        strip.markedRanges = [MarkedRange(.seconds(8) ..< .seconds(9))]
        let line = strip.lines(width: 40, height: 4)[1]
        for colour in [33, 172, 103, 167] { #expect(line.contains("\u{1B}[38;5;\(colour)m"), "\(colour)") }
    }

    @Test func aColumnStandsForItsMiddle() {
        #expect(WaveformStrip.time(atColumn: 0, ofWidth: 10, duration: .seconds(10)) == .milliseconds(500))
        #expect(WaveformStrip.time(atColumn: 99, ofWidth: 10, duration: .seconds(10)) == .milliseconds(9_500))
        #expect(WaveformStrip.time(atColumn: -5, ofWidth: 0, duration: .seconds(10)) == .seconds(5))
    }

    @Test(arguments: [Duration.zero, .nanoseconds(1), .seconds(1 << 40)]) func anyDurationIsDrawn(duration: Duration) {
        let strip = WaveformStrip(bars(3), rate: SampleRate(hertz: 1), duration: duration, position: .seconds(-1))
        #expect(plain(strip.lines(width: 30, height: 2)).allSatisfy { $0.count == 30 })
    }
}
