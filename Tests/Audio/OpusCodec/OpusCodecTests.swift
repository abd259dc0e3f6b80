import TenfourAudioCore
import TenfourOpusCodec
import Testing

@Test(arguments: [1, 2]) func aToneComesThroughAtItsPitchAndLevel(channelCount: Int) throws {
    let format = LPCMFormat(channelCount: channelCount)
    let sent = tone(1_000, 48_000, in: format)
    var decoder = try OpusDecoder(channelCount: channelCount)
    var heard: [Float] = []
    for packet in try packets(of: sent, in: format, application: .audio) { heard += try decoder.sound(of: packet) }
    #expect(heard.count == sent.count)
    let settled = heard[(heard.count / 4)...]
    #expect(abs(frequency(of: settled, in: format) - 1_000) < 1)
    let ratio = loudness(of: settled) / loudness(of: sent)
    #expect(ratio > 0.891 && ratio < 1.122, "within 1 dB")
}

@Test(arguments: [120, 240, 480, 960, 1_920, 2_880], [OpusEncoder.Application.voip, .audio, .lowDelay])
func everyFrameSizeIsCodedAndKeptInLength(frames: Int, application: OpusEncoder.Application) throws {
    var decoder = try OpusDecoder()
    for packet in try packets(of: speech(24_000), frame: FrameCount(frames), application: application) {
        #expect(try decoder.sound(of: packet).count == frames)
        #expect(decoder.lastPacketDuration == FrameCount(frames))
    }
}

@Test func aFrameOfAnotherSizeIsRefused() throws {
    for frames in [0, 1, 119, 500, 961, 4_000] {
        #expect(throws: OpusError.self) {
            var encoder = try OpusEncoder()
            var packet = [UInt8](repeating: 0, count: 1_500)
            var bytes = packet.mutableSpan
            _ = try encoder.encode([Float](repeating: 0, count: frames).span, into: &bytes)
        }
    }
}

@Test func aPacketIsMadeToFitASmallerPlace() throws {
    var encoder = try OpusEncoder()
    var packet = [UInt8](repeating: 0, count: 40)
    let sound = speech(9_600)
    for start in stride(from: 0, to: 9_600, by: 960) {
        var bytes = packet.mutableSpan
        let byteCount = try encoder.encode(sound.span.extracting(start..<start + 960), into: &bytes)
        #expect(byteCount > 0 && byteCount <= 40)
    }
}

@Test func theLookAheadIsWhatTheDecodedSoundIsLateBy() throws {
    for (application, expected) in [(OpusEncoder.Application.voip, 312), (.audio, 312), (.lowDelay, 120)] {
        let encoder = try OpusEncoder(application: application)
        #expect(encoder.lookAhead == FrameCount(expected))
    }
    let sent = speech(48_000)
    var decoder = try OpusDecoder()
    var heard: [Float] = []
    for packet in try packets(of: sent, application: .lowDelay) { heard += try decoder.sound(of: packet) }
    let best = (0..<600).max { likenessAt($0) < likenessAt($1) }!
    #expect(abs(best - 120) <= 2)

    func likenessAt(_ shift: Int) -> Double {
        zip(sent[10_000..<16_000], heard[(10_000 + shift)...]).reduce(0) { $0 + Double($1.0 * $1.1) }
    }
}

@Test func monoIsHeardInBothEarsAndStereoInOne() throws {
    var stereoEar = try OpusDecoder(channelCount: 2)
    for packet in try packets(of: tone(440, 9_600)) {
        let heard = try stereoEar.sound(of: packet)
        #expect(heard.count == 1_920)
        #expect(stride(from: 0, to: heard.count, by: 2).allSatisfy { heard[$0] == heard[$0 + 1] })
    }
    var monoEar = try OpusDecoder(channelCount: 1)
    var heard: [Float] = []
    for packet in try packets(of: tone(440, 24_000, in: .stereo), in: .stereo) {
        heard += try monoEar.sound(of: packet)
    }
    #expect(heard.count == 24_000)
    #expect(abs(frequency(of: heard[4_800...]) - 440) < 1)
}

@Test func settingsChangeWhileSoundFlows() throws {
    var settings = OpusEncoderSettings()
    settings.rateControl = .constant
    var encoder = try OpusEncoder(settings: settings)
    let sound = speech(96_000)
    func byteCounts(from start: Int) throws -> [Int] {
        try stride(from: start, to: start + 48_000, by: 960).map { start in
            var packet = [UInt8](repeating: 0, count: 1_500)
            var bytes = packet.mutableSpan
            return try encoder.encode(sound.span.extracting(start..<start + 960), into: &bytes)
        }
    }
    #expect(try byteCounts(from: 0).allSatisfy { $0 == 80 })
    settings.bitRate = 64_000
    try encoder.apply(settings)
    #expect(try byteCounts(from: 48_000).allSatisfy { $0 == 160 })
}

@Test func silenceNeedNotBeSentWithDTX() throws {
    var settings = OpusEncoderSettings()
    settings.discontinuousTransmission = true
    let packets = try packets(of: [Float](repeating: 0, count: 96_000), settings: settings)
    #expect(packets.suffix(50).filter { $0.count <= 2 }.count > 40)
    var decoder = try OpusDecoder()
    for packet in packets { #expect(try decoder.sound(of: packet).count == 960) }
}

@Test func aRefusedSettingIsNamed() {
    var settings = OpusEncoderSettings()
    settings.complexity = 11
    #expect(throws: OpusError.self) { _ = try OpusEncoder(settings: settings) }
    do {
        _ = try OpusEncoder(settings: settings)
    } catch {
        #expect(error.function == .complexity)
        #expect(error.code == .badArgument)
        #expect(error.description == "the Opus codec failed: invalid argument")
    }
}

@Test func anUnheardOfRateOrChannelCountIsRefused() {
    #expect(throws: OpusError.self) { _ = try OpusEncoder(format: LPCMFormat(rate: SampleRate(hertz: 44_100))) }
    #expect(throws: OpusError.self) { _ = try OpusEncoder(format: LPCMFormat(channelCount: 3)) }
    #expect(throws: OpusError.self) { _ = try OpusDecoder(channelCount: 3) }
}

@Test func soundThatIsNotANumberIsSurvived() throws {
    var sound = speech(9_600)
    for index in sound.indices where index % 7 == 0 { sound[index] = [.nan, .infinity, -1e30, 1e30][index % 4] }
    var decoder = try OpusDecoder()
    for packet in try packets(of: sound + speech(9_600)) { #expect(try decoder.sound(of: packet).count == 960) }
}
