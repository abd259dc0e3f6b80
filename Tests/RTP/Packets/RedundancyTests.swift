import TenfourAudioCore
import TenfourPackets
import Testing

@Test func aCopyAndThePacketsOwnPayloadAreTakenApart() throws {
    // A copy of 960 frames ago with two bytes, then the packet's own three.
    let bytes: [UInt8] = [0xEF, 0x0F, 0x00, 0x02, 0x6F, 1, 2, 3, 4, 5]
    let payload = try RedundantPayload(parsing: bytes.span)
    #expect(payload.count == 2)
    #expect(payload[0] == .init(payloadType: 111, age: FrameCount(960), offset: 5, byteCount: 2))
    #expect(payload.primary == .init(payloadType: 111, offset: 7, byteCount: 3))
}

@Test func writtenRedundancyParsesTheSame() throws {
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

@Test func anExtendedReportComesBackAsItWent() throws {
    var metrics = VoIPMetrics(source: SSRC(2))
    metrics.lossRate = 12
    metrics.burstDensity = 130
    metrics.burstDuration = .milliseconds(60)
    metrics.roundTrip = .milliseconds(40)
    metrics.rating = 81
    metrics.nominalDelay = .milliseconds(25)
    metrics.maximumDelay = .milliseconds(100)
    let loss = LossRLE(source: SSRC(2), first: SequenceNumber(rawValue: 65_500), count: 100) { $0 % 9 != 0 }
    let report = ExtendedReport(sender: SSRC(1), blocks: [.lossRLE(loss), .voipMetrics(metrics)])
    let bytes = [UInt8](capacity: 200) { report.write(into: &$0) }
    #expect(bytes.count == report.byteCount)
    var packets = try RTCPCompound(parsing: bytes.span, allowsReducedSize: true)
    #expect(try packets.next() == .extendedReport(report))
}

@Test(arguments: [0, 1, 2, 14, 15, 16, 31, 250, 1_024, 40_000])
func aPatternOfLossIsReadAsItWasWritten(count: Int) {
    for every in [1, 2, 7, 40, 100_000] {
        let loss = LossRLE(source: SSRC(2), first: SequenceNumber(rawValue: 65_000), count: count) {
            $0 % every != every / 2
        }
        var read: [Bool] = []
        loss.forEachRun { came, length in read += [Bool](repeating: came, count: length) }
        #expect(read == (0..<count).map { $0 % every != every / 2 })
        #expect(loss.count == count)
        let lost = read.filter { !$0 }.count
        #expect(loss.summary.lossCount == lost)
        #expect(loss.summary.burstCount == (every == 1 ? min(lost, 1) : lost))
    }
}

@Test func aHostilePatternCostsNoMoreThanItsChunks() {
    // Sixteen thousand packets in each of three hundred chunks, of which the numbers allow 65 535 together.
    var body: [UInt8] = [1, 0, 0, 152, 0, 0, 0, 2, 0, 0, 0xFF, 0xFF]
    for _ in 0..<300 { body += [0x3F, 0xFF] }
    let bytes = [0x80, 207, 0, UInt8((body.count + 4) / 4), 0, 0, 0, 1] + body
    guard var packets = try? RTCPCompound(parsing: bytes.span, allowsReducedSize: true),
        case .extendedReport(let report) = try? packets.next(), case .lossRLE(let loss) = report.blocks.first
    else {
        Issue.record("not read")
        return
    }
    #expect(loss.summary.packetCount == 65_535)
    #expect(loss.summary.lossCount == 65_535)
    #expect(loss.summary.burstCount == 1)
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
