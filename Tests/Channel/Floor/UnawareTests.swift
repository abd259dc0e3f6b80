import TenfourAudioCore
import TenfourFloor
import TenfourPackets
import Testing

/// Stations and arbiters that know no floor control.
struct UnawareTests {
    @Test func aStationThatKnowsNoFloorControlTalksWhileItIsHeard() {
        let talk = Talk(1...2)
        talk.joinUnaware(9)
        #expect(talk.media(9))
        talk.press(1)
        #expect(talk.takeEvents(1).last == .denied(.anotherTalks, talker: SSRC(9), retryAfter: .zero))
        talk.pass(.milliseconds(400))
        #expect(talk.talker == 9)
        talk.pass(.milliseconds(100))
        #expect(talk.talker == nil)
        talk.press(1)
        #expect(talk.sending == [1])
        // The channel does not require the floor: both are heard.
        #expect(talk.media(9))
        #expect(talk.talker == 1)
    }

    @Test func aChannelThatRequiresTheFloorDropsMediaOfAllButTheTalker() {
        let talk = Talk(1...3, .init(isRequired: true))
        #expect(talk[2].isRequired)
        #expect(!talk.media(2))
        talk.press(1)
        #expect(talk.media(1))
        #expect(!talk.media(2))
        talk.release(1)
        // What was sent before the release still arrives.
        #expect(talk.media(1))
        talk.pass(.milliseconds(600))
        #expect(!talk.media(1))
        talk.joinUnaware(9)
        #expect(talk.media(9))
        talk.press(3, .emergency)
        #expect(talk.sending == [3])
        #expect(!talk.media(9))
        #expect(talk.arbiter.counts(of: FloorMemberID(9))?.unpermittedPacketCount == 1)
    }

    @Test func withoutAnArbiterTheFloorIsFreeWhileNobodyIsHeard() {
        var station = FloorParticipant(ssrc: SSRC(1))
        var now = Instant.start
        station.begin(at: now)
        station.press(at: now)
        var messageCount = 0
        while now < .start + .milliseconds(1999) {
            now = min(station.nextDeadline ?? now, .start + .milliseconds(1999))
            station.timeElapsed(at: now)
            while station.nextMessage() != nil { messageCount += 1 }
        }
        #expect(!station.maySend)
        #expect((20...40).contains(messageCount))
        now = .start + .seconds(2)
        station.timeElapsed(at: now)
        #expect(station.maySend)
        expect(station.nextEvent(), .unaware)
        expect(station.nextEvent(), .granted(.normal, until: nil))
        station.release(at: now)
        station.heardMedia(at: now)
        station.press(at: now + .milliseconds(499))
        expect(station.nextEvent(), .denied(.anotherTalks, talker: nil, retryAfter: .zero))
        station.press(at: now + .milliseconds(500))
        #expect(station.maySend)
        expect(station.nextMessage(), nil)
    }

    @Test func anArbiterThatIsHeardLateIsAskedAgain() {
        var station = FloorParticipant(ssrc: SSRC(1))
        station.begin(at: .start)
        let now = Instant.start + .seconds(2)
        station.timeElapsed(at: now)
        while station.nextMessage() != nil {}
        station.press(at: now)
        #expect(station.maySend)
        station.receive(.idle(answering: 0, FloorRevision(term: 1, state: 0), []), at: now)
        #expect(!station.maySend)
        expect(station.nextMessage(), .request(number: 1, SSRC(1), .normal, waits: false, sends: false))
    }
}
