import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// What is encrypted is told from what an encoder makes.
struct EncryptedPayloadDetectorTests {
    /// Of 200 packets of chance the first is taken, and hardly another.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func encryptedPayloadsAreDetectedWithinAQuarterOfASecond(seed: UInt64) {
        var randomness = SeededRandom(seed: seed)
        var listener = session()
        var taken = 0
        var toldAfter: Int?
        for number in 0..<200 {
            let payload = (0..<90).map { _ in UInt8.random(in: 0...255, using: &randomness) }
            let reception = listener.receive(
                media(SSRC(9), number, payload: payload), from: alice, at: seconds(0.02 * Double(number)))
            if case .media = reception { taken += 1 }
            for event in listener.takeEvents() where event == .sourceLooksEncrypted(SSRC(9)) {
                #expect(toldAfter == nil)
                toldAfter = number
            }
        }
        #expect((toldAfter ?? .max) < 40, "told after \(toldAfter ?? -1) packets")
        #expect(taken <= 2, "\(taken) taken")
        #expect(listener.discards[.looksEncrypted] + listener.discards[.malformedPayload] + taken == 200)
        let reception = listener.sources[0].reception
        #expect(reception.cumulativeLost == 0 && reception.receivedCount > 150, "the network has lost none of it")
    }

    /// Each of these payloads seems to last 40 ms, at intervals of 20 ms.
    @Test func encryptedPayloadsSayNothingAboutTheClock() {
        var listener = session()
        let first: [UInt8] = [2 << 3, 6 << 3, 10 << 3, 1 << 3 | 1, 5 << 3 | 1, 9 << 3 | 1, 13 << 3 | 1, 15 << 3 | 1]
        for number in 0..<100 {
            let payload = [first[number % first.count]] + [UInt8](repeating: 7, count: 80)
            _ = listener.receive(
                media(SSRC(9), number, payload: payload), from: alice, at: seconds(0.02 * Double(number)))
        }
        let events = listener.takeEvents()
        #expect(events.contains(.sourceLooksEncrypted(SSRC(9))))
        #expect(!events.contains { if case .sourceClockIsWrong = $0 { true } else { false } }, "\(events)")
    }

    /// Every mode and bandwidth in turn, as an encoder goes through them that is told to.
    @Test func anEncoderThatChangesItsModeEveryThirdPacketIsPlayed() {
        var listener = session()
        for number in 0..<600 {
            let configuration = UInt8(number / 3 % 32)
            let payload = [configuration << 3] + [UInt8](repeating: 7, count: 79)
            let reception = listener.receive(
                media(SSRC(9), number, payload: payload), from: alice, at: seconds(0.02 * Double(number)))
            guard case .media = reception else {
                Issue.record("\(number): \(reception)")
                return
            }
        }
        #expect(!listener.takeEvents().contains(.sourceLooksEncrypted(SSRC(9))))
    }

    @Test func theFirstThreePacketsPlayOnlyIfTheyAgree() {
        var listener = session()
        let receptions = [8, 16, 8, 8].enumerated().map { number, toc in
            listener.receive(
                media(SSRC(9), number, payload: [UInt8(toc)] + [UInt8](repeating: 7, count: 79)), from: alice,
                at: seconds(0.02 * Double(number)))
        }
        #expect(receptions.map { $0 == .discarded(.looksEncrypted) } == [false, true, true, false])
    }

    /// Who turns encryption off is heard within seven packets.
    @Test func aStreamThatBecomesOpusIsPlayed() {
        var randomness = SeededRandom(seed: 3)
        var listener = session()
        for number in 0..<100 {
            let payload = [UInt8.random(in: 0...63, using: &randomness) << 2] + [UInt8](repeating: 7, count: 79)
            _ = listener.receive(media(SSRC(9), number, payload: payload), from: alice, at: .start)
        }
        #expect(listener.takeEvents().contains(.sourceLooksEncrypted(SSRC(9))))
        for number in 100..<110 {
            let reception = listener.receive(media(SSRC(9), number), from: alice, at: .start)
            if number >= 107 { #expect(reception != .discarded(.looksEncrypted)) }
        }
    }
}
