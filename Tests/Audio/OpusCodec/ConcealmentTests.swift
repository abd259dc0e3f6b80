import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourOpusCodec
import TenfourSeededRandom
import TestSupport
import Testing

@Test func concealmentGoesOnWithTheSoundAndDiesDown() throws {
    var decoder = try OpusDecoder()
    var last: [Float] = []
    for packet in try packets(of: speech(14_400 + 6_720)) { last = try decoder.sound(of: packet) }
    let first = try decoder.concealed(960)
    #expect(loudness(of: first) > 0.3 * loudness(of: last))
    var late: [Float] = []
    for _ in 0..<25 { late = try decoder.concealed(960) }
    #expect(loudness(of: late) < 0.1 * loudness(of: first))
}

@Test func concealmentComesInStepsOfTwoAndAHalfMilliseconds() throws {
    var decoder = try OpusDecoder()
    for packet in try packets(of: speech(9_600)) { _ = try decoder.sound(of: packet) }
    for frames in [120, 240, 360, 1_080, 5_760, 12_000] { #expect(try decoder.concealed(frames).count == frames) }
    for frames in [-120, 0, 1, 119, 961] {
        #expect(throws: OpusError.self) {
            var samples = [Float](repeating: 0, count: 960)
            var span = samples.mutableSpan
            try decoder.conceal(FrameCount(frames), into: &span)
        }
    }
}

@Test func nothingIsConcealedBeforeTheFirstPacketAndAfterAReset() throws {
    var decoder = try OpusDecoder()
    #expect(try decoder.concealed(960).allSatisfy { $0 == 0 })
    for packet in try packets(of: speech(14_400)) { _ = try decoder.sound(of: packet) }
    decoder.reset()
    #expect(try decoder.concealed(960).allSatisfy { $0 == 0 })
}

@Test func noPacketIsMalformedAndTooLittleRoomIsReported() throws {
    var decoder = try OpusDecoder()
    var samples = [Float](repeating: 0, count: 480)
    var span = samples.mutableSpan
    do {
        _ = try decoder.decode([UInt8]().span, into: &span)
        Issue.record("no bytes were decoded")
    } catch {
        #expect(error.code == .invalidPacket)
    }
    let packet = try packets(of: speech(960))[0]
    do {
        _ = try decoder.decode(packet.span, into: &span)
        Issue.record("20 ms were written into a buffer of 10 ms")
    } catch {
        #expect(error.code == .bufferTooSmall)
        #expect(error.description == "the Opus codec failed: buffer too small")
    }
    do {
        try decoder.conceal(FrameCount(960), into: &span)
        Issue.record("20 ms were written into a buffer of 10 ms")
    } catch {
        #expect(error.code == .bufferTooSmall)
    }
}

@Test func bytesOfAnyKindGiveAnErrorOrSound() throws {
    var chance = SeededRandom(seed: 1)
    var mono = try OpusDecoder(channelCount: 1)
    var stereo = try OpusDecoder(channelCount: 2)
    var samples = [Float](repeating: 0, count: 2 * OpusDecoder.maximumPacketDuration.rawValue)
    let genuine = try packets(of: speech(48_000))
    var heard = 0
    for round in 0..<4_000 {
        var packet: [UInt8]
        if round % 2 == 0 {
            packet = (0..<chance.below(200)).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
        } else {
            packet = genuine[chance.below(genuine.count)]
            for _ in 0...chance.below(4) {
                packet[chance.below(packet.count)] = UInt8(truncatingIfNeeded: chance.next())
            }
            packet.removeLast(chance.below(packet.count))
        }
        _ = OpusDecoder.hasInBandFEC(packet.span)
        var span = samples.mutableSpan
        let lost = FrameCount(120 * (1 + chance.below(8)))
        if round % 3 == 0 { try? mono.recover(lost, from: packet.span, into: &span) }
        if (try? mono.decode(packet.span, into: &span)) != nil { heard += 1 }
        if round % 5 == 0 { try? stereo.recover(lost, from: packet.span, into: &span) }
        _ = try? stereo.decode(packet.span, into: &span)
    }
    #expect(heard > 1_000)
}
