import TenfourAudioCore
import TenfourPackets
import Testing

@testable import TenfourSession

/// The time of packets at 48 000 Hz where the clock rate changes within a stream.
struct SourceClockTests {
    /// A packet of 20 ms.
    private struct Packet {
        var number: Int
        var timestamp: UInt32
        var encoding: AudioEncoding
        var marker = false
        /// In ms.
        var arrival: Int
    }

    private func times(_ packets: [Packet]) -> [Int] {
        var clock = SourceClock()
        let times = packets.map { packet in
            clock.time(
                of: RTPHeader(
                    marker: packet.marker, payloadType: packet.encoding.staticPayloadType ?? 111,
                    sequenceNumber: SequenceNumber(rawValue: 65_534).advanced(by: packet.number),
                    timestamp: RTPTimestamp(rawValue: packet.timestamp), ssrc: SSRC(9)),
                packet.encoding, frameCount: FrameCount(960), at: .start + .milliseconds(packet.arrival))
        }
        return times.map { $0.distance(after: times[0]).rawValue }
    }

    private static let origin = UInt32.max - 1_000

    @Test(arguments: [origin &+ 1_920 &+ 160, origin &+ 3_000_000_000, 7] as [UInt32])
    func timeGoesOnFromOpusToG711(firstTimestamp: UInt32) {
        let packets = (0..<6).map { number in
            number < 2
                ? Packet(
                    number: number, timestamp: Self.origin &+ UInt32(960 * number), encoding: .opus,
                    arrival: 20 * number)
                : Packet(
                    number: number, timestamp: firstTimestamp &+ UInt32(160 * (number - 2)), encoding: .pcmu,
                    arrival: 20 * number)
        }
        #expect(times(packets) == (0..<6).map { 960 * $0 })
    }

    @Test(arguments: [origin &+ 320 &+ 960, origin &+ 3_000_000_000, 7] as [UInt32])
    func timeGoesOnFromG711ToOpus(firstTimestamp: UInt32) {
        let packets = (0..<6).map { number in
            number < 2
                ? Packet(
                    number: number, timestamp: Self.origin &+ UInt32(160 * number), encoding: .pcma,
                    arrival: 20 * number)
                : Packet(
                    number: number, timestamp: firstTimestamp &+ UInt32(960 * (number - 2)), encoding: .opus,
                    arrival: 20 * number)
        }
        #expect(times(packets) == (0..<6).map { 960 * $0 })
    }

    /// The sender counts on at the new rate, and the silence is as long as its timestamps say, not as the packets took.
    @Test func silenceBeforeTheChangeIsAsLongAsTimestampsTell() {
        let packets = [
            Packet(number: 0, timestamp: 100, encoding: .opus, marker: true, arrival: 0),
            Packet(number: 1, timestamp: 100 + 8_000, encoding: .pcmu, marker: true, arrival: 1_013),
            Packet(number: 2, timestamp: 100 + 8_160, encoding: .pcmu, arrival: 1_020),
        ]
        #expect(times(packets) == [0, 48_000, 48_960])
    }

    /// A sender without markers changes the codec after 3 s of silence, from another origin or not.
    @Test(arguments: [100 + 24_000, 3_000_000_000] as [UInt32])
    func silenceBeforeAChangeWithoutAMarkerCounts(timestamp: UInt32) {
        let packets = [
            Packet(number: 0, timestamp: 100, encoding: .opus, arrival: 0),
            Packet(number: 1, timestamp: timestamp, encoding: .pcmu, arrival: 3_000),
            Packet(number: 2, timestamp: timestamp + 160, encoding: .pcmu, arrival: 3_020),
        ]
        #expect(times(packets) == [0, 144_000, 144_960])
    }

    /// One stray packet of another encoding, far away in sequence numbers, moves the time of the stream by a packet at most.
    @Test func aStrayPacketOfAnotherEncodingMovesTimeByAPacketAtMost() {
        let packets = [
            Packet(number: 0, timestamp: 100, encoding: .opus, arrival: 0),
            Packet(number: 1, timestamp: 1_060, encoding: .opus, arrival: 20),
            Packet(number: 9_000, timestamp: 7, encoding: .pcma, arrival: 30),
            Packet(number: 2, timestamp: 2_020, encoding: .opus, arrival: 40),
            Packet(number: 3, timestamp: 2_980, encoding: .opus, arrival: 60),
        ]
        let times = times(packets)
        #expect(abs(times[3] - 1_920) <= 960 && times[4] - times[3] == 960, "\(times)")
    }

    /// Both laws have the same clock rate, and the second sender of a mixer may count from another origin.
    @Test(arguments: [100 + 480, 2_000_000_000] as [UInt32])
    func timeGoesOnFromOneLawToTheOther(timestamp: UInt32) {
        let packets = [
            Packet(number: 0, timestamp: 100, encoding: .pcmu, arrival: 0),
            Packet(number: 1, timestamp: 260, encoding: .pcmu, arrival: 20),
            Packet(number: 3, timestamp: timestamp, encoding: .pcma, arrival: 60),
            Packet(number: 4, timestamp: timestamp + 160, encoding: .pcma, arrival: 80),
        ]
        #expect(times(packets) == [0, 960, 2_880, 3_840])
    }

    /// From another origin the timestamps tell nothing of the silence, and the arrival does.
    @Test func silenceBeforeAChangeOfOriginIsAsLongAsItTook() {
        let packets = [
            Packet(number: 0, timestamp: 100, encoding: .pcmu, marker: true, arrival: 0),
            Packet(number: 1, timestamp: 3_000_000_000, encoding: .opus, marker: true, arrival: 1_000),
            Packet(number: 2, timestamp: 3_000_000_960, encoding: .opus, arrival: 1_020),
        ]
        #expect(times(packets) == [0, 48_000, 48_960])
    }

    @Test func packetsLostAtTheChangeTakeTheirTime() {
        let packets = [
            Packet(number: 0, timestamp: 0, encoding: .opus, arrival: 0),
            Packet(number: 3, timestamp: 5_000, encoding: .pcmu, arrival: 60),
        ]
        #expect(times(packets) == [0, 2_880])
    }

    @Test func aPacketFromBeforeTheChangeThatComesLateKeepsItsTime() {
        let packets = [
            Packet(number: 0, timestamp: 0, encoding: .opus, arrival: 0),
            Packet(number: 2, timestamp: 7_000, encoding: .pcmu, arrival: 40),
            Packet(number: 1, timestamp: 960, encoding: .opus, arrival: 41),
            Packet(number: 3, timestamp: 7_160, encoding: .pcmu, arrival: 60),
            Packet(number: 5, timestamp: 960 * 5, encoding: .opus, arrival: 100),
            Packet(number: 4, timestamp: 7_320, encoding: .pcmu, arrival: 101),
        ]
        #expect(times(packets) == [0, 1_920, 960, 2_880, 4_800, 3_840])
    }
}
