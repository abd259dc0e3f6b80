import TenfourAudioCore
import TenfourOpusCodec
import Testing

/// Returns settings at or above the thresholds from which libopus 1.3.1 adds FEC to SILK and hybrid frames.
private func fecSettings(bitRate: Int, expectedLoss: Int) -> OpusEncoderSettings {
    var settings = OpusEncoderSettings()
    settings.bitRate = bitRate
    settings.inBandFEC = true
    settings.expectedLoss = expectedLoss
    settings.signal = .speech
    return settings
}

/// The decoder's results for one lost packet, of which there is one in five: the FEC flag of the next packet, the
/// original audio, and the concealed and the recovered audio.
private struct Loss {
    var hasCopy: Bool
    /// Whether the packets before and after the loss have the same mode. If the mode changes, libopus inserts a
    /// transition, which alone makes the recovered audio differ from the concealed.
    var isSteady: Bool
    var sent, concealed, recovered: [Float]
}

private func losses(in packets: [[UInt8]], frame: Int, channelCount: Int) throws -> [Loss] {
    var losses: [Loss] = []
    for lost in stride(from: 8, to: packets.count - 1, by: 5) {
        // A decoder cannot be copied, so three decoders decode the same packets up to the loss.
        var whole = try OpusDecoder(channelCount: channelCount)
        var concealing = try OpusDecoder(channelCount: channelCount)
        var recovering = try OpusDecoder(channelCount: channelCount)
        for packet in packets[..<lost] {
            _ = try whole.sound(of: packet)
            _ = try concealing.sound(of: packet)
            _ = try recovering.sound(of: packet)
        }
        losses.append(
            Loss(
                hasCopy: carriesCopy(packets[lost + 1]),
                isSteady: packets[lost + 1][0] == packets[lost - 1][0],
                sent: try whole.sound(of: packets[lost]),
                concealed: try concealing.concealed(frame),
                recovered: try recovering.recovered(frame, from: packets[lost + 1])))
    }
    return losses
}

@Test(
    arguments: [
        (480, 1, 48_000, 10), (960, 1, 24_000, 10), (960, 1, 32_000, 1), (1_920, 1, 24_000, 15), (2_880, 1, 24_000, 15),
        (480, 2, 64_000, 10), (960, 2, 48_000, 10), (1_920, 2, 40_000, 15), (2_880, 2, 40_000, 15),
    ])
func theFlagForetellsWhetherTheLostFrameCanBeRecovered(
    frame: Int, channelCount: Int, bitRate: Int, expectedLoss: Int
) throws {
    let voice = speech(96_000)
    let sound = channelCount == 1 ? voice : voice.indices.flatMap { [voice[$0], 0.6 * voice[max($0 - 20, 0)]] }
    let packets = try packets(
        of: sound, in: LPCMFormat(channelCount: channelCount), frame: FrameCount(frame),
        settings: fecSettings(bitRate: bitRate, expectedLoss: expectedLoss))
    let losses = try losses(in: packets, frame: frame, channelCount: channelCount)
    for loss in losses where loss.isSteady { #expect(loss.hasCopy == (loss.recovered != loss.concealed)) }
    #expect(losses.contains { $0.isSteady && $0.hasCopy }, "no loss with FEC was tested")
    #expect(losses.contains { $0.isSteady && !$0.hasCopy }, "speech has pauses, which have no copies")
}

@Test func aRecoveredFrameIsNearerToTheLostOneThanAConcealedOne() throws {
    let packets = try packets(of: speech(192_000), settings: fecSettings(bitRate: 24_000, expectedLoss: 10))
    let losses = try losses(in: packets, frame: 960, channelCount: 1).filter { $0.hasCopy }
    #expect(losses.count > 10)
    let recovered = losses.map { likeness($0.sent[...], $0.recovered[...]) }.reduce(0, +) / Double(losses.count)
    let concealed = losses.map { likeness($0.sent[...], $0.concealed[...]) }.reduce(0, +) / Double(losses.count)
    #expect(recovered > 0.9)
    #expect(1 - recovered < (1 - concealed) / 3)
}

@Test func withoutFECAndWithoutSpeechCodecThereIsNoCopy() throws {
    for packet in try packets(of: speech(48_000)) { #expect(!carriesCopy(packet)) }
    let settings = fecSettings(bitRate: 64_000, expectedLoss: 20)
    for packet in try packets(of: speech(48_000), application: .lowDelay, settings: settings) {
        #expect(!carriesCopy(packet))
    }
}

@Test func theFlagIsTheBitAfterTheVoiceActivityOfItsChannel() {
    // The TOC byte: five bits of configuration, one for stereo, and two for one frame per packet. The frame follows.
    func hasCopy(_ configuration: UInt8, stereo: Bool = false, _ first: UInt8) -> Bool {
        carriesCopy([configuration << 3 | (stereo ? 4 : 0), first, 0])
    }
    // Wideband SILK: 10, 20, 40, 60 ms.
    for (configuration, flag) in [(8, 0b0100_0000), (9, 0b0100_0000), (10, 0b0010_0000), (11, 0b0001_0000)] {
        #expect(hasCopy(UInt8(configuration), UInt8(flag)))
        #expect(!hasCopy(UInt8(configuration), ~UInt8(flag)))
    }
    // In stereo, FEC of either channel counts.
    for (configuration, flags) in [
        (8, [0b0100_0000, 0b0001_0000]), (9, [0b0100_0000, 0b0001_0000]), (10, [0b0010_0000, 0b0000_0100]),
        (11, [0b0001_0000, 0b0000_0001]),
    ] {
        for flag in flags { #expect(hasCopy(UInt8(configuration), stereo: true, UInt8(flag))) }
        #expect(!hasCopy(UInt8(configuration), stereo: true, ~UInt8(flags[0] | flags[1])))
    }
    // Hybrid frames may have FEC; CELT frames have none, whatever their bits.
    #expect(hasCopy(15, 0b0100_0000))
    #expect(!hasCopy(16, 0xFF))
    #expect(!hasCopy(31, 0xFF))
    // An empty packet, one without a frame, one with a frame of one byte, and a code 1 packet with two frames of one
    // byte each.
    for packet: [UInt8] in [[], [0x48], [0x48, 0xFF], [0x49, 0xFF, 0xFF]] {
        #expect(!carriesCopy(packet))
    }
}

/// The thresholds of libopus 1.3.1 that the documentation of `OpusEncoderSettings.inBandFEC` states.
@Test(arguments: [(16_000, 20, false), (24_000, 5, false), (24_000, 7, true), (32_000, 1, true)])
func copiesAreSentOnlyWhereTheBitRateBearsThem(bitRate: Int, expectedLoss: Int, areSent: Bool) throws {
    let settings = fecSettings(bitRate: bitRate, expectedLoss: expectedLoss)
    #expect(try packets(of: speech(96_000), settings: settings).contains(where: carriesCopy) == areSent)
}
