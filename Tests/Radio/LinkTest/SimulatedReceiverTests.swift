import TenfourAudioCore
import TenfourCallQuality
import TenfourJSON
import TenfourJitterBuffer
import TenfourLinkTest
import TenfourPackets
import TenfourRadio
import TenfourSession
import Testing

/// Receives packets of silence, one every 20 ms, each with its delay; nil for a lost one.
private func receive(
    _ delays: [Duration?], firstTimestamp: UInt32 = 0, playout: PlayoutSettings = .init()
) throws -> (report: QualityReport, sampleCount: Int) {
    var arrivals: [(at: Instant, datagram: [UInt8])] = []
    for (index, delay) in delays.enumerated() {
        guard let delay else { continue }
        let header = RTPHeader(
            marker: index == 0, payloadType: 111,
            sequenceNumber: SequenceNumber(rawValue: UInt16(truncatingIfNeeded: index)),
            timestamp: RTPTimestamp(rawValue: firstTimestamp &+ UInt32(index * 960)), ssrc: SSRC(9))
        let datagram = [UInt8](capacity: 15) {
            header.write(into: &$0)
            for byte: UInt8 in [0xF8, 0xFF, 0xFE] { $0.append(byte) }
        }
        arrivals.append((.start + .seconds(1_000) + .milliseconds(20 * index) + delay, datagram))
    }
    arrivals.sort { $0.at < $1.at }
    var receiver = try SimulatedReceiver(of: SSRC(9), playout: playout)
    var sampleCount = 0
    for arrival in arrivals {
        receiver.play(until: arrival.at) { sound, _ in sampleCount += sound.count }
        receiver.receive(arrival.datagram.span, from: Endpoint(.v4(1), port: 1), at: arrival.at)
    }
    receiver.finish { sound, _ in sampleCount += sound.count }
    return (receiver.report(), sampleCount)
}

private let even = [Duration?](repeating: .milliseconds(30), count: 500)

struct SimulatedReceiverTests {
    @Test func onACleanLinkNothingIsMissingAndTheDelayIsThatOfOnePull() throws {
        let (report, sampleCount) = try receive(even)
        #expect(report.whole.expected == 500 && report.whole.lost == 0 && report.whole.concealedShare == 0)
        let most = try #require(report.whole.delays.maximum)
        #expect(most <= .milliseconds(13), "\(most)")
        #expect(report.seconds.count >= 10 && report.seconds[5].expected == 50)
        #expect(sampleCount >= 500 * 960)
    }

    /// Delays count from the send time implied by the fastest packet: a delay common to all packets does not show,
    /// one of a single packet does.
    @Test func delayCountsFromTheFastestPacketOfAll() throws {
        var playout = PlayoutSettings()
        playout.fixedDelay = .milliseconds(60)
        var delays = even
        delays[200] = .milliseconds(10)
        let mean = try #require(try receive(delays, playout: playout).report.whole.delays.mean)
        let plain = try #require(try receive(even, playout: playout).report.whole.delays.mean)
        #expect((.milliseconds(58) ... .milliseconds(64)).contains(plain), "\(plain)")
        #expect((.milliseconds(58) ... .milliseconds(84)).contains(mean) && mean > plain + .milliseconds(5), "\(mean)")
    }

    @Test func lossesAreCountedInTheirSecondsAndRuns() throws {
        var delays = even
        for index in [100, 101, 102, 130, 400] { delays[index] = nil }
        let whole = try receive(delays).report
        #expect(whole.whole.lost == 5 && whole.whole.burstLength == 5.0 / 3)
        #expect(try #require(whole.whole.concealedShare) > 0.008)
        #expect(try #require(whole.whole.score) < 4.3)
    }

    @Test func timestampsMayWrapAndTheSameDatagramsGiveTheSameReport() throws {
        var delays = even
        for index in stride(from: 3, to: 500, by: 17) { delays[index] = .milliseconds(30 + index % 40) }
        let first = try receive(delays, firstTimestamp: .max - 100_000)
        let second = try receive(delays, firstTimestamp: .max - 100_000)
        #expect(JSON.object(first.report.members()).text == JSON.object(second.report.members()).text)
        #expect(first.report.whole.playout.resyncs == 0)
        let mean = try #require(first.report.whole.delays.mean)
        let other = try #require(try receive(delays).report.whole.delays.mean)
        let difference = max(mean, other) - min(mean, other)
        #expect(difference < .milliseconds(1))
    }

    /// Each packet carries a copy of the previous one (RFC 2198), so a single loss is not heard.
    @Test func copiesBringBackWhatIsLost() throws {
        var receiver = try SimulatedReceiver(of: SSRC(9), payloadType: 111, redPayloadType: 63)
        let sound: [UInt8] = [0xF8, 0xFF, 0xFE]
        for index in 0..<500 where index % 25 != 10 {
            let at = Instant.start + .milliseconds(20 * index)
            let header = RTPHeader(
                marker: index == 0, payloadType: index == 0 ? 111 : 63,
                sequenceNumber: SequenceNumber(rawValue: UInt16(index)),
                timestamp: RTPTimestamp(rawValue: UInt32(index * 960)), ssrc: SSRC(9))
            let datagram = [UInt8](capacity: 30) {
                header.write(into: &$0)
                if index > 0 {
                    let copy = RedundantPayload.Block(payloadType: 111, age: FrameCount(960), byteCount: 3)
                    RedundantPayload.writeHeader(ofCopy: copy, into: &$0)
                    RedundantPayload.writeHeader(ofPrimary: 111, into: &$0)
                    for byte in sound { $0.append(byte) }
                }
                for byte in sound { $0.append(byte) }
            }
            receiver.play(until: at) { _, _ in }
            receiver.receive(datagram.span, from: Endpoint(.v4(1), port: 1), at: at)
        }
        receiver.finish { _, _ in }
        let whole = receiver.report().whole
        #expect(whole.lost == 20)
        #expect(try #require(whole.recoveredByCopyShare) > 0.03)
        #expect(try #require(whole.concealedShare) < 0.01)
    }

    @Test func whereNothingComesNothingIsReported() throws {
        let (report, sampleCount) = try receive([nil, nil])
        #expect(sampleCount == 0 && report.whole.score == nil && report.whole.expected == 0)
    }
}
