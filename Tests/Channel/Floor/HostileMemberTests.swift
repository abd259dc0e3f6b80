import TenfourAudioCore
import TenfourPackets
import TenfourSeededRandom
import Testing

@testable import TenfourFloor

/// Members that break the rules: what they reach is bounded, and counted by member.
struct HostileMemberTests {
    @Test func oneThatNeverReleasesTalksNoLongerThanItMay() {
        let talk = Talk(1...2, .init(isRequired: true, longestTalk: .seconds(60)))
        // Its messages are those that follow, and not those of an honest station.
        talk.deaf = [1]
        talk.inject(.request(number: 1, SSRC(1), .normal, waits: false, sends: false), from: 1)
        for _ in 0..<650 {
            talk.inject(.request(number: 1, SSRC(1), .normal, waits: false, sends: true), from: 1)
            talk.pass(.milliseconds(100))
        }
        #expect(talk.talker == nil)
        #expect(!talk.media(1))
        #expect(talk.arbiter.counts(of: FloorMemberID(1))?.overlongCount == 1)
        talk.press(2)
        #expect(talk.sending == [2])
    }

    @Test func oneThatFloodsIsIgnoredBeyondItsLimit() {
        let talk = Talk(1...2)
        talk.press(2)
        for number: UInt32 in 10..<10_010 {
            talk.inject(.request(number: number, SSRC(1), .emergency, waits: true, sends: true), from: 1)
        }
        let counts = talk.arbiter.counts(of: FloorMemberID(1))
        #expect((counts?.requestCount ?? 0) <= 60)
        #expect((counts?.limitedCount ?? 0) >= 9_940)
        #expect(talk.arbiter.queueCount <= 1)
        #expect(talk.arbiter.counts(of: FloorMemberID(2))?.limitedCount == 0)
    }

    @Test func oneThatClaimsAnothersSSRCIsDenied() {
        let talk = Talk(1...2)
        talk.press(2)
        talk.inject(.request(number: 1, SSRC(2), .normal, waits: false, sends: true), from: 1, ownsSSRC: false)
        talk.inject(.request(number: 2, SSRC(2), .emergency, waits: false, sends: true), from: 1, ownsSSRC: false)
        #expect(talk.sending == [2])
        #expect(talk.arbiter.counts(of: FloorMemberID(1))?.foreignSSRCCount == 2)
        talk.inject(.release(number: 1, SSRC(2)), from: 1)
        #expect(talk.sending == [2])
    }

    @Test func aListenerIsDenied() {
        let talk = Talk(1...2, listeners: [3])
        talk.press(3)
        #expect(talk.takeEvents(3).last == .denied(.mayOnlyListen, talker: nil, retryAfter: .zero))
        #expect(!talk.media(3) || talk.talker == nil)
    }

    @Test func aStrangerAndAnArbitersMessageAreIgnored() {
        let talk = Talk(1...2)
        let before = talk.arbiter.revision
        talk.inject(.request(number: 1, SSRC(9), .normal, waits: false, sends: false), from: 9)
        talk.inject(.idle(answering: 0, FloorRevision(term: 9, state: 9), []), from: 1)
        #expect(talk.arbiter.revision == before)
        var participant = talk[1]
        participant.receive(.request(number: 1, SSRC(9), .normal, waits: false, sends: false), at: talk.now)
        expect(participant.nextMessage(), nil)
        expect(participant.nextEvent(), nil)
    }

    /// Any messages of any members: no trap, never two grants, bounded memory, and every participant gets an answer in
    /// the end.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func nonsenseIsBounded(seed: UInt64) {
        var randomness = SeededRandom(seed: seed)
        let talk = Talk(1...8, .init(isRequired: true, longestTalk: .seconds(2)))
        for round in 0..<3_000 {
            let message = noise(&randomness, highest: UInt32(6 + round / 20))
            talk.inject(message, from: UInt32.random(in: 1...4, using: &randomness), ownsSSRC: randomness.happens(0.8))
            if randomness.happens(0.2) { _ = talk.media(UInt32.random(in: 1...9, using: &randomness)) }
            if randomness.happens(0.3) { talk.pass(.milliseconds(Int.random(in: 0...200, using: &randomness))) }
            #expect(talk.arbiter.queueCount <= 16)
            #expect(talk.arbiter.revoked.count <= 4)
            #expect(talk.arbiter.members.count == 8)
        }
        talk.pass(.seconds(10))
        #expect(talk.talker == nil)
        talk.press(8)
        #expect(talk.sending == [8])
    }

    private func noise(_ randomness: inout SeededRandom, highest: UInt32) -> FloorMessage {
        let number = UInt32.random(in: 1...highest, using: &randomness)
        let ssrc = SSRC(UInt32.random(in: 1...5, using: &randomness))
        switch Int.random(in: 0..<6, using: &randomness) {
        case 0: return .release(number: number, ssrc)
        case 1: return .queuePositionRequest(number: number, ssrc)
        case 2:
            return .granted(number: number, ssrc, .normal, FloorRevision(term: 1, state: 1), time: 0, mustAnswer: true)
        default:
            return .request(
                number: number, ssrc, randomness.happens(0.2) ? .emergency : .normal, waits: randomness.happens(0.5),
                sends: randomness.happens(0.3))
        }
    }
}
