import TenfourAudioCore
import TenfourPushToTalk
import TenfourSeededRandom
import Testing

struct InputEventTests {
    private let down = InputEvent(time: .start, type: 1, code: 183, value: 1)
    private let up = InputEvent(time: .start, type: 1, code: 183, value: 0)
    private let dropped = InputEvent(time: .start, type: 0, code: 3, value: 0)
    private let report = InputEvent(time: .start, type: 0, code: 0, value: 0)

    private func events(_ bytes: [UInt8], pieces: Int, _ layout: InputEventParser.Layout) -> [InputEvent] {
        var parser = InputEventParser(layout)
        var events: [InputEvent] = []
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            parser.parse(bytes[start..<min(start + pieces, bytes.count)].span) { events.append($0) }
        }
        return events
    }

    /// A recording of KEY_F13 on a 64-bit machine: down at 16 s 5 µs, a report, a repetition.
    @Test func eventsAreFoundHoweverTheirBytesAreCut() {
        var bytes: [UInt8] = [16, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 183, 0, 1, 0, 0, 0]
        bytes += [16, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        bytes += [17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 183, 0, 2, 0, 0, 0]
        let first = Instant(nanoseconds: 16_000_005_000)
        let expected = [
            InputEvent(time: first, type: 1, code: 183, value: 1), InputEvent(time: first, type: 0, code: 0, value: 0),
            InputEvent(time: Instant(nanoseconds: 17_000_000_000), type: 1, code: 183, value: 2),
        ]
        for pieces in 1...80 { #expect(events(bytes, pieces: pieces, .bits64) == expected) }
    }

    @Test func aMachineOf32BitsHasShorterEvents() {
        let bytes: [UInt8] = [16, 0, 0, 0, 5, 0, 0, 0, 1, 0, 30, 1, 0xFF, 0xFF, 0xFF, 0xFF]
        let event = InputEvent(time: Instant(nanoseconds: 16_000_005_000), type: 1, code: 286, value: -1)
        #expect(events(bytes + bytes, pieces: 5, .bits32) == [event, event])
        #expect(
            InputEventParser.Layout.bits32.eventByteCount == 16 && InputEventParser.Layout.bits64.eventByteCount == 24)
    }

    @Test func anImpossibleTimeIsReplacedByThePresent() {
        let now = Instant(nanoseconds: 100_000_000_000)
        #expect(Instant.plausible(now - .milliseconds(3), now: now) == now - .milliseconds(3))
        #expect(Instant.plausible(now, now: now) == now)
        for time in [now + .nanoseconds(1), now - .seconds(10), Instant(nanoseconds: .min), Instant(nanoseconds: .max)]
        {
            #expect(Instant.plausible(time, now: now) == now)
        }
        #expect(Instant.plausible(.start, now: .start) == .start)
    }

    @Test func aKeyIsPressedRepeatedAndReleased() {
        var contact = KeyContact(code: 183)
        #expect(contact.receive(down) == .pressed)
        #expect(contact.receive(report) == .unchanged)
        #expect(contact.receive(InputEvent(time: .start, type: 1, code: 183, value: 2)) == .unchanged)
        #expect(contact.receive(InputEvent(time: .start, type: 1, code: 30, value: 0)) == .unchanged)
        #expect(contact.receive(InputEvent(time: .start, type: 4, code: 183, value: 0)) == .unchanged)
        #expect(contact.isPressed)
        #expect(contact.receive(up) == .released)
        #expect(!contact.isPressed)
    }

    @Test func afterDroppedEventsTheStateIsReadAnew() {
        var contact = KeyContact(code: 183)
        #expect(contact.receive(down) == .pressed)
        #expect(contact.receive(dropped) == .mustBeRead)
        #expect(contact.set(false) == .released)
        // Up to the next report, the events are parts of what was dropped.
        #expect(contact.receive(down) == .unchanged)
        #expect(contact.receive(up) == .unchanged)
        #expect(contact.receive(report) == .mustBeRead)
        #expect(contact.set(true) == .pressed)
        #expect(contact.set(true) == .unchanged)
        #expect(contact.receive(report) == .unchanged)
        #expect(contact.receive(up) == .released)
    }

    @Test func changesTakeTurnsWhateverTheEvents() {
        var randomness = SeededRandom(seed: 1)
        var contact = KeyContact(code: 183)
        var isPressed = false
        for _ in 0..<20_000 {
            var result = contact.receive([down, up, dropped, report][Int(randomness.next() % 4)])
            if result == .mustBeRead { result = contact.set(randomness.happens(0.5)) }
            #expect(result != (isPressed ? .pressed : .released))
            if result != .unchanged { isPressed.toggle() }
            #expect(contact.isPressed == isPressed)
        }
    }
}
