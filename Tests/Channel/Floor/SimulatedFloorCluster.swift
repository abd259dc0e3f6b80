import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import Testing

@testable import TenfourFloor

/// Relays of a cluster that share a channel, each with members beside it, on a clock that only the test moves. Relays
/// lose messages to each other; between a relay and its members nothing is lost. Member `m` of relay `r` is station 100 r
/// + m, and has that SSRC.
final class SimulatedFloorCluster {
    private struct Due: Comparable {
        var at: Instant
        var order: UInt64
        var from, to: Int
        var bytes: [UInt8]

        static func == (left: Self, right: Self) -> Bool { left.order == right.order }
        static func < (left: Self, right: Self) -> Bool { (left.at, left.order) < (right.at, right.order) }
    }

    private static let channel: UInt64 = 0x1122_3344_5566_7788

    private(set) var now = Instant.start
    private(set) var floors: [Int: ChannelFloor] = [:]
    private(set) var participants: [UInt32: FloorParticipant] = [:]
    private(set) var events: [UInt32: [FloorEvent]] = [:]
    /// The relays on one side of a partition; empty if there is none.
    private var isolated: Set<Int> = []
    private var presence: [(at: Instant, isolated: Set<Int>)] = []
    private var known: Set<Int> = []
    private var links: [[Int]: EmulatedLink] = [:]
    private var heap = Heap<Due>()
    private var order: UInt64 = 0
    /// The grants of each relay by term and state: two grants of one decision would be two talkers.
    private var grants: [Int: [FloorRevision: SSRC]] = [:]
    private(set) var twiceGranted = 0

    init(_ relays: Int, members: UInt32, loss: Double = 0, seed: UInt64) {
        let network = NetworkModel(
            loss: .random(loss), delay: .milliseconds(10), jitter: .uniform(.zero ... .milliseconds(10)))
        for relay in 1...relays {
            floors[relay] = ChannelFloor(.init(isRequired: true), relay: UInt128(relay), channel: Self.channel)
            for other in 1...relays {
                links[[relay, other]] = EmulatedLink(
                    network, seed: seed &* 100 &+ UInt64(relay * 10 + other), beginning: .start)
            }
            for member in 1...members {
                floors[relay]!.join(member, mayTalk: true, at: now)
                let station = Self.station(relay, member)
                participants[station] = FloorParticipant(ssrc: SSRC(station))
                participants[station]!.begin(at: now)
            }
        }
        updatePresence()
        settle()
    }

    static func station(_ relay: Int, _ member: UInt32) -> UInt32 { UInt32(relay) * 100 + member }

    /// The stations that may send.
    var sending: [UInt32] { participants.keys.filter { participants[$0]!.maySend }.sorted() }
    /// The relays that arbitrate.
    var leaders: [Int] { floors.keys.filter { floors[$0]!.arbiter.isActive }.sorted() }
    /// The term of each relay that arbitrates.
    var terms: [UInt32] { leaders.map { floors[$0]!.arbiter.revision.term } }

    subscript(_ station: UInt32) -> FloorParticipant { participants[station]! }

    func takeEvents(_ station: UInt32) -> [FloorEvent] { events.removeValue(forKey: station) ?? [] }

    func press(_ station: UInt32, waits: Bool = false) {
        participants[station]!.press(waits: waits, at: now)
        settle()
    }

    func release(_ station: UInt32) {
        participants[station]!.release(at: now)
        settle()
    }

    func join(_ relay: Int, _ member: UInt32) {
        let station = Self.station(relay, member)
        participants[station] = FloorParticipant(ssrc: SSRC(station))
        participants[station]!.begin(at: now)
        floors[relay]!.join(member, mayTalk: true, at: now)
        updatePresence()
        settle()
    }

    /// Removes all members of a relay.
    func empty(_ relay: Int) {
        for station in participants.keys where Int(station) / 100 == relay {
            participants[station] = nil
            floors[relay]!.leave(station % 100, at: now)
        }
        updatePresence()
        settle()
    }

    /// Ends a relay without a word. Its members are gone too.
    func kill(_ relay: Int) {
        floors[relay] = nil
        for station in participants.keys where Int(station) / 100 == relay { participants[station] = nil }
        presence.append((now + .milliseconds(1500), isolated))
    }

