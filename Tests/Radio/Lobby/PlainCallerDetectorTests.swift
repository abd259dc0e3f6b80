import TenfourAudioCore
import TenfourPackets
import TenfourSession
import Testing

@testable import TenfourLobby

private let packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xFC]

final class PlainCallerDetectorTests {
    private let alice = Endpoint(.v4(0xC000_0201), port: 5004)
    private let bob = Endpoint(.v4(0xC000_0202), port: 5004)
    private var detector = PlainCallerDetector()

    private func report(_ name: String?, goodbye: Bool = false) -> [UInt8] {
        let reception = ReceiverReport(ssrc: SSRC(1), blocks: [])
        let description = SourceDescription(ssrc: SSRC(1), canonicalName: "x", name: name)
        return [UInt8](capacity: 400) {
            reception.write(into: &$0)
            description.write(into: &$0)
            if goodbye { Goodbye(sources: [SSRC(1)]).write(into: &$0) }
        }
    }

    private func events() -> [PlainCallerDetector.Event] {
        var events: [PlainCallerDetector.Event] = []
        while let event = detector.nextEvent() { events.append(event) }
        return events
    }

    @Test func aReportWithANameIsACaller() {
        detector.receive(report("Al\u{1B}[2Jice").span, from: alice, at: .start)
        let seen = events()
        guard case .appeared(alice, let name) = seen.first else {
            Issue.record("\(seen)")
            return
        }
        #expect(name.hasPrefix("Al") && !name.contains("\u{1B}"))
        detector.receive(report("Bob").span, from: bob, at: .start + .seconds(1))
        #expect(events().isEmpty, "one at a time")
        let taken = detector.take()
        #expect(taken?.endpoint == alice)
        let again = detector.take()
        #expect(again == nil)
    }

    @Test func audioIsACallerUntilItFallsSilent() {
        for second in 0..<40 {
            let now = Instant.start + .seconds(second)
            detector.receive(packet.span, from: alice, at: now)
            #expect(events() == (second == 1 ? [.appeared(alice, name: "")] : []), "there is a moment for the name")
        }
        let end = Instant.start + .seconds(39) + PlainCallerDetector.silence
        #expect(detector.nextDeadline == end)
        detector.timeElapsed(at: end)
        #expect(events() == [.left(alice, name: "")])
        #expect(detector.nextDeadline == nil)
    }

    @Test func aNameThatComesAfterTheFirstPacketIsTold() {
        detector.receive(packet.span, from: alice, at: .start)
        #expect(detector.nextDeadline == .start + PlainCallerDetector.nameTime)
        detector.receive(report("Alice").span, from: alice, at: .start + .milliseconds(100))
        #expect(events() == [.appeared(alice, name: "Alice")])
        detector.receive(report("Mallory").span, from: alice, at: .start + .milliseconds(200))
        detector.timeElapsed(at: .start + .seconds(1))
        #expect(events().isEmpty)
    }

    @Test func aGoodbyeEndsIt() {
        detector.receive(report("Alice").span, from: alice, at: .start)
        detector.receive(report("Mallory", goodbye: true).span, from: bob, at: .start)
        #expect(events() == [.appeared(alice, name: "Alice")])
        detector.receive(report("Alice", goodbye: true).span, from: alice, at: .start)
        #expect(events() == [.left(alice, name: "Alice")])
    }

    @Test func oneWhoIsIgnoredStaysQuietForAMinute() {
        detector.receive(packet.span, from: alice, at: .start)
        detector.ignore(at: .start)
        for second in 0..<60 { detector.receive(packet.span, from: alice, at: .start + .seconds(second)) }
        #expect(events().isEmpty)
        detector.receive(report("Bob").span, from: bob, at: .start + .seconds(59))
        #expect(events() == [.appeared(bob, name: "Bob")])
        _ = detector.take()
        detector.receive(report("Alice").span, from: alice, at: .start + PlainCallerDetector.ignoredTime)
        #expect(events() == [.appeared(alice, name: "Alice")])
    }

    @Test func otherBytesAreNoCaller() {
        for bytes: [UInt8] in [
            [0x80, 111, 0, 1, 0, 0, 0, 0], [0x80, 200, 0, 1, 0, 0, 0, 0], [0xBF, 201, 0, 9, 1, 2, 3, 4],
        ] {
            detector.receive(bytes.span, from: alice, at: .start)
        }
        #expect(detector.nextDeadline == nil)
        for bytes: [UInt8] in [[], [0x80, 111], [UInt8](repeating: 0x72, count: 88)] {
            let mayBe = PlainCallerDetector.mayBeMedia(bytes.span)
            #expect(!mayBe)
        }
    }
}
