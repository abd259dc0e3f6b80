import TenfourAudioCore
import TenfourPackets
import TenfourSeededRandom
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

    /// The packet before a silence was held back by 300 ms, and the timestamp after it is right.
    @Test func silenceAfterALatePacketIsBelieved() {
        let packets = [(0, 0, 0), (1, 960, 20), (2, 1_920, 340), (3, 21_120, 440)].map {
            Packet(number: $0.0, timestamp: UInt32($0.1), encoding: .opus, arrival: $0.2)
        }
        #expect(times(packets) == [0, 960, 1_920, 21_120])
    }

    /// The timestamp jumps by half a second between two packets that arrive 20 ms apart.
    @Test func aPacketFromTheFutureFollowsTheOneBefore() {
        let packets = [(0, 0, 0), (1, 960, 20), (2, 1_920, 40), (3, 25_920, 60), (4, 26_880, 80)].map {
            Packet(number: $0.0, timestamp: UInt32($0.1), encoding: .opus, arrival: $0.2)
        }
        #expect(times(packets) == [0, 960, 1_920, 2_880, 3_840])
    }

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

    /// Gateways and senders that read a clock: the packets join without a seam, whatever the error of each timestamp.
    @Test(arguments: 1...6 as ClosedRange<UInt64>, [(AudioEncoding.opus, 9), (.pcmu, 8)])
    func timestampsThatAreOffByAFewSamplesAreCorrected(seed: UInt64, sender: (encoding: AudioEncoding, error: Int)) {
        var chance = SeededRandom(seed: seed)
        let ticks = 960 / sender.encoding.framesPerTick
        var packets = (0..<200).map { number in
            let error = Int.random(in: -sender.error...sender.error, using: &chance)
            return Packet(
                number: number, timestamp: UInt32(5_000 + number * ticks + error), encoding: sender.encoding,
                arrival: 20 * number)
        }
        // Lost and late packets.
        packets.remove(at: 150)
        packets.swapAt(100, 101)
        #expect(times(packets) == packets.map { 960 * $0.number })
    }

    /// A timestamp that jumps, forward or back, while the packets follow each other.
    @Test(arguments: 1...6 as ClosedRange<UInt64>) func jumpsOfTheTimestampAreNotBelieved(seed: UInt64) {
        var chance = SeededRandom(seed: seed)
        var offset: UInt32 = 0
        let packets = (0..<100).map { number in
            if number % 5 == 4 { offset = UInt32.random(in: .min ... .max, using: &chance) }
            return Packet(
                number: number, timestamp: offset &+ UInt32(number * 960), encoding: .opus, arrival: 20 * number)
        }
        #expect(times(packets) == packets.map { 960 * $0.number })
    }

    /// Silence is in the timestamps, and so long between the packets: of 2.5 ms and more.
    @Test(arguments: [120, 960, 19_200, 480_000]) func silenceIsNoError(frames: Int) {
        let packets = (0..<40).map { number in
            Packet(
                number: number, timestamp: UInt32(number * (960 + frames)), encoding: .opus,
                arrival: number * (960 + frames) / 48)
        }
        #expect(times(packets) == packets.map { ($0.number) * (960 + frames) })
    }

    /// Clocks that RFC 7587 does not allow. The first packets may count by a clock that is too fast. A clock of 44 100 Hz
    /// is so near that each of its timestamps is corrected.
    @Test(arguments: [8_000, 12_000, 16_000, 24_000, 44_100, 96_000]) func aWrongClockOfOpusIsFollowed(rate: Int) {
        var clock = SourceClock()
        var rates: [SampleRate] = []
        let times = (0..<100).map { number in
            let time = clock.time(
                of: RTPHeader(
                    marker: number == 0, payloadType: 111,
                    sequenceNumber: SequenceNumber(rawValue: 65_500).advanced(by: number),
                    timestamp: RTPTimestamp(rawValue: .max - 10_000).advanced(by: FrameCount(number * rate / 50)),
                    ssrc: SSRC(9)), .opus, frameCount: FrameCount(960), at: .start + .milliseconds(20 * number))
            if let rate = clock.newWrongRate() { rates.append(rate) }
            return time
        }
        #expect(rates.map(\.hertz) == (rate == 44_100 ? [] : [rate]), "it is reported once")
        let steps = zip(times, times.dropFirst()).map { $1.distance(after: $0).rawValue }
        #expect(steps.dropFirst(rate > 48_000 ? 12 : 0).allSatisfy { $0 == 960 })
    }

    /// Opus without speech (DTX) sends a packet of 20 ms every 400 ms.
    @Test func discontinuousTransmissionIsNoWrongClock() {
        var clock = SourceClock()
        for number in 0..<100 {
            let header = RTPHeader(
                marker: false, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: UInt16(number)),
                timestamp: RTPTimestamp(rawValue: UInt32(number * 19_200)), ssrc: SSRC(9))
            _ = clock.time(
                of: header, .opus, frameCount: FrameCount(960), at: .start + .milliseconds(400 * number))
            #expect(clock.newWrongRate() == nil)
        }
    }
}