    /// Parts some relays from the others, or heals the cluster. The relays notice a partition after 1.5 s, and its end
    /// after 0.5 s.
    func part(_ relays: Set<Int>) {
        let isHealing = relays.isEmpty
        isolated = relays
        presence.append((now + .milliseconds(isHealing ? 500 : 1500), relays))
    }

    func run(for duration: Duration) {
        let end = now + duration
        while let next = nextMoment, next <= end {
            now = max(now, next)
            while let change = presence.first, change.at <= now {
                presence.removeFirst()
                known = change.isolated
                updatePresence()
            }
            while let due = heap.first, due.at <= now { deliver(heap.removeFirst()) }
            for relay in floors.keys.sorted() { floors[relay]!.timeElapsed(at: now) }
            for station in participants.keys.sorted() { participants[station]!.timeElapsed(at: now) }
            settle()
        }
        now = end
    }

    private var nextMoment: Instant? {
        var moments = floors.values.compactMap(\.nextDeadline) + participants.values.compactMap(\.nextDeadline)
        if let due = heap.first?.at { moments.append(due) }
        if let change = presence.first?.at { moments.append(change) }
        return moments.min()
    }

    private func isParted(_ left: Int, _ right: Int, by side: Set<Int>) -> Bool {
        side.contains(left) != side.contains(right)
    }

    private func updatePresence() {
        for relay in floors.keys.sorted() {
            let others = floors.keys.filter {
                $0 != relay && !floors[$0]!.members.isEmpty && !isParted($0, relay, by: known)
            }
            floors[relay]!.update(
                hasMembers: !floors[relay]!.members.isEmpty, others: Set(others.map { UInt128($0) }), at: now)
        }
    }

    private func deliver(_ due: Due) {
        guard floors[due.to] != nil, !isParted(due.from, due.to, by: isolated),
            let message = try? FloorRelayMessage(parsing: due.bytes.span)
        else { return }
        floors[due.to]!.receive(message, from: UInt128(due.from), at: now)
    }

    private func settle() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for station in participants.keys.sorted() {
                while let message = participants[station]!.nextMessage() {
                    isQuiet = false
                    floors[Int(station) / 100]!.receive(message, from: station % 100, ownsSSRC: true, at: now)
                }
                while let event = participants[station]!.nextEvent() { events[station, default: []].append(event) }
            }
            for relay in floors.keys.sorted() {
                while let output = floors[relay]!.nextOutput() {
                    isQuiet = false
                    perform(output, of: relay)
                }
            }
        }
    }

    private func perform(_ output: ChannelFloor.Output, of relay: Int) {
        switch output {
        case .toMember(let member, let message):
            if floors[relay]!.arbiter.isActive { check(message, of: relay) }
            participants[Self.station(relay, member)]?.receive(message, at: now)
        case .toAllMembers(let message):
            for station in participants.keys.sorted() where Int(station) / 100 == relay {
                participants[station]!.receive(message, at: now)
            }
        case .toRelay(let other, let message):
            if case .toMember(_, let inner) = message.content { check(inner, of: relay) }
            send(message, from: relay, to: Int(other))
        case .toAllRelays(let message):
            for other in floors.keys.sorted() where other != relay { send(message, from: relay, to: other) }
        }
    }

    private func check(_ message: FloorMessage, of relay: Int) {
        guard case .granted(_, let ssrc, _, let revision, _, _) = message else { return }
        let earlier = grants[relay, default: [:]].updateValue(ssrc, forKey: revision)
        if let earlier, earlier != ssrc { twiceGranted += 1 }
    }

    private func send(_ message: FloorRelayMessage, from relay: Int, to other: Int) {
        let bytes = [UInt8](capacity: FloorRelayMessage.maximumByteCount) { message.write(into: &$0) }
        guard case .delivered(let moment) = links[[relay, other]]!.fate(ofPacket: bytes.count, at: now) else { return }
        order += 1
        heap.insert(Due(at: moment, order: order, from: relay, to: other, bytes: bytes))
    }
}
