import TenfourAudioCore
import TenfourWaveform
import Testing

/// Reduces values that remain distinct after averaging.
private func bars(_ values: [Int32], to count: Int, expecting expected: Int? = nil, cutAt cuts: [Int] = []) -> Bars {
    var reduction = BarReduction(barCount: count, expecting: expected.map { FrameCount($0) })
    var start = 0
    for cut in cuts + [values.count] {
        let block = values[start..<cut].map { $0 * 32_768 }
        reduction.append(heights: block.span)
        start = cut
    }
    return reduction.bars()
}

/// The averages in decibels above the floor.
private func means(_ bars: Bars) -> [Double] { bars.averages.map { Double($0 + 70) } }

private func noise(_ count: Int, seed: UInt32 = 1) -> [Float] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        let sample = Float(Int32(bitPattern: state)) / 0x1p31
        return state % 5 == 0 ? sample / 3_000 : sample
    }
}

/// Returns the bars as documented, computed in double precision.
private func ruled(_ samples: [Float], to count: Int, channelCount: Int = 1, floor: Double = -70) -> [Double] {
    let levels = stride(from: 0, to: samples.count, by: channelCount).map { start in
        let loudest = samples[start..<start + channelCount].map { Double($0.magnitude) }.max()!
        return loudest > 0 ? max(20 * logarithm(loudest), floor) : floor
    }
    let factor = max(levels.count / count, 1)
    return (0..<min(count, levels.count)).map { bar in
        levels[bar * factor..<(bar + 1) * factor].reduce(0, +) / Double(factor)
    }
}

struct BarReductionTests {
    @Test func aBarIsTheMeanOfAsManyValuesAsGoIntoEachAndTheRestIsDropped() {
        #expect(means(bars([3, 2, 1, 2, 2, 1, 7, 1, 5, 1, 4], to: 2)) == [2, 3])
        let thirds = means(bars([3, 2, 1, 2, 2, 1, 7], to: 2))
        #expect(thirds[0] == 2 && abs(thirds[1] - 5 / 3.0) < 1e-5 && thirds.count == 2)
    }

    @Test(arguments: [nil, 0, 7, 11, 100_000]) func theSameBlockByBlockWhateverWasExpected(_ expected: Int?) {
        for cuts in [[1], [3], [4, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]] {
            #expect(means(bars([3, 2, 1, 2, 2, 1, 7, 1, 5, 1, 4], to: 2, expecting: expected, cutAt: cuts)) == [2, 3])
        }
        let thirds = bars([3, 2, 1, 2, 2, 1, 7], to: 2, expecting: expected)
        for cut in 0...7 {
            #expect(bars([3, 2, 1, 2, 2, 1, 7], to: 2, expecting: expected, cutAt: [cut]) == thirds && thirds.isExact)
        }
    }

    @Test func aSoundOfFewerFramesThanBarsHasABarForEach() {
        #expect(means(bars([4, 0, 2], to: 5)) == [4, 0, 2])
        #expect(bars([], to: 5).count == 0)
    }

    @Test(arguments: [(1, 1), (7, 1), (75, 2), (1_111, 3)])
    func anyLengthThatIsNearlyKnownIsExact(_ count: Int, _ channelCount: Int) {
        for frameCount in [count, 5_000, 30_001] {
            let samples = noise(frameCount * channelCount)
            let expected = ruled(samples, to: count, channelCount: channelCount)
            var first: Bars?
            for (error, block) in [(0, 4_096), (16_000, 100_000), (-16_000, 601)] {
                var reduction = BarReduction(
                    barCount: count, channelCount: channelCount, expecting: FrameCount(frameCount + error))
                for start in stride(from: 0, to: frameCount, by: block) {
                    let range = start * channelCount..<min(start + block, frameCount) * channelCount
                    reduction.append(samples.span.extracting(range))
                }
                let bars = reduction.bars()
                #expect(bars.isExact && bars.count == expected.count && bars.frameCount.rawValue == frameCount)
                #expect(zip(bars.averages, expected).allSatisfy { abs(Double($0) - $1) < 1e-4 })
                #expect(first == nil || first == bars, "the same to the bit")
                first = bars
            }
        }
    }

    /// Without the true length the bars cannot be exact; they are close, and `isExact` is false.
    @Test func aLengthThatNobodyKnewIsNearAndSaysSo() {
        let samples = noise(141_001)
        let expected = ruled(samples, to: 100)
        for guess in [nil, FrameCount(100_000)] {
            var reduction = BarReduction(barCount: 100, expecting: guess)
            reduction.append(samples.span)
            let bars = reduction.bars()
            #expect(!bars.isExact && bars.count == 100)
            #expect(zip(bars.averages, expected).allSatisfy { abs(Double($0) - $1) < 0.2 })
        }
        var again = BarReduction(barCount: 100, expecting: FrameCount(141_001))
        again.append(samples.span)
        #expect(again.bars().isExact)
    }

