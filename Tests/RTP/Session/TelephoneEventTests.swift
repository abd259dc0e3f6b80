import TenfourAudioCore
import TenfourPackets
import Testing

@testable import TenfourSession

/// Packets of a source that carry no audio: they are received, and nothing is lost in their place.
struct TelephoneEventTests {
    /// Returns a packet of a key, `number` packets after the first of the stream. `start` is the number of the packet with
    /// the press's timestamp.
    private func key(_ code: UInt8, _ number: Int, start: Int, isEnd: Bool = false) -> [UInt8] {
        var datagram = media(SSRC(9), number, payloadType: 101, payload: [code, isEnd ? 0x8A : 0x0A, 0, 160])
        datagram.replaceSubrange(4..<8, with: media(SSRC(9), start)[4..<8])
        return datagram
    }

    @Test func aPressIsReceivedAndReportedOnce() throws {
        var listener = session()
        var numbers: [SequenceNumber] = []
        var keys: [Character] = []
        for number in 0..<300 {
            let now = Instant.start + .milliseconds(20 * number)
            let isKey = (100..<112).contains(number) || (150..<162).contains(number)
            let datagram =
                isKey
                ? key(number < 150 ? 11 : 5, number, start: number < 150 ? 100 : 150, isEnd: number % 50 > 8)
                : media(SSRC(9), number)
            switch listener.receive(datagram, from: alice, at: now) {
            case .media(let packet): numbers.append(packet.sequenceNumber)
            case let other: #expect(isKey && other == .withoutAudio)
            }
            for case .keyPressed(SSRC(9), let event) in listener.takeEvents() { keys.append(event.key) }
        }
        #expect(keys == ["#", "5"])
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1.distance(after: $0) == 1 } && numbers.count == 276)
        let source = try #require(listener.sources.first)
        #expect(source.reception.cumulativeLost == 0 && source.reception.receivedCount == 300)
        #expect(source.recentLoss.share == 0 && source.reception.jitter < FrameCount(10))
        #expect(listener.discards.total == 0)
    }

    @Test func comfortNoiseAndOtherTypesOfASourceAreReceived() throws {
        var listener = session(1, RTPSessionConfiguration(acceptedPayloadTypes: [0: .pcmu]))
        #expect(
            listener.receive(media(SSRC(9), payloadType: 13, payload: [60]), from: alice, at: .start)
                == .discarded(.unknownPayloadType))
        #expect(listener.sources.isEmpty, "such a packet begins no source")
        let ulaw = [UInt8](repeating: 0xFF, count: 160)
        var newest: SequenceNumber?
        for number in 0..<100 {
            let type: UInt8 = number % 10 == 5 ? 13 : number % 10 == 7 ? 98 : 0
            let payload: [UInt8] = type == 13 ? [60] : ulaw
            let now = Instant.start + .milliseconds(20 * number)
            let reception = listener.receive(
                media(SSRC(9), number, payloadType: type, payload: payload), from: alice, at: now)
            if case .media(let packet) = reception { newest = packet.sequenceNumber }
            if case .comfortNoise(let noise, let begin, SSRC(9)) = reception {
                #expect(type == 13 && noise.level == 60 && noise.order == 0 && begin == newest)
            } else {
                #expect(type != 13)
            }
            #expect((reception == .discarded(.unknownPayloadType)) == (type == 98))
        }
        let reception = try #require(listener.sources.first).reception
        #expect(reception.cumulativeLost == 0 && reception.receivedCount == 100)
    }

    @Test(arguments: [[16, 10, 0, 1], [5, 0x4A, 0, 1], [5, 10, 0], [5, 10, 0, 1, 0], []] as [[UInt8]])
    func whatIsNoKeyIsNone(payload: [UInt8]) { #expect(TelephoneEvent(parsing: payload.span) == nil) }

    /// Keys that are sent faster than anybody can press them are not all reported.
    @Test func aFloodOfKeysIsBounded() {
        var listener = session()
        _ = listener.receive(media(SSRC(9)), from: alice, at: .start)
        for number in 1..<2_000 {
            let now = Instant.start + .milliseconds(number)
            _ = listener.receive(key(UInt8(number % 16), number, start: number), from: alice, at: now)
        }
        let count = listener.takeEvents().count { if case .keyPressed = $0 { true } else { false } }
        #expect((1...34).contains(count))
    }
}
