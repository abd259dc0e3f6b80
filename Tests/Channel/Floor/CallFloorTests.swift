import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import Testing

@testable import TenfourFloor

/// The floor between two stations, one of which arbitrates.
struct CallFloorTests {
    /// Two stations. Messages arrive after `delay`; those of `lost` numbers never.
    private final class Call {
        var now = Instant.start
        var stations: [CallFloor]
        var events: [[FloorEvent]] = [[], []]
        private let delay: Duration
        private var onTheWay: [(due: Instant, to: Int, message: FloorMessage)] = []
        var isCut = false

        init(_ first: CallFloor.Role, _ second: CallFloor.Role, delay: Duration = .milliseconds(20)) {
            stations = [
                CallFloor(ssrc: SSRC(1), as: first, at: now), CallFloor(ssrc: SSRC(2), as: second, at: now),
            ]
            self.delay = delay
            flush()
        }

        var sending: [Int] { stations.indices.filter { stations[$0].participant.maySend } }

        func act(_ index: Int, _ body: (inout CallFloor, Instant) -> Void) {
            body(&stations[index], now)
            flush()
        }

        func media(of index: Int) {
            stations[1 - index].heardMedia(of: SSRC(UInt32(index + 1)), at: now)
            flush()
        }

        func run(_ duration: Duration, sendingMedia: Bool = true) {
            let end = now + duration
            var nextMedia = now + .milliseconds(20)
            while true {
                let next = (stations.map(\.nextDeadline) + onTheWay.map(\.due) + [nextMedia]).compactMap(\.self).min()!
                guard next <= end else { break }
                now = max(now, next)
                if nextMedia <= now {
                    nextMedia = now + .milliseconds(20)
                    for index in sending where sendingMedia && !isCut { media(of: index) }
                }
                let arriving = onTheWay.filter { $0.due <= now }
                onTheWay.removeAll { $0.due <= now }
                for (_, to, message) in arriving {
                    stations[to].receive(message, from: SSRC(UInt32(2 - to)), at: now)
                }
                for index in stations.indices { stations[index].timeElapsed(at: now) }
                flush()
                #expect(sending.count <= 1 || isCut, "two talk at \(now)")
            }
            now = end
        }

        private func flush() {
            for index in stations.indices {
                while let message = stations[index].nextMessage() {
                    if !isCut { onTheWay.append((now + delay, 1 - index, message)) }
                }
                while let event = stations[index].nextEvent() { events[index].append(event) }
            }
        }
    }

    @Test(arguments: [
        (CallFloor.Role.answered, CallFloor.Role.called), (.called, .answered), (.bothCalled, .bothCalled),
    ])
    func twoTakeTurns(first: CallFloor.Role, second: CallFloor.Role) {
        let call = Call(first, second)
        call.run(.seconds(1))
        #expect(call.stations.map(\.arbitrates) == (first == .called ? [false, true] : [true, false]))
        call.act(0) { $0.press(at: $1) }
        call.run(.milliseconds(45))
        #expect(call.sending == [0])
        call.act(1) { $0.press(at: $1) }
        call.run(.milliseconds(45))
        #expect(call.events[1].last == .denied(.anotherTalks, talker: SSRC(1), retryAfter: .zero))
        call.run(.seconds(10))
        #expect(call.sending == [0])
        call.act(1) { $0.press(waits: true, at: $1) }
        call.run(.milliseconds(100))
        call.act(0) { $0.release(at: $1) }
        call.run(.milliseconds(100))
        #expect(call.sending == [1])
        call.act(0) { $0.press(.emergency, at: $1) }
        call.run(.milliseconds(100))
        #expect(call.sending == [0])
    }

    @Test func aPlainPartnerCountsAsTalkingWhileItIsHeard() {
        for ssrc in [SSRC(1), SSRC(9)] {
            var now = Instant.start
            var station = CallFloor(ssrc: SSRC(5), as: .bothCalled, at: now)
            station.heardMedia(of: ssrc, at: now)
            while let next = station.nextDeadline, next <= .start + .seconds(3) {
                now = next
                station.timeElapsed(at: now)
            }
            now = .start + .seconds(3)
            station.heardMedia(of: ssrc, at: now)
            station.press(at: now + .milliseconds(100))
            #expect(!station.participant.maySend, "\(ssrc)")
            station.release(at: now + .milliseconds(100))
            now = now + .milliseconds(700)
            station.timeElapsed(at: now)
            station.press(at: now)
            #expect(station.participant.maySend, "\(ssrc)")
        }
    }