    /// Without a length, the bars are exact if there are no more samples than cells, or if each bar begins at the
    /// start of a cell.
    @Test func aShortSoundIsExactThoughNobodyKnewItsLength() {
        for frameCount in [65_536, 65_600, 131_072 - 128] {
            let samples = noise(frameCount)
            var reduction = BarReduction(barCount: 64)
            reduction.append(samples.span)
            let bars = reduction.bars()
            let factor = frameCount / 64
            #expect(bars.isExact == (frameCount <= 65_536 || factor % 2 == 0), "\(frameCount)")
            let expected = ruled(samples, to: 64)
            let isNear = zip(bars.averages, expected).allSatisfy { abs(Double($0) - $1) < (bars.isExact ? 1e-4 : 0.1) }
            #expect(isNear)
        }
    }

    @Test func aPeakIsTheHighestInItsBar() {
        var samples = [Float](repeating: 0.1, count: 1_000)
        samples[99] = -0.5
        samples[100] = 1
        var reduction = BarReduction(barCount: 10, expecting: FrameCount(1_000))
        reduction.append(samples.span)
        let bars = reduction.bars()
        #expect(abs(bars.peaks[0] + 6.0206) < 1e-4 && abs(bars.peaks[1]) < 1e-4 && abs(bars.peaks[2] + 20) < 1e-4)
        #expect(bars.peak == bars.peaks[1])
    }

    /// Two channels in opposite phase do not cancel each other.
    @Test func aFrameIsAsLoudAsItsLoudestChannel() {
        let samples: [Float] = [0.5, -0.5, 0, 1, 0.1, 0]
        var reduction = BarReduction(barCount: 3, channelCount: 2, expecting: FrameCount(3))
        reduction.append(samples.span)
        let averages = reduction.bars().averages
        #expect(abs(averages[0] + 6.0206) < 1e-4 && abs(averages[1]) < 1e-4 && abs(averages[2] + 20) < 1e-4)
    }

    /// An absurd length costs no memory or time.
    @Test func nothingFromOutsideGrowsOrTraps() {
        for (count, expected) in [(0, -5), (-1, 0), (1 << 40, Int.max), (65_536, 1 << 60)] {
            var reduction = BarReduction(barCount: count, channelCount: 0, expecting: FrameCount(expected), floor: .nan)
            reduction.append([Float.nan, .infinity, -.infinity, 1e30, 0, -0.0, .leastNonzeroMagnitude, 3e38].span)
            let bars = reduction.bars()
            let isFinite = bars.averages.allSatisfy(\.isFinite) && bars.peaks.allSatisfy(\.isFinite)
            #expect(isFinite && BarReduction.barCounts.contains(reduction.barCount))
        }
    }
}

struct LevelTests {
    private static let floors: [Float] = (1...120).map { -Float($0) } + [-0.5, -33.3, -119.99, -400]

    /// For every exponent of a float, subnormal ones included, both signs, and every floor, the level differs from a
    /// logarithm in double precision by at most a ten-thousandth of a decibel.
    @Test func aLevelIsRightToATenThousandthOfADecibel() {
        var samples: [Float] = []
        for exponent in -149...127 {
            for part in 0..<6 {
                let sample = Float(sign: .plus, exponent: exponent, significand: 1 + Float(part) / 6)
                samples += [sample, -sample, sample.nextDown]
            }
        }
        samples += [.greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude, 0, -0.0]
        var worst = 0.0
        for floor in Self.floors {
            var reduction = BarReduction(barCount: samples.count, floor: floor)
            reduction.append(samples.span)
            let bars = reduction.bars()
            for (level, sample) in zip(bars.averages, samples) {
                let expected = sample == 0 ? -.infinity : 20 * logarithm(Double(sample.magnitude))
                worst = max(worst, abs(Double(level) - max(expected, Double(bars.floor))))
            }
            #expect(bars.peaks == bars.averages)
        }
        #expect(worst < 1e-4, "\(worst)")
    }

    /// The average and the peak of a constant block far below the floor or far above full scale.
    @Test(arguments: [(1e-20, -70), (-1e-20, -70), (1e-38, -70), (1e20, 400), (-1e38, 760)] as [(Float, Float)])
    func aConstantSoundHasItsLevelAsMeanAndPeak(_ sample: Float, _ level: Float) {
        var reduction = BarReduction(barCount: 3, floor: -70)
        reduction.append([Float](repeating: sample, count: 9_000).span)
        let bars = reduction.bars()
        #expect(bars.averages.allSatisfy { abs($0 - level) < 1e-4 } && bars.peaks.allSatisfy { abs($0 - level) < 1e-4 })
    }

    @Test(arguments: floors) func notANumberIsDrawnAsSilence(floor: Float) {
        var reduction = BarReduction(barCount: 6, floor: floor)
        reduction.append([.nan, -.nan, .signalingNaN, .infinity, -.infinity, Float(nan: 5, signaling: false)].span)
        let bars = reduction.bars()
        #expect(bars.averages.allSatisfy { $0 == bars.floor } && bars.peaks == bars.averages)
    }

    @Test func silenceIsTheFloorAndFullScaleIsZero() {
        var reduction = BarReduction(barCount: 6, floor: -70)
        reduction.append([0, 1, -1, 1e-9, .nan, 0.1].span)
        let averages = reduction.bars().averages
        #expect(averages[0] == -70 && averages[1] == 0 && averages[2] == 0 && averages[3] == -70 && averages[4] == -70)
        #expect(abs(averages[5] + 20) < 1e-4)
    }
}
