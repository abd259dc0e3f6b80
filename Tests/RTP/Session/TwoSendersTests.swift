import TenfourAudioCore
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Packets with the SSRC of a source that come from another address (RFC 3550 section 8.2).
struct TwoSendersTests {
    private func packet(_ number: UInt16, _ timestamp: UInt32, payloadType: UInt8 = 111) -> [UInt8] {
        [UInt8](capacity: 12 + opusPacket.count) { datagram in
            RTPHeader(
                marker: false, payloadType: payloadType, sequenceNumber: SequenceNumber(rawValue: number),
                timestamp: RTPTimestamp(rawValue: timestamp), ssrc: SSRC(9)
            ).write(into: &datagram)
            for byte in opusPacket { datagram.append(byte) }
        }
    }

    private func mistakes(_ session: inout RTPSession) -> [Event] {
        session.takeEvents().filter {
            switch $0 {
            case .sourcesCollide, .sourceSendsTooFast, .sourceClockIsWrong: true
            default: false
            }
        }
    }

    /// Strangers send single packets with the source's SSRC, also in its pauses. The source is heard, and nothing is
    /// reported.
    @Test(arguments: 0..<20 as Range<UInt64>) func singleForgedPacketsChangeNothing(seed: UInt64) {
        var chance = SeededRandom(seed: seed)
        var listener = session()
        var (time, refused) = (0.0, 0)
        for number in 0..<500 {
            time += number % 100 == 99 ? 2 : 0.02
            for _ in 0..<(number == 0 ? 0 : Int.random(in: 0...20, using: &chance)) {
                let stranger = Endpoint(.v4(UInt32.random(in: 1 ... .max, using: &chance)), port: 5_004)
                let forged = packet(
                    UInt16.random(in: .min ... .max, using: &chance), UInt32.random(in: .min ... .max, using: &chance),
                    payloadType: chance.happens(0.9) ? 111 : 101)
                let at = seconds(time - (number % 100 == 99 ? Double.random(in: 0...1.4, using: &chance) : 0))
                if listener.receive(forged, from: stranger, at: at).isDiscarded { refused += 1 }
            }
            guard case .media = listener.receive(media(SSRC(9), number), from: alice, at: seconds(time)) else {
                Issue.record("packet \(number) was refused")
                return
            }
        }
        #expect(mistakes(&listener).isEmpty && refused == listener.discards.total)
        #expect(listener.sources.map(\.endpoint) == [alice])
        #expect(listener.sources.first?.reception.cumulativeLost == 0)
        #expect(listener.sources.first?.reception.receivedCount == 500)
    }

    /// The second sender is reported once, however long both send, and whichever of them is heard.
    @Test func aCollisionIsReportedOnce() {
        var listener = session()
        var events: [Event] = []
        for number in 0..<3_000 {
            let now = seconds(Double(number) / 50)
            // Each of the two pauses for a second, in turn.
            let isAlice = number % 400 < 350
            let isBob = (number + 200) % 400 < 350
            if isAlice { _ = listener.receive(media(SSRC(9), number), from: alice, at: now) }
            if isBob {
                _ = listener.receive(packet(UInt16(20_000 + number), UInt32(number * 960)), from: bob, at: now)
            }
            events += mistakes(&listener)
        }
        #expect(events == [.sourcesCollide(SSRC(9), kept: alice, other: bob)])
        #expect(listener.sources.first?.reception.cumulativeLost == 0)
    }

    /// The second sender's packet is the first of a new stream: nothing is lost, and nothing is late.
    @Test(arguments: 0..<20 as Range<UInt64>) func otherNumbersBeginAnew(seed: UInt64) throws {
        var chance = SeededRandom(seed: seed)
        var listener = session()
        var heard: [(number: SequenceNumber, timestamp: RTPTimestamp, at: Double)] = []
        func receive(_ bytes: [UInt8], from sender: Endpoint, at time: Double) {
            guard case .media(let packet) = listener.receive(bytes, from: sender, at: seconds(time)) else { return }
            heard.append((packet.sequenceNumber, packet.timestamp, time))
        }
        for number in 0..<100 { receive(media(SSRC(9), number), from: alice, at: Double(number) / 50) }
        let (number, timestamp) = (
            UInt16.random(in: .min ... .max, using: &chance), UInt32.random(in: .min ... .max, using: &chance)
        )
        let begin = Double.random(in: 2.6...8, using: &chance)
        for step in 0..<100 as Range<Int> {
            receive(
                packet(number &+ UInt16(step), timestamp &+ UInt32(960 * step)), from: bob,
                at: begin + Double(step) / 50)
        }
        #expect(heard.count == 199, "the first packet proves nothing")
        for (before, after) in zip(heard, heard.dropFirst()) {
            #expect(after.number.distance(after: before.number) == 1)
            let frames = Double(after.timestamp.distance(after: before.timestamp).rawValue)
            #expect(abs(frames - (after.at - before.at) * 48_000) < 2)
        }
        let source = try #require(listener.sources.first)
        #expect(source.endpoint == bob && source.reception.receivedCount == 99)
        #expect(source.reception.cumulativeLost == 0 && source.recentLoss.lossCount == 0)
        #expect(source.reception.jitter == .zero)
    }

    /// Packets without audio begin no stream, and a packet out of sequence does not either.
    @Test func whatIsNotAudioInSequenceTakesNoSourceOver() {
        var listener = session()
        for number in 0..<10 { _ = listener.receive(media(SSRC(9), number), from: alice, at: .start) }
        for number in 0..<100 as Range<UInt16> {
            let now = seconds(2 + Double(number) / 50)
            _ = listener.receive(packet(30_000 + number, 7, payloadType: 101), from: bob, at: now)
            _ = listener.receive(packet(40_000 &- number &* 200, 7), from: carol, at: now)
        }
        #expect(listener.sources.first?.endpoint == alice)
    }
}
