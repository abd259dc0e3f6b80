import Glibc
import TenfourAudioCore
import TenfourResampling
import Testing

@Test(arguments: [
    (44_100, 48_000), (48_000, 44_100), (96_000, 48_000), (48_000, 96_000), (16_000, 48_000), (48_000, 47_999),
])
func aToneKeepsItsPitchAndLevelAtAnotherRate(from: Int, to: Int) throws {
    let (from, to) = (SampleRate(hertz: from), SampleRate(hertz: to))
    var converter = try RateConverter(from: from, to: to)
    let heard = converter.convert(tone(997, from.hertz / 2, at: from))
    #expect(abs(heard.count - to.hertz / 2) <= converter.delay.rawValue + 1)
    #expect(worstResidue(in: heard, of: 997, at: to) < -75)
    let power = heard.suffix(10_000).reduce(0) { $0 + Double($1 * $1) } / 10_000
    #expect(abs(10 * log10(power / 0.125)) < 0.1)
}

@Test func atOneRateSoundOnlyComesLater() throws {
    var converter = try RateConverter(from: .opus, to: .opus)
    let sent = tone(440, 9_600)
    let heard = converter.convert(sent)
    let delay = converter.delay.rawValue
    #expect(delay == 24)
    for index in 1_000..<9_000 { #expect(abs(heard[index + delay] - sent[index]) < 0.001) }
}

@Test func theDelayCanBeLeftOut() throws {
    var converter = try RateConverter(from: .opus, to: .opus)
    converter.skipDelay()
    let sent = tone(440, 9_600)
    let heard = converter.convert(sent)
    #expect(heard.count == sent.count - converter.delay.rawValue)
    for index in 1_000..<9_000 { #expect(abs(heard[index] - sent[index]) < 0.001) }
}

@Test func piecesOfAnySizeMakeTheSameSound() throws {
    let sent = tone(440, 20_000)
    func heard(step: Int, room: Int) throws -> [Float] {
        var converter = try RateConverter(from: SampleRate(hertz: 44_100), to: .opus)
        return converter.convert(sent, step: step, room: room)
    }
    let whole = try heard(step: 20_000, room: 30_000)
    for (step, room) in [(1, 2), (960, 100), (333, 1_000), (20_000, 7)] {
        #expect(try heard(step: step, room: room) == whole)
    }
}

@Test func nothingGoesInWhereNothingComesOut() throws {
    var converter = try RateConverter(from: .opus, to: .opus)
    var room = [Float](repeating: 0, count: 100)
    var span = room.mutableSpan
    var result = converter.process([Float]().span, into: &span)
    #expect(result == (.zero, .zero))
    var noRoom: [Float] = []
    span = noRoom.mutableSpan
    result = converter.process([Float](repeating: 1, count: 50).span, into: &span)
    #expect(result == (.zero, .zero))
}

@Test func channelsAreKeptApart() throws {
    let left = tone(440, 9_600)
    let right = tone(1_000, 9_600)
    var stereo = try RateConverter(from: .opus, to: SampleRate(hertz: 44_100), channelCount: 2)
    let heard = stereo.convert(zip(left, right).flatMap { [$0, $1] }, channelCount: 2)
    var mono = try RateConverter(from: .opus, to: SampleRate(hertz: 44_100))
    let alone = mono.convert(right)
    #expect(stride(from: 1, to: heard.count, by: 2).map { heard[$0] } == alone)
}

@Test func impossibleConversionsAreRefusedAtTheStart() {
    #expect(throws: RateConverterError.self) {
        _ = try RateConverter(from: SampleRate(hertz: 1), to: SampleRate(hertz: 48_000))
    }
    #expect(throws: RateConverterError.self) { _ = try RateConverter(from: .opus, to: .opus, quality: 11) }
    #expect(throws: RateConverterError.self) { _ = try RateConverter(from: .opus, to: .opus, channelCount: 0) }
    do {
        _ = try RateConverter(from: .opus, to: .opus, quality: -1)
    } catch {
        #expect(error.description == "the sample rate cannot be converted: Invalid argument.")
    }
}
