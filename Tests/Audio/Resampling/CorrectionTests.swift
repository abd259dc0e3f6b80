import Glibc
import TenfourAudioCore
import TenfourResampling
import Testing

@Test(arguments: [-10_000, -300.4, -15, -1, 0.25, 1, 7.63, 100, 10_000] as [Float])
func aCorrectionIsKeptToTheFrameOverAMinute(partsPerMillion: Float) throws {
    var converter = try RateConverter(from: .opus, to: .opus)
    let sent = [Float](repeating: 0, count: 60 * 48_000)
    let heard = converter.convert(sent, correction: { _ in partsPerMillion })
    let wanted = Double(sent.count) / (1 + Double(partsPerMillion) / 1_000_000)
    #expect(abs(Double(heard.count) - wanted) <= 2)
}

@Test func aCorrectionAddsToAConversion() throws {
    var converter = try RateConverter(from: SampleRate(hertz: 44_100), to: .opus)
    let sent = [Float](repeating: 0, count: 60 * 44_100)
    let heard = converter.convert(sent, step: 882, correction: { _ in 120 })
    #expect(abs(Double(heard.count) - 60 * 48_000 / 1.00012) <= 2)
}

@Test func aCorrectionThatWandersMakesNoClick() throws {
    var converter = try RateConverter(from: .opus, to: .opus)
    let heard = converter.convert(tone(1_000, 600 * 960)) { Float($0 - 300) }
    #expect(worstResidue(in: heard, of: 1_000) < -70)
}

@Test func theFirstCorrectionAndAJumpMakeNoClick() throws {
    var converter = try RateConverter(from: .opus, to: .opus)
    let heard = converter.convert(tone(1_000, 100 * 960)) { piece in
        piece == 50 ? 100 : piece == 70 ? -100 : piece == 90 ? 0 : nil
    }
    #expect(worstResidue(in: heard, of: 1_000) < -60)
}

@Test func aCorrectionOfNothingLeavesTheRatioExact() throws {
    let sent = tone(440, 9_600)
    var corrected = try RateConverter(from: .opus, to: .opus)
    var plain = try RateConverter(from: .opus, to: .opus)
    #expect(corrected.convert(sent, correction: { _ in 0 }) == plain.convert(sent))
}

@Test func aCorrectionBeyondReasonIsCut() throws {
    for (asked, given) in [(Float.infinity, 10_000), (-.infinity, -10_000), (1e9, 10_000), (.nan, 0)] {
        var converter = try RateConverter(from: .opus, to: .opus)
        let heard = converter.convert([Float](repeating: 0, count: 480_000), correction: { _ in asked })
        #expect(abs(Double(heard.count) - 480_000 / (1 + Double(given) / 1_000_000)) <= 2)
    }
}

/// Compares the C library's heap reports before and after a conversion, in a process of its own. Threads of the Swift
/// runtime and the first use of a generic type may disturb the report, so one undisturbed attempt of several is
/// enough: a converter that allocates does so in each attempt.
@Test(arguments: [(48_000, 48_000), (44_100, 48_000), (96_000, 48_000), (95_990, 48_000), (48_000, 8_000)])
func nothingIsAllocatedWhileSoundFlows(from: Int, to: Int) async {
    await #expect(processExitsWith: .success) { [from, to] in
        for quality in [0, 3, 10] {
            var isUndisturbed = false
            for _ in 0..<10 where !isUndisturbed {
                var converter = try RateConverter(
                    from: SampleRate(hertz: from), to: SampleRate(hertz: to), channelCount: 2, quality: quality)
                let input = [Float](repeating: 0, count: 1_920)
                var output = [Float](repeating: 0, count: 4_000)
                var before = [UInt8](repeating: 0, count: 32_768)
                var after = before
                writeHeapReport(into: &before)
                writeHeapReport(into: &before)
                var partsPerMillion: Float = -10_000
                while partsPerMillion <= 10_000 {
                    converter.correct(by: partsPerMillion)
                    var room = output.mutableSpan
                    _ = converter.process(input.span, into: &room)
                    partsPerMillion += 625
                }
                writeHeapReport(into: &after)
                isUndisturbed = before == after
            }
            precondition(isUndisturbed)
        }
    }
}

/// Writes a heap report with `malloc_info`, which the Glibc module does not export. The stream is closed before the
/// function returns.
private func writeHeapReport(into report: inout [UInt8]) {
    typealias MallocInfo = @convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt
    let mallocInfo = unsafe unsafeBitCast(dlsym(nil, "malloc_info")!, to: MallocInfo.self)
    let stream = unsafe fmemopen(&report, report.count, "w")!
    _ = unsafe mallocInfo(0, stream)
    unsafe fclose(stream)
}
