import TenfourAudioCore
import TenfourPackets
import TestSupport
import Testing

@testable import TenfourSession

/// Our own stream in G.711: its numbers, its reports and its protection.
struct G711SendingTests {
    private func sender(_ payloadType: UInt8 = 0, mode: LossProtectionConfiguration.Mode = .auto) -> RTPSession {
        var configuration = RTPSessionConfiguration(remotes: [bob], payloadType: payloadType)
        configuration.lossProtection.mode = mode
        configuration.lossProtection.bitRate = 64_000
        configuration.lossProtection.remoteCapabilities = Capabilities(supportsNACK: true, redPayloadType: 63)
        return RTPSession(
            identity: Identity(ssrc: SSRC(9), firstTimestamp: RTPTimestamp(rawValue: .max - 100), seed: 3),
            configuration: configuration, at: .start)
    }

    private let packet = [UInt8](repeating: 0xD5, count: 160)

    /// Sends a packet each 20 ms until `end`, and returns all datagrams.
    private func talk(_ session: inout RTPSession, until end: Double) -> [SentDatagram] {
        var all: [SentDatagram] = []
        for number in 0..<Int(end * 50) {
            let now = seconds(Double(number) / 50)
            session.wait(until: now)
            session.send(packet.span, at: FrameCount(number * 960), startsTalkspurt: number % 100 == 0, now: now)
            all += session.takeDatagrams(at: now)
        }
        return all
    }

    private func senderReports(_ datagrams: [SentDatagram]) -> [SenderReport] {
        datagrams.flatMap(\.packets).compactMap { if case .senderReport(let report) = $0 { report } else { nil } }
    }

    @Test(arguments: [0, 8] as [UInt8]) func timestampsCountAt8000Hertz(payloadType: UInt8) throws {
        var session = sender(payloadType)
        let headers = talk(&session, until: 3).filter { $0.packets.isEmpty }.map {
            try? RTPHeader(parsing: $0.bytes.span)
        }
        #expect(headers.count == 150)
        for (number, header) in headers.enumerated() {
            let header = try #require(header)
            #expect(header.payloadType == payloadType && header.payload.count == 160)
            #expect(header.timestamp == RTPTimestamp(rawValue: .max - 100).advanced(by: FrameCount(160 * number)))
            #expect(header.marker == (number % 100 == 0))
        }
    }

    @Test func theClockOfSenderReportsRunsAt8000Hertz() throws {
        var session = sender()
        let reports = senderReports(talk(&session, until: 60))
        #expect(reports.count >= 8)
        for (report, next) in zip(reports, reports.dropFirst()) {
            let ticks = next.timestamp.distance(after: report.timestamp).rawValue
            let seconds = Double(next.time.rawValue - report.time.rawValue) / 4_294_967_296
            #expect(abs(Double(ticks) - seconds * 8_000) <= 1, "\(ticks) ticks in \(seconds) s")
        }
    }

    /// RFC 3550 section 6.4.1: jitter is measured in timestamp units, here 1/8000 s.
    @Test func jitterThatOthersReportIsReadAt8000Hertz() throws {
        var session = sender()
        _ = talk(&session, until: 1)
        let block = ReportBlock(
            ssrc: SSRC(9), fractionLost: 0, cumulativeLost: 0, extendedHighestSequenceNumber: 40,
            jitter: FrameCount(80),
            lastSenderReport: nil, delaySinceLastSenderReport: .zero)
        _ = session.receive(report(SSRC(1), [block]), from: bob, at: seconds(1))
        #expect(session.sendStream.lastReceiverView?.jitter == .milliseconds(10))
    }

