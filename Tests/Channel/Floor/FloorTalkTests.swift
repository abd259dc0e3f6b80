import TenfourAudioCore
import TenfourFloor
import TenfourPackets
import Testing

/// Who has the floor, and what the others hear of it, over a perfect network.
struct FloorTalkTests {
    @Test func theFirstOneTalksAndTheSecondIsToldWho() {
        let talk = Talk(1...3)
        talk.press(1)
        #expect(talk.sending == [1])
        #expect(talk.takeEvents(1) == [.granted(.normal, until: .start + .seconds(180))])
        #expect(talk.takeEvents(3) == [.taken(by: SSRC(1), .normal)])
        talk.press(2)
        #expect(talk.takeEvents(2).last == .denied(.anotherTalks, talker: SSRC(1), retryAfter: .zero))
        #expect(talk.sending == [1])
        talk.release(1)
        #expect(talk.talker == nil)
        #expect(talk.takeEvents(3) == [.idle])
        // The key of the second station is still down: a denied request is over, and needs another press.
        talk.pass(.seconds(3))
        #expect(talk.talker == nil)
        talk.press(2)
        #expect(talk.sending == [2])
    }

    @Test func theOthersAreToldThatATalkerIsInAnEmergency() {
        let talk = Talk(1...3)
        talk.press(1)
        #expect(talk.takeEvents(2) == [.taken(by: SSRC(1), .normal)])
        talk.press(1, .emergency)
        #expect(talk.takeEvents(2) == [.taken(by: SSRC(1), .emergency)])
        #expect(talk[2].talkerPriority == .emergency)
        talk.pass(.seconds(3))
        #expect(talk.takeEvents(2) == [])
        talk.release(1)
        #expect(talk.takeEvents(2) == [.idle])
    }

    @Test func theQueueIsServedInItsOrderAndEmergenciesFirst() {
        let talk = Talk(1...6)
        talk.press(1, .emergency)
        talk.press(2, waits: true)
        talk.press(3, waits: true)
        talk.press(4, .emergency, waits: true)
        talk.press(5, waits: true)
        #expect(talk[2].state == .queued(position: 2, size: 4))
        #expect(talk[4].state == .queued(position: 1, size: 4))
        talk.release(3)
        #expect(talk[5].state == .queued(position: 3, size: 3))
        for next: UInt32 in [4, 2, 5] {
            talk.release(talk.talker!)
            #expect(talk.sending == [next])
        }
        talk.release(5)
        #expect(talk.talker == nil)
    }

    @Test func aStationWaitsForAsLongAsItsKeyIsDown() {
        let talk = Talk(1...2)
        talk.press(1)
        talk.press(2, waits: true)
        talk.pass(.seconds(60))
        #expect(talk[2].state == .queued(position: 1, size: 1))
        talk.release(1)
        #expect(talk.sending == [2])
    }

    @Test func oneThatWaitsAndVanishesLeavesTheQueue() {
        let talk = Talk(1...3)
        talk.press(1)
        talk.press(2, waits: true)
        talk.press(3, waits: true)
        talk.deaf = [2]
        talk.pass(.seconds(5))
        #expect(talk[3].state == .queued(position: 1, size: 1))
        // It is heard again, finds that its request is over, and waits anew.
        talk.deaf = []
        talk.pass(.seconds(2))
        #expect(talk[2].state == .queued(position: 2, size: 2))
        talk.release(1)
        #expect(talk.sending == [3])
    }

    @Test func theQueueHoldsSixteen() {
        let talk = Talk(1...20)
        for number: UInt32 in 1...18 { talk.press(number, waits: true) }
        #expect(talk[17].state == .queued(position: 16, size: 16))
        #expect(talk.takeEvents(18).last == .denied(.queueIsFull, talker: SSRC(1), retryAfter: .zero))
        talk.release(1)
        #expect(talk.talker == 2)
        #expect(talk.arbiter.queueCount == 15)
    }

