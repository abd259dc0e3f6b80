import TenfourAudioCore
import TenfourPackets
import Testing

@testable import TenfourFloor

/// Participants and an arbiter without a network between them: messages arrive at once, in order. Member `n` has the
/// SSRC `n`.
final class Talk {
    var now = Instant.start
    var arbiter: FloorArbiter
    private(set) var participants: [UInt32: FloorParticipant] = [:]
    /// The members whose messages are dropped in both directions.
    var deaf: Set<UInt32> = []
    private(set) var events: [UInt32: [FloorEvent]] = [:]

    /// `members` are those that talk; `listeners` may only listen.
    init(
        _ members: ClosedRange<UInt32>, listeners: [UInt32] = [], _ configuration: FloorArbiter.Configuration = .init()
    ) {
        arbiter = FloorArbiter(configuration)
        for number in Array(members) + listeners {
            participants[number] = FloorParticipant(ssrc: SSRC(number))
            arbiter.join(FloorMemberID(UInt64(number)), mayTalk: !listeners.contains(number), at: now)
            participants[number]!.begin(at: now)
        }
        settle()
        events = [:]
    }

    subscript(_ number: UInt32) -> FloorParticipant { participants[number]! }

    /// The member that has the floor.
    var talker: UInt32? { arbiter.talker.map { UInt32($0.member.rawValue) } }

    /// The members that may send.
    var sending: [UInt32] { participants.keys.filter { participants[$0]!.maySend }.sorted() }

    func press(_ number: UInt32, _ priority: FloorPriority = .normal, waits: Bool = false) {
        participants[number]!.press(priority, waits: waits, at: now)
        settle()
    }

    func release(_ number: UInt32) {
        participants[number]!.release(at: now)
        settle()
    }

    /// Sends a message to the arbiter as if the member had sent it.
    func inject(_ message: FloorMessage, from number: UInt32, ownsSSRC: Bool = true) {
        arbiter.receive(message, from: FloorMemberID(UInt64(number)), ownsSSRC: ownsSSRC, at: now)
        settle()
    }

    func leave(_ number: UInt32) {
        participants[number] = nil
        arbiter.leave(FloorMemberID(UInt64(number)), at: now)
        settle()
    }

    /// A member joins that knows no floor control.
    func joinUnaware(_ number: UInt32) {
        arbiter.join(FloorMemberID(UInt64(number)), at: now)
        settle()
    }

    /// A packet of the member arrives. Returns whether it may be forwarded.
    func media(_ number: UInt32) -> Bool {
        let passes = arbiter.heardMedia(of: SSRC(number), from: FloorMemberID(UInt64(number)), at: now)
        settle()
        return passes
    }

    /// Takes the events of a member since the last time.
    func takeEvents(_ number: UInt32) -> [FloorEvent] { events.removeValue(forKey: number) ?? [] }

    /// Lets time pass.
    func pass(_ duration: Duration) {
        let end = now + duration
        while let next = nextDeadline, next <= end {
            now = max(now, next)
            arbiter.timeElapsed(at: now)
            for number in participants.keys.sorted() { participants[number]!.timeElapsed(at: now) }
            settle()
        }
        now = end
    }

    private var nextDeadline: Instant? {
        (participants.values.map(\.nextDeadline) + [arbiter.nextDeadline]).compactMap(\.self).min()
    }

    private func settle() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for number in participants.keys.sorted() {
                while let message = participants[number]!.nextMessage() {
                    isQuiet = false
                    if deaf.contains(number) { continue }
                    arbiter.receive(message, from: FloorMemberID(UInt64(number)), at: now)
                }
            }
            while let (destination, message) = arbiter.nextMessage() {
                isQuiet = false
                for number in participants.keys.sorted() where !deaf.contains(number) {
                    if case .member(let id) = destination, id.rawValue != UInt64(number) { continue }
                    participants[number]!.receive(message, at: now)
                }
            }
        }
        for number in participants.keys.sorted() {
            while let event = participants[number]!.nextEvent() { events[number, default: []].append(event) }
        }
    }
}

/// Expects that the next message or event of a participant is this one.
func expect<Value: Equatable>(_ value: Value?, _ expected: Value?, at location: SourceLocation = #_sourceLocation) {
    #expect(value == expected, sourceLocation: location)
}