    /// A station of plain RTP is silent until somebody talks to it. It answers, and leaves, while this station talks.
    @Test(arguments: [CallFloor.Role.called, .bothCalled, .answered], [SSRC(1), SSRC(9)])
    func aPlainPartnerThatComesAndGoesInterruptsNobody(role: CallFloor.Role, ssrc: SSRC) {
        var station = CallFloor(ssrc: SSRC(5), as: role, at: .start)
        var events: [FloorEvent] = []
        var isSending = true
        func pass(until end: Instant) {
            while let next = station.nextDeadline, next <= end {
                station.timeElapsed(at: next)
                while station.nextMessage() != nil {}
                while let event = station.nextEvent() { events.append(event) }
                isSending = isSending && (station.participant.maySend || next <= .start + .seconds(2))
            }
        }
        pass(until: .start + .seconds(2))
        station.press(at: .start + .seconds(2))
        #expect(station.participant.maySend)
        for (second, ssrc) in [(3, ssrc), (6, SSRC(ssrc.rawValue + 1))] {
            let now = Instant.start + .seconds(second)
            pass(until: now)
            station.heardMedia(of: ssrc, at: now)
            isSending = isSending && station.participant.maySend
            pass(until: now + .milliseconds(2_500))
            station.left(ssrc, at: now + .milliseconds(2_500))
            isSending = isSending && station.participant.maySend
        }
        pass(until: .start + .seconds(12))
        #expect(isSending)
        #expect(!events.contains(.interrupted), "\(events)")
        #expect(events.count { if case .granted = $0 { true } else { false } } == 1, "\(events)")
    }

    @Test func aPlainPartnerIsNamedAsTheOneWhoTalks() {
        var station = CallFloor(ssrc: SSRC(5), as: .called, at: .start)
        station.heardMedia(of: SSRC(9), at: .start)
        let now = Instant.start + .seconds(2)
        station.timeElapsed(at: now)
        station.heardMedia(of: SSRC(9), at: now)
        station.press(at: now)
        expect(station.nextEvent(), .unaware)
        expect(station.nextEvent(), .denied(.anotherTalks, talker: SSRC(9), retryAfter: .zero))
    }

    @Test func aPartnerThatArbitratesIsAskedByOneWhoTalksAlone() {
        var station = CallFloor(ssrc: SSRC(5), as: .called, at: .start)
        let now = Instant.start + .seconds(2)
        station.timeElapsed(at: now)
        station.press(at: now)
        station.heardMedia(of: SSRC(9), at: now)
        #expect(station.participant.maySend)
        while station.nextMessage() != nil {}
        station.receive(.idle(answering: 0, FloorRevision(term: 1, state: 0), []), from: SSRC(9), at: now)
        #expect(!station.participant.maySend)
        expect(station.nextMessage(), .request(number: 1, SSRC(5), .normal, waits: false, sends: false))
    }

    @Test func aStationAloneMayTalkAfterTwoSeconds() {
        var station = CallFloor(ssrc: SSRC(5), as: .bothCalled, at: .start)
        let now = Instant.start + .seconds(2)
        station.timeElapsed(at: now)
        station.press(at: now)
        #expect(station.participant.maySend)
        expect(station.nextEvent(), .granted(.normal, until: nil))
    }

    @Test func whoIsCutOffStopsWithinHalfASecondAndGoesOnAfterwards() {
        let call = Call(.answered, .called)
        call.run(.seconds(1))
        call.act(1) { $0.press(at: $1) }
        call.run(.seconds(1))
        #expect(call.sending == [1])
        call.isCut = true
        call.run(.milliseconds(560))
        #expect(call.sending == [])
        #expect(call.events[1].last == .interrupted)
        call.isCut = false
        call.run(.milliseconds(300))
        #expect(call.sending == [1])
    }

    @Test func strangersAndForgersChangeNothing() {
        var station = CallFloor(ssrc: SSRC(5), as: .called, at: .start)
        station.heardMedia(of: SSRC(1), at: .start)
        station.press(at: .start)
        let granted = FloorMessage.granted(
            number: station.participant.number, SSRC(5), .normal, FloorRevision(term: 1, state: 1), time: 0,
            mustAnswer: false)
        station.receive(granted, from: SSRC(7), at: .start)
        #expect(!station.participant.maySend)
        station.receive(granted, from: SSRC(1), at: .start)
        #expect(station.participant.maySend)
    }

    /// The partner is silent, and a third station without floor control sends media.
    @Test func aThirdStationDoesNotTakeThePartnersPlace() {
        let call = Call(.bothCalled, .bothCalled)
        call.run(.seconds(1))
        for _ in 0..<250 {
            call.act(0) { $0.heardMedia(of: SSRC(9), at: $1) }
            call.run(.milliseconds(20))
        }
        call.act(1) { $0.press(at: $1) }
        call.run(.seconds(1))
        #expect(call.sending == [1])
    }

    @Test func aPartnerThatStartsAnewIsMet() {
        var station = CallFloor(ssrc: SSRC(5), as: .answered, at: .start)
        station.receive(.request(number: 1, SSRC(1), .normal, waits: false, sends: false), from: SSRC(1), at: .start)
        var messages: [FloorMessage] = []
        while let message = station.nextMessage() { messages.append(message) }
        #expect(messages.contains { if case .granted = $0 { true } else { false } })
        let later = Instant.start + .seconds(2)
        station.receive(.request(number: 1, SSRC(2), .normal, waits: false, sends: false), from: SSRC(2), at: later)
        messages = []
        while let message = station.nextMessage() { messages.append(message) }
        #expect(messages.contains { if case .granted(1, SSRC(2), _, _, _, _) = $0 { true } else { false } })
    }
}
