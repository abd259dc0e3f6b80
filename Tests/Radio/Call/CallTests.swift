import TenfourAudioCore
import TenfourSeededRandom
import TenfourSession
import Testing

@testable import TenfourCall

struct CallTests {
    @Test func aCallRingsIsAcceptedAndEnds() {
        let line = CallLine()
        #expect(line.call(from: alice, to: bob))
        line.run(.milliseconds(100))
        #expect(line.events(bob) == [.incoming(alice, name: "Alice")])
        #expect(line.events(alice) == [.rings(name: "Bob")])
        line.run(.seconds(20))
        #expect(line.events(bob).isEmpty)
        line.change(bob) { $0.accept(at: $1) }
        line.run(.milliseconds(100))
        #expect(line.events(alice) == [.connected(bob, name: "Bob")])
        #expect(line.events(bob) == [.connected(alice, name: "Alice")])
        line.run(.seconds(100))
        line.change(alice) { $0.hangUp(at: $1) }
        line.run(.seconds(2))
        #expect(line.events(bob) == [.ended(.hungUp)])
        #expect(line.events(alice).isEmpty)
        #expect(line.isQuiet)
    }

    @Test func whoDeclinesIsNotCalledAgainAtOnce() {
        let line = CallLine()
        for _ in 0..<2 {
            #expect(line.call(from: alice, to: bob))
            line.run(.milliseconds(100))
            line.change(bob) { $0.decline(at: $1) }
            line.run(.milliseconds(100))
            #expect(line.events(alice).last == .ended(.refused(.declined)))
        }
        #expect(line.events(bob) == [.incoming(alice, name: "Alice")])
        line.run(StationCall.declinedTime)
        #expect(line.call(from: alice, to: bob))
        line.run(.milliseconds(100))
        #expect(line.events(bob) == [.incoming(alice, name: "Alice")])
    }

    @Test(arguments: [StationCall.Answering.automatic, .never]) func theMachineMayAnswer(
        answering: StationCall.Answering
    ) {
        let line = CallLine()
        line.change(bob) { bob, _ in bob.answering = answering }
        #expect(line.call(from: alice, to: bob))
        line.run(.seconds(1))
        if answering == .automatic {
            #expect(line.events(alice) == [.connected(bob, name: "Bob")])
            #expect(line.events(bob) == [.connected(alice, name: "Alice")])
        } else {
            #expect(line.events(alice) == [.ended(.refused(.takesNone))])
            #expect(line.events(bob).isEmpty)
        }
    }

    @Test func callersWithCertainNamesAreAcceptedAtOnce() {
        let line = CallLine()
        line.change(bob) { bob, _ in bob.answering = .byPerson(acceptingAtOnce: ["alice"]) }
        #expect(line.call(from: mallory, to: bob))
        line.run(.seconds(1))
        #expect(line.isRinging(bob))
        line.change(bob) { $0.decline(at: $1) }
        line.run(.seconds(1))
        _ = line.events(bob)
        #expect(line.call(from: alice, to: bob))
        line.run(.seconds(1))
        #expect(line.events(bob) == [.connected(alice, name: "Alice")])
    }

    /// A call that nobody can answer would keep the others out for a minute.
    @Test func withoutAPersonOtherNamesAreRefusedAtOnce() {
        let line = CallLine()
        line.change(bob) { bob, _ in bob.answering = .onlyFrom(["alice"]) }
        #expect(line.call(from: mallory, to: bob))
        line.run(.milliseconds(100))
        #expect(line.events(mallory) == [.ended(.refused(.takesNone))])
        #expect(line.events(bob).isEmpty)
        #expect(line.call(from: alice, to: bob))
        line.run(.milliseconds(100))
        #expect(line.events(bob) == [.connected(alice, name: "Alice")])
    }

    @Test func aStationInACallIsBusy() {
        let line = CallLine()
        line.connect()
        #expect(line.call(from: mallory, to: bob))
        line.run(.seconds(1))
        #expect(line.events(mallory) == [.ended(.refused(.busy))])
        // The refusal may be lost, and the invitation repeated: it is one call.
        let events = line.events(bob)
        guard events.count == 1, case .missedWhileBusy(mallory, name: "Mallory", _) = events[0] else {
            Issue.record("\(events)")
            return
        }
    }

    /// For each order in which the two invitations and their answers can cross.
    @Test(arguments: 0..<100) func twoWhoCallEachOtherAtOnceAreOneCall(seed: UInt64) {
        let line = CallLine(seed: seed)
        line.jitter = .milliseconds(Int64(seed) * 3)
        line.loss = seed % 3 == 0 ? 0.2 : 0
        #expect(line.call(from: alice, to: bob))
        line.run(.milliseconds(Int64(seed % 7) * 5))
        // Also where the first call rings by now: nobody has to answer it.
        #expect(line.call(from: bob, to: alice))
        line.run(.seconds(14))
        #expect(line.partner(alice) == bob)
        #expect(line.partner(bob) == alice)
        #expect(line.events(alice).last == .connected(bob, name: "Bob"))
        #expect(line.events(bob).last == .connected(alice, name: "Alice"))
        let answered = [alice, bob].map { line.change($0) { station, _ in station.hasAnswered } }
        #expect(answered == [true, false] || answered == [false, true], "one of the two has answered")
        #expect(line.isQuiet)
    }

