import RTP
import Sound
import Testing

@Test func aCopyAndThePacketsOwnPayloadAreTakenApart() throws {
    // A copy of 960 frames ago with two bytes, then the packet's own three.
    let bytes: [UInt8] = [0xEF, 0x0F, 0x00, 0x02, 0x6F, 1, 2, 3, 4, 5]
    let payload = try RedundantPayload(parsing: bytes.span)
    #expect(payload.count == 2)
    #expect(payload[0] == .init(payloadType: 111, age: FrameCount(960), offset: 5, byteCount: 2))
    #expect(payload.primary == .init(payloadType: 111, offset: 7, byteCount: 3))
}

@Test func whatIsWrittenIsWhatIsRead() throws {
    let copies = [3, 2, 1].map {
        RedundantPayload.Block(payloadType: 111, age: FrameCount(960 * $0), byteCount: 10 * $0)
    }
    let bytes = [UInt8](capacity: 200) { payload in
        for copy in copies { RedundantPayload.writeHeader(ofCopy: copy, into: &payload) }
        RedundantPayload.writeHeader(ofPrimary: 111, into: &payload)
        for _ in 0..<60 + 25 { payload.append(7) }
    }
    let read = try RedundantPayload(parsing: bytes.span)
    #expect(read.count == 4)
    #expect((0..<3).map { read[$0].age } == copies.map(\.age))
    #expect(read.primary.byteCount == 25)
    #expect(read[0].offset == RedundantPayload.headerByteCount(copies: 3))
}

@Test func headersThatAnnounceMoreThanThereIsAreRefused() {
    for bytes in [[], [0xEF], [0xEF, 0x0F, 0x00], [0xEF, 0x0F, 0x00, 0x02, 0x6F, 1]] as [[UInt8]] {
        #expect(throws: RedundantPayloadError.truncated(byteCount: bytes.count)) {
            try RedundantPayload(parsing: bytes.span)
        }
    }
    let endless = [UInt8](repeating: 0xFF, count: 400)
    #expect(throws: RedundantPayloadError.tooManyBlocks) { try RedundantPayload(parsing: endless.span) }
}

@Test func seventeenPacketsFitIntoOneEntryOfANACK() throws {
    let numbers = (65_530..<65_530 + 17).map { SequenceNumber(rawValue: UInt16(truncatingIfNeeded: $0)) }
    let nack = GenericNACK(sender: SSRC(1), media: SSRC(2), sequenceNumbers: numbers)
    #expect(nack.byteCount == 16)
    let bytes = [UInt8](capacity: 100) { nack.write(into: &$0) }
    #expect(bytes == [0x81, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFA, 0xFF, 0xFF])
    var packets = try RTCPCompound(parsing: bytes.span, allowsReducedSize: true)
    #expect(try packets.next() == .genericNACK(nack))
}

@Test func voIPMetricsComeBackAsTheyWent() throws {
    var metrics = VoIPMetrics(sender: SSRC(1), source: SSRC(2))
    metrics.lossRate = 12
    metrics.burstDensity = 130
    metrics.burstDuration = .milliseconds(60)
    metrics.roundTrip = .milliseconds(40)
    metrics.rating = 81
    metrics.nominalDepth = .milliseconds(25)
    metrics.maximumDepth = .milliseconds(100)
    let bytes = [UInt8](capacity: 100) { metrics.write(into: &$0) }
    #expect(bytes.count == VoIPMetrics.byteCount)
    var packets = try RTCPCompound(parsing: bytes.span, allowsReducedSize: true)
    #expect(try packets.next() == .voipMetrics(metrics))
}

@Test func aSingleLossIsNoBurst() {
    var metrics = BurstMetrics()
    for index in 0..<100 { metrics.count(isLost: index % 30 == 5) }
    #expect(metrics.lossCount == 4)
    #expect(metrics.burstCount == 0)
    #expect(metrics.meanBurstLength == 1)
}

@Test func lossesCloseToEachOtherAreABurst() {
    var metrics = BurstMetrics()
    for index in 0..<100 { metrics.count(isLost: (20...22).contains(index) || index == 25) }
    #expect(metrics.burstCount == 1)
    #expect(metrics.burstPacketCount == 6)
    #expect(metrics.burstLossCount == 4)
}
