import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TestSupport
import Testing

@testable import TenfourSession

/// Whatever comes, a station keeps no more than it said it would.
struct HostileTests {
    @Test(arguments: [false, true]) func aHundredThousandRandomDatagramsFillNothing(hearsGroup: Bool) {
        var randomness = SeededRandom(seed: 11)
        var session = session(1, RTPSessionConfiguration(remotes: [bob], hearsGroup: hearsGroup))
        var now = Instant.start
        for number in 0..<100_000 {
            now = now + .microseconds(Int.random(in: 0...200, using: &randomness))
            let sender = Endpoint(
                .v4(.random(in: 1...500, using: &randomness)), port: .random(in: 0 ... .max, using: &randomness))
            _ = session.receive(datagram(number, &randomness), from: sender, at: now)
            session.timeElapsed(at: now)
            if number % 1_000 == 0 { #expect(session.sources.count <= RTPSession.maximumSourceCount) }
        }
        #expect(session.sources.count == RTPSession.maximumSourceCount)
        #expect(session.listenerCount == (hearsGroup ? Listeners.maximumCount : 0))
        #expect(session.discards.total > 10_000)
        #expect(
            DiscardReason.allCases.filter { session.discards[$0] == 0 } == [
                .oversizedPayload, .looksEncrypted, .stranger, .loop, .collision,
            ])
        #expect(session.takeEvents().count == EventQueue.maximumCount)
        #expect(session.takeDatagrams().count <= 128)
    }

    @Test func aFullTableGivesUpTheTalkerThatIsSilentLongest() {
        var session = session(1, RTPSessionConfiguration(remotes: [bob]))
        for packet in 0..<10 {
            for number in 0..<RTPSession.maximumSourceCount {
                let now = Instant.start + .milliseconds(20 * packet + number / 4)
                _ = session.receive(media(SSRC(UInt32(100 + number)), packet).span, from: bob, at: now)
            }
        }
        let last = Instant.start + .milliseconds(180)
        for (pause, isHeard) in [(400, false), (501, true)] {
            _ = session.receive(media(SSRC(9), 1).span, from: bob, at: last + .milliseconds(pause))
            #expect(session.sources.contains { $0.ssrc == SSRC(9) } == isHeard)
        }
        #expect(!session.sources.contains { $0.ssrc == SSRC(100) })
        #expect(session.sources.count == RTPSession.maximumSourceCount)
    }

    private func datagram(_ number: Int, _ randomness: inout SeededRandom) -> [UInt8] {
        let noise = (0..<Int.random(in: 0...60, using: &randomness)).map { _ in
            UInt8.random(in: 0...255, using: &randomness)
        }
        let ssrc = SSRC(.random(in: 0 ... .max, using: &randomness))
        switch number % 6 {
        case 0: return noise
        case 1: return media(ssrc, number, payload: noise)
        case 2: return report(ssrc)
        case 3: return goodbye(ssrc)
        case 4: return [0x80 | .random(in: 0...63, using: &randomness), 111] + noise
        default:
            return [0x80 | .random(in: 0...31, using: &randomness), .random(in: 200...207, using: &randomness), 0, 3]
                + noise
        }
    }
}