    /// Each second packet comes 6 ms late: as many ticks as RFC 3550 appendix A.8 counts, at the clock of the encoding.
    @Test(arguments: [(0, 160, 48), (111, 960, 288)] as [(UInt8, Int, Int)])
    func jitterIsReportedAtTheClockOfTheEncoding(payloadType: UInt8, ticks: Int, expected: Int) throws {
        var listener = session(
            1, RTPSessionConfiguration(remotes: [alice], acceptedPayloadTypes: [111: .opus, 0: .pcmu, 8: .pcma]))
        var jitter: [Int] = []
        for number in 0..<1_000 {
            let now = seconds(Double(number) / 50 + (number % 2 == 0 ? 0 : 0.006))
            listener.wait(until: now)
            let datagram = [UInt8](capacity: 12 + 160) { datagram in
                RTPHeader(
                    marker: number == 0, payloadType: payloadType,
                    sequenceNumber: SequenceNumber(rawValue: UInt16(number)),
                    timestamp: RTPTimestamp(rawValue: UInt32(number * ticks)), ssrc: SSRC(9)
                ).write(into: &datagram)
                for byte in payloadType == 0 ? packet : opusPacket { datagram.append(byte) }
            }
            _ = listener.receive(datagram, from: alice, at: now)
            jitter += listener.takeDatagrams(at: now).flatMap(\.blocks).map(\.jitter.rawValue)
        }
        let last = try #require(jitter.last)
        #expect(abs(last - expected) <= expected / 16 + 1, "\(jitter)")
    }

    /// G.711 leaves no bits for copies, whatever the mode. Lost packets are retransmitted as they were.
    @Test(arguments: [LossProtectionConfiguration.Mode.auto, .copy])
    func lostPacketsAreRetransmittedAndNotCopied(mode: LossProtectionConfiguration.Mode) throws {
        var session = sender(mode: mode)
        var all: [SentDatagram] = []
        for number in 0..<500 {
            let now = seconds(Double(number) / 50)
            session.wait(until: now)
            session.send(packet.span, at: FrameCount(number * 960), startsTalkspurt: number == 0, now: now)
            all += session.takeDatagrams(at: now)
            guard number % 25 == 24 else { continue }
            let block = ReportBlock(
                ssrc: SSRC(9), fractionLost: 26, cumulativeLost: number / 10,
                extendedHighestSequenceNumber: UInt32(number),
                jitter: .zero, lastSenderReport: nil, delaySinceLastSenderReport: .zero)
            _ = session.receive(report(SSRC(1), [block]), from: bob, at: now)
        }
        #expect(session.lossProtection.copies.isEmpty && !session.lossProtection.inBandFEC)
        let media = all.filter { $0.packets.isEmpty }
        #expect(media.allSatisfy { (try? RTPHeader(parsing: $0.bytes.span))?.payloadType == 0 })
        let nack = GenericNACK(sender: SSRC(1), media: SSRC(9), sequenceNumbers: [SequenceNumber(rawValue: 495)])
        _ = session.receive(nack.datagram(canonicalName: "somebody").span, from: bob, at: seconds(10))
        let again = session.takeDatagrams(at: seconds(10)).filter { $0.packets.isEmpty }
        #expect(
            again.map(\.bytes) == (mode == .auto ? media.filter { $0.bytes[2...3] == [0x01, 0xEF] }.map(\.bytes) : []))
    }

    /// A payload of 1440 bytes is sent. A longer one, which receivers refuse, is a mistake of our caller.
    @Test func aPayloadThatReceiversRefuseIsNotSent() async {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        let longest = [UInt8](repeating: 0xF8, count: RTPSession.maximumPayloadByteCount)
        talker.send(longest.span, at: .zero, startsTalkspurt: true, now: .start)
        #expect(talker.takeDatagrams().first { $0.packets.isEmpty }?.bytes.count == 12 + 1_440)
        await #expect(processExitsWith: .failure) {
            var talker = RTPSession(
                identity: Identity(ssrc: SSRC(9)), configuration: RTPSessionConfiguration(remotes: [bob]), at: .start)
            let tooLong = [UInt8](repeating: 0xF8, count: RTPSession.maximumPayloadByteCount + 1)
            talker.send(tooLong.span, at: .zero, startsTalkspurt: true, now: .start)
        }
    }
}