    /// Alice knows Bob's IPv6 address, and Bob knows Alice's IPv4 address.
    @Test(arguments: 0..<20) func twoWhoCallEachOtherByDifferentAddressFamiliesAreOneCall(seed: UInt64) {
        let line = CallLine(seed: seed)
        line.jitter = .milliseconds(Int64(seed) * 3)
        #expect(line.change(alice) { $0.call(bobV6, otherEndpoints: [bob, bobV6], knowsCalls: true, at: $1) })
        #expect(line.change(bob) { $0.call(alice, otherEndpoints: [alice, aliceV6], knowsCalls: true, at: $1) })
        line.run(.seconds(10))
        let isByV6 = line.partner(alice) == bobV6
        #expect(line.partner(alice) == (isByV6 ? bobV6 : bob))
        #expect(line.partner(bob) == (isByV6 ? aliceV6 : alice))
        #expect(line.isQuiet)
    }

    @Test(arguments: 0..<50) func aCallSucceedsOverABadNetwork(seed: UInt64) {
        let line = CallLine(seed: seed)
        line.loss = 0.3
        line.jitter = .milliseconds(200)
        line.change(bob) { bob, _ in bob.answering = .automatic }
        #expect(line.change(alice) { $0.call(bob, knowsCalls: true, at: $1) })
        line.run(.seconds(20))
        #expect(line.events(alice).last == .connected(bob, name: "Bob"))
        #expect(line.events(bob).last == .connected(alice, name: "Alice"))
    }

    @Test func anOlderStationIsSimplyHeard() {
        let line = CallLine()
        line.loss = 1
        #expect(line.call(from: alice, to: bob))
        line.run(.seconds(3))
        #expect(line.events(alice) == [.plain(bob)])
        #expect(line.sent(from: alice) == 8)
        // One that has announced that it knows calls is not reachable.
        #expect(line.change(alice) { $0.call(bob, knowsCalls: true, at: $1) })
        line.run(.seconds(6))
        #expect(line.events(alice) == [.ended(.lost)])
        #expect(line.isQuiet)
    }

    @Test func aCallThatNobodyAnswersIsMissed() {
        let line = CallLine()
        #expect(line.call(from: alice, to: bob))
        line.run(.seconds(61))
        #expect(line.events(bob) == [.incoming(alice, name: "Alice"), .ended(.missed(name: "Alice"))])
        #expect(line.events(alice) == [.rings(name: "Bob"), .ended(.refused(.notAnswered))])
        #expect(line.isQuiet)
    }

    @Test func aCallerThatHangsUpOrVanishesStopsTheRinging() {
        for vanishes in [false, true] {
            let line = CallLine()
            #expect(line.call(from: alice, to: bob))
            line.run(.seconds(1))
            if vanishes { line.loss = 1 } else { line.change(alice) { $0.hangUp(at: $1) } }
            line.run(.seconds(6))
            #expect(line.events(bob) == [.incoming(alice, name: "Alice"), .ended(.missed(name: "Alice"))])
            if vanishes { #expect(line.events(alice).last == .ended(.lost)) }
            #expect(line.isQuiet)
        }
    }

    @Test func aStationThatHasRestartedReplacesItsCall() {
        let line = CallLine()
        line.connect()
        line.run(.seconds(3))
        line.restart(alice)
        #expect(line.call(from: alice, to: bob))
        line.run(.milliseconds(100))
        #expect(line.events(bob) == [.ended(.replaced), .incoming(alice, name: "Alice")])
    }

    /// A sender that only claims an address makes nothing ring, and gets no more than it sent.
    @Test func aForgedAddressGainsNothing() {
        let line = CallLine()
        for number: UInt64 in 1...200 {
            for kind: UInt8 in 1...9 {
                for callee in [0, number] where !(kind == 1 && callee == 0) || number == 1 {
                    guard let kind = CallMessage.Kind(rawValue: kind) else { continue }
                    let message = CallMessage(
                        kind, detail: kind == .refusal ? 1 : 0, caller: number, callee: callee, name: "Mallory")
                    line.inject(message.bytes, from: mallory, to: bob)
                }
            }
        }
        line.run(.seconds(2))
        #expect(line.events(bob).isEmpty)
        #expect(line.sent(from: bob) <= 1_000)
    }

    @Test func aStrangerCannotEndOrReplaceACall() {
        let line = CallLine()
        line.connect()
        for kind: CallMessage.Kind in [.end, .acceptance, .confirmation, .challenge, .ringing] {
            for number: UInt64 in 0..<50 {
                line.inject(CallMessage(kind, caller: number, callee: number).bytes, from: alice, to: bob)
                line.inject(CallMessage(kind, caller: number, callee: number).bytes, from: bob, to: alice)
            }
        }
        line.run(.seconds(5))
        #expect(line.partner(alice) == bob)
        #expect(line.partner(bob) == alice)
        #expect(line.events(bob).isEmpty)
    }

    @Test func aProbeIsAnsweredOrNot() {
        let line = CallLine()
        var randomness = SeededRandom(seed: 3)
        var probe = StationProbe(bob, at: line.now, using: &randomness)
        var sentCount = 0
        while let deadline = probe.nextDeadline {
            _ = [UInt8](capacity: 100) { if probe.nextDatagram(into: &$0, at: deadline) { sentCount += 1 } }
        }
        #expect(probe.outcome == .unanswered)
        #expect(sentCount == 3)

        probe = StationProbe(bob, at: line.now, using: &randomness)
        let question = [UInt8](capacity: 100) { _ = probe.nextDatagram(into: &$0, at: line.now) }
        #expect(question.count == 88)
        line.inject(question, from: mallory, to: bob)
        let answer = line.lastSent(from: bob)
        probe.receive(answer.span, from: alice, at: line.now + .milliseconds(30))
        #expect(probe.outcome == nil)
        probe.receive(answer.span, from: bob, at: line.now + .milliseconds(40))
        #expect(probe.outcome == .answered(.milliseconds(40), name: "Bob"))
        #expect(probe.nextDeadline == nil)
    }
}
