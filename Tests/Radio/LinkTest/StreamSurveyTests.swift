import TenfourAudioCore
import TenfourLinkTest
import TenfourPackets
import TenfourSession
import Testing

/// A log of RTP streams to port 5004 of one host.
private struct Streams {
    var log = DatagramLog()

    static let source = Endpoint(.v4(1), port: 40_000)
    static let destination = Endpoint(.v4(2), port: 5_004)
    /// An Opus packet with 20 ms of silence, coded by CELT.
    static let silence: [UInt8] = [0xF8, 0xFF, 0xFE]

    mutating func append(
        ssrc: UInt32, type: UInt8 = 111, count: Int = 50, step: Int = 960, payload: [UInt8] = silence,
        destination: Endpoint = destination
    ) {
        for index in 0..<count {
            let header = RTPHeader(
                marker: index == 0, payloadType: type, sequenceNumber: SequenceNumber(rawValue: UInt16(index)),
                timestamp: RTPTimestamp(rawValue: UInt32(index * step)), ssrc: SSRC(ssrc))
            let datagram = [UInt8](capacity: 12 + payload.count) {
                header.write(into: &$0)
                for byte in payload { $0.append(byte) }
            }
            log.append(datagram.span, from: Self.source, to: destination, at: .start + .milliseconds(20 * index))
        }
    }
}

struct StreamSurveyTests {
    @Test func streamsAreToldApartBySSRCAndDestinationTheLargestFirst() {
        var streams = Streams()
        streams.append(ssrc: 1, count: 10)
        streams.append(ssrc: 2, count: 30)
        streams.append(ssrc: 1, count: 20, destination: Endpoint(.v4(3), port: 6_000))
        let found = StreamSurvey(streams.log).streams
        #expect(found.map(\.ssrc.rawValue) == [2, 1, 1])
        #expect(found.map(\.packetCount) == [30, 20, 10])
        #expect(found.allSatisfy { $0.encoding == .opus && $0.payloadType == 111 && $0.redPayloadType == nil })
    }

    /// Nearly any bytes parse as an Opus packet, so the steps of the timestamp tell other payloads from Opus.
    @Test func otherPayloadsAreNotTakenForOpus() {
        var streams = Streams()
        streams.append(ssrc: 1, type: 9, step: 160, payload: [UInt8](repeating: 0xD5, count: 160))
        streams.append(ssrc: 2, type: 96, step: 3_000, payload: [UInt8](repeating: 0x7C, count: 900))
        streams.append(ssrc: 3, type: 97, step: 480, payload: [UInt8](repeating: 0, count: 1_440))
        #expect(StreamSurvey(streams.log).streams.map(\.encoding) == [nil, nil, nil])
    }

    @Test func g711IsKnownByItsClock() {
        var streams = Streams()
        let payload = [UInt8](repeating: 0xD5, count: 160)
        streams.append(ssrc: 1, type: 0, count: 30, step: 160, payload: payload)
        streams.append(ssrc: 2, type: 8, count: 20, step: 160, payload: payload)
        streams.append(ssrc: 3, type: 0, count: 10, step: 960, payload: payload)
        #expect(StreamSurvey(streams.log).streams.map(\.encoding) == [.pcmu, .pcma, nil])
    }

    /// Senders whose timestamps are off by a few samples, and senders of Opus with a clock of another rate.
    @Test(arguments: [965, 951, 160, 240, 320, 480]) func opusIsKnownInSpiteOfItsClock(step: Int) {
        var streams = Streams()
        streams.append(ssrc: 1, step: step)
        #expect(StreamSurvey(streams.log).streams.map(\.encoding) == [.opus])
    }

    @Test func reportsAreNoStream() {
        var streams = Streams()
        let report = ReceiverReport(ssrc: SSRC(7))
        let bytes = [UInt8](capacity: 100) { report.write(into: &$0) }
        streams.log.append(bytes.span, from: Streams.source, to: Streams.destination, at: .start)
        #expect(StreamSurvey(streams.log).streams.isEmpty)
    }

    /// RFC 2198: a redundant stream is identified by the payload that its packets carry.
    @Test func aStreamWithCopiesIsKnownByWhatItCarries() {
        var streams = Streams()
        let copy = RedundantPayload.Block(payloadType: 111, age: FrameCount(960), byteCount: 3)
        let payload = [UInt8](capacity: 20) {
            RedundantPayload.writeHeader(ofCopy: copy, into: &$0)
            RedundantPayload.writeHeader(ofPrimary: 111, into: &$0)
            for byte in Streams.silence + Streams.silence { $0.append(byte) }
        }
        streams.append(ssrc: 5, type: 63, payload: payload)
        let stream = StreamSurvey(streams.log).streams.first
        #expect(stream?.payloadType == 111 && stream?.redPayloadType == 63 && stream?.encoding == .opus)
    }
}
