import TenfourAudioCore
import TenfourPackets
import Testing

@Test func everyTruncationOfAHeaderIsRefused() throws {
    // Padding, two contributing sources, an extension of two words, no payload.
    let whole: [UInt8] = [
        0xB2, 0x6F, 0, 1, 0, 0, 3, 0xC0, 0, 0, 0, 9, 0, 0, 0, 10, 0, 0, 0, 11, 0xBE, 0xDE, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8,
        0, 0, 3,
    ]
    let header = try RTPHeader(parsing: whole.span)
    #expect(header.payload == 32..<32)
    for count in 0..<32 {
        #expect(throws: RTPParseError.truncated(byteCount: count)) {
            _ = try RTPHeader(parsing: whole.span.extracting(0..<count))
        }
    }
}

@Test func paddingMayFillThePayloadButNotMore() throws {
    var datagram: [UInt8] = [0xA0, 0x6F, 0, 1, 0, 0, 3, 0xC0, 0, 0, 0, 9, 0, 0, 3]
    #expect(try RTPHeader(parsing: datagram.span).payload == 12..<12)
    datagram[14] = 4
    #expect(throws: RTPParseError.invalidPadding(byteCount: 4)) { _ = try RTPHeader(parsing: datagram.span) }
    datagram[14] = 0
    #expect(throws: RTPParseError.invalidPadding(byteCount: 0)) { _ = try RTPHeader(parsing: datagram.span) }
}

@Test func aPayloadTypeDoesNotSpillIntoTheMarker() throws {
    var header = RTPHeader(
        marker: false, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: 1),
        timestamp: RTPTimestamp(rawValue: 2), ssrc: SSRC(3))
    header.payloadType = 0xEF
    let written = [UInt8](capacity: RTPHeader.byteCount) { header.write(into: &$0) }
    #expect(try !RTPHeader(parsing: written.span).marker)
    #expect(written[1] == 111)
}

@Test func aStreamThatBeginsBeforeTheWrapGoesOnAfterIt() throws {
    var sequenceNumber = SequenceNumber(rawValue: 65_534)
    var timestamp = RTPTimestamp(rawValue: 0xFFFF_FC40)
    var sequence = Unwrapper()
    var clock = Unwrapper()
    for count in 0..<4 {
        #expect(sequence.extend(sequenceNumber) == 65_534 + Int64(count))
        #expect(clock.extend(timestamp) == 0xFFFF_FC40 + 960 * Int64(count))
        sequenceNumber = sequenceNumber.advanced(by: 1)
        timestamp = timestamp.advanced(by: FrameCount(960))
    }
    #expect(sequenceNumber == SequenceNumber(rawValue: 2))
    #expect(timestamp == RTPTimestamp(rawValue: 2880))
}

@Test func aLatePacketFromBeforeTheWrapKeepsItsPlace() {
    var unwrapper = Unwrapper()
    #expect(unwrapper.extend(SequenceNumber(rawValue: 65_535)) == 65_535)
    #expect(unwrapper.extend(SequenceNumber(rawValue: 1)) == 65_537)
    #expect(unwrapper.extend(SequenceNumber(rawValue: 65_534)) == 65_534)
    #expect(unwrapper.extend(SequenceNumber(rawValue: 0)) == 65_536)
    #expect(unwrapper.extend(SequenceNumber(rawValue: 2)) == 65_538)
}

@Test func distancesGoTheShorterWayRound() {
    #expect(SequenceNumber(rawValue: 2).distance(after: SequenceNumber(rawValue: 65_534)) == 4)
    #expect(SequenceNumber(rawValue: 65_534).distance(after: SequenceNumber(rawValue: 2)) == -4)
    #expect(SequenceNumber(rawValue: 32_768).distance(after: SequenceNumber(rawValue: 0)) == -32_768)
    #expect(RTPTimestamp(rawValue: 959).distance(after: RTPTimestamp(rawValue: .max)) == FrameCount(960))
}