    @Test func anEmergencyFindsRoomInAFullQueue() {
        let talk = Talk(1...20)
        talk.press(1, .emergency)
        for number: UInt32 in 2...17 { talk.press(number, waits: true) }
        talk.press(18, .emergency, waits: true)
        #expect(talk[18].state == .queued(position: 1, size: 16))
        #expect(talk.takeEvents(17).last == .denied(.queueIsFull, talker: SSRC(1), retryAfter: .zero))
        talk.release(1)
        #expect(talk.sending == [18])
    }

    @Test func anEmergencyTakesTheFloorOnceAMinute() {
        let talk = Talk(1...3)
        talk.press(1)
        talk.press(2, .emergency)
        #expect(talk.sending == [2])
        #expect(
            talk.takeEvents(1).suffix(2) == [.revoked(.preempted, retryAfter: .zero), .taken(by: SSRC(2), .emergency)])
        #expect(talk.takeEvents(3).last == .taken(by: SSRC(2), .emergency))
        // Another emergency does not take it.
        talk.press(3, .emergency)
        #expect(talk.takeEvents(3).last == .denied(.anotherTalks, talker: SSRC(2), retryAfter: .zero))
        talk.release(2)
        talk.press(1)
        talk.pass(.seconds(58))
        talk.press(2, .emergency)
        #expect(talk.sending == [1])
        #expect(talk.arbiter.counts(of: FloorMemberID(2))?.surplusEmergencyCount == 1)
        talk.pass(.seconds(3))
        talk.press(2, .emergency)
        #expect(talk.sending == [2])
    }

    @Test func aTalkBecomesAnEmergency() {
        let talk = Talk(1...3)
        talk.press(1)
        talk.press(1, .emergency)
        #expect(talk.arbiter.talker?.priority == .emergency)
        talk.press(2, .emergency)
        #expect(talk.sending == [1])
    }

    @Test func aTalkIsBoundedAndFollowedByAPause() {
        let talk = Talk(1...2, .init(longestTalk: .seconds(30)))
        talk.press(1)
        talk.pass(.seconds(29))
        #expect(talk.sending == [1])
        talk.pass(.seconds(1))
        #expect(talk.talker == nil)
        #expect(talk.sending == [])
        guard case .revoked(.tooLong, _) = talk.takeEvents(1).last else {
            Issue.record("not told")
            return
        }
        talk.press(1)
        #expect(talk.takeEvents(1).last == .denied(.tooEarly, talker: nil, retryAfter: .seconds(2)))
        talk.press(2)
        #expect(talk.sending == [2])
        talk.release(2)
        talk.pass(.seconds(2))
        talk.press(1)
        #expect(talk.sending == [1])
    }

    @Test func theFloorOfAVanishedTalkerIsIdleWithinTwoSeconds() {
        let talk = Talk(1...2)
        talk.press(1)
        talk.pass(.seconds(10))
        #expect(talk.sending == [1])
        talk.deaf = [1]
        talk.pass(.milliseconds(500))
        #expect(talk.sending == [])
        #expect(talk.takeEvents(1).last == .interrupted)
        talk.pass(.milliseconds(1500))
        #expect(talk.talker == nil)
        // Its key is still down: it talks again when it is heard again.
        talk.deaf = []
        talk.pass(.milliseconds(300))
        #expect(talk.sending == [1])
    }

    @Test func aMemberThatLeavesReleasesTheFloorAtOnce() {
        let talk = Talk(1...3)
        talk.press(1)
        talk.press(2, waits: true)
        talk.press(3, waits: true)
        talk.leave(2)
        talk.leave(1)
        #expect(talk.sending == [3])
    }

    @Test func anotherMemberCannotTakeTheFloorByTheTalkersSSRC() {
        let talk = Talk(1...2)
        talk.press(1)
        talk.inject(.request(number: 1, SSRC(1), .normal, waits: false, sends: true), from: 2)
        #expect(talk.talker == 1)
        talk.inject(.release(number: 1, SSRC(1)), from: 2)
        #expect(talk.talker == 1)
    }
}
