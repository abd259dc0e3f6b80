import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom

@testable import TenfourFloor

/// Stations around one arbiter, with an emulated link each way, on a clock that only the test moves. It checks after
/// every step what must always hold, and collects what does not.
final class SimulatedFloor {
    struct Station {
        var participant: FloorParticipant
        var uplink, downlink: EmulatedLink
        /// Nothing passes in either direction any more.
        var cutAt: Instant?
        /// The station has ended without a word.
        var isDead = false
        /// The interval of its packets; nil if it sends none while it talks (silence suppression).
        var packetInterval: Duration?
        var isSending = false
        var pressedAt: Instant?
        /// The time from the key to the first permission.
        var grantedAfter: Duration?
        /// The time at which the arbiter gave the floor to another, or to nobody.
        var lostFloorAt: Instant?
        var events: [FloorEvent] = []
        var deadline: Instant?
    }

    private enum Step {
        case press(FloorPriority, waits: Bool)
        case release
        case packetTimer
        case packetArrives
        case messageArrives(FloorMessage)
        case answerArrives(FloorMessage)
        case timer
    }

    private struct Due: Comparable {
        var at: Instant
        var order: UInt64
        var station: Int
        var step: Step

        static func == (left: Self, right: Self) -> Bool { left.order == right.order }

        static func < (left: Self, right: Self) -> Bool {
            left.at.nanoseconds < right.at.nanoseconds || left.at == right.at && left.order < right.order
        }
    }

    private(set) var now = Instant.start
    private(set) var arbiter: FloorArbiter
    var stations: [Station] = []
    /// The longest round trip that a message and its answer can take.
    let longestRoundTrip: Duration
    private(set) var violations: [String] = []
    /// The time for which the arbiter had given the floor to somebody.
    private(set) var talkTime = Duration.zero
    private var changedAt = Instant.start
    private var grants: [FloorRevision: SSRC] = [:]
    private var heap = Heap<Due>()
    private var order: UInt64 = 0
    private var arbiterDeadline: Instant?

    /// `network` is that of each direction. `longestDelay` is the longest time that it delays a packet.
    init(
        _ count: Int, network: NetworkModel, longestDelay: Duration, packetInterval: Duration?,
        _ configuration: FloorArbiter.Configuration, seed: UInt64
    ) {
        longestRoundTrip = longestDelay * 2
        arbiter = FloorArbiter(configuration)
        for number in 0..<count {
            let links = (0..<2).map {
                EmulatedLink(network, seed: seed &* 1_000 &+ UInt64(number * 2 + $0), beginning: .start)
            }
            stations.append(
                Station(
                    participant: FloorParticipant(ssrc: SSRC(UInt32(number + 1))), uplink: links[0],
                    downlink: links[1], packetInterval: packetInterval))
            arbiter.join(Self.id(number), at: now)
            stations[number].participant.begin(at: now)
        }
        settleArbiter(before: nil, queue: [])
        for number in stations.indices { settle(number) }
    }

    static func id(_ number: Int) -> FloorMemberID { FloorMemberID(UInt64(number)) }

    /// The station to which the arbiter has given the floor.
    var talker: Int? { arbiter.talker.map { Int($0.member.rawValue) } }

    func press(_ number: Int, _ priority: FloorPriority = .normal, waits: Bool = false, after delay: Duration = .zero) {
        schedule(number, .press(priority, waits: waits), at: now + delay)
    }

    func release(_ number: Int, after delay: Duration = .zero) { schedule(number, .release, at: now + delay) }

    /// Cuts a station off. If `dies` is true, it also stops doing anything.
    func cut(_ number: Int, dies: Bool) {
        stations[number].cutAt = now
        stations[number].isDead = dies
    }

    func run(for duration: Duration) {
        let end = now + duration
        var stepCount = 0
        while let next = nextMoment, next <= end {
            stepCount = next > now ? 0 : stepCount + 1
            precondition(stepCount < 100_000, "time stands still")
            now = max(now, next)
            if let due = heap.first, due.at <= now {
                perform(heap.removeFirst())
            } else {
                onArbiter { $0.timeElapsed(at: now) }
            }
        }
        now = end
    }

    private var nextMoment: Instant? {
        guard let due = heap.first?.at else { return arbiterDeadline }
        guard let arbiterDeadline else { return due }
        return min(due, arbiterDeadline)
    }

    private func perform(_ due: Due) {
        let number = due.station
        switch due.step {
        case .press(let priority, let waits):
            stations[number].pressedAt = now
            stations[number].grantedAfter = nil
            onStation(number) { $0.press(priority, waits: waits, at: now) }
        case .release: onStation(number) { $0.release(at: now) }
        case .packetTimer:
            guard !stations[number].isDead, stations[number].participant.maySend,
                let interval = stations[number].packetInterval
            else {
                stations[number].isSending = false
                return
            }
            send(.packetArrives, from: number, byteCount: 100)
            schedule(number, .packetTimer, at: now + interval)
        case .packetArrives:
            onArbiter { _ = $0.heardMedia(of: SSRC(UInt32(number + 1)), from: Self.id(number), at: now) }
        case .messageArrives(let message): onArbiter { $0.receive(message, from: Self.id(number), at: now) }
        case .answerArrives(let message): onStation(number) { $0.receive(message, at: now) }
        case .timer:
            guard stations[number].deadline == due.at else { return }
            stations[number].deadline = nil
            onStation(number) { $0.timeElapsed(at: now) }
        }
    }

    private func schedule(_ number: Int, _ step: Step, at moment: Instant) {
        order += 1
        heap.insert(Due(at: moment, order: order, station: number, step: step))
    }

    private func send(_ step: Step, from number: Int, byteCount: Int = 60) {
        guard stations[number].cutAt == nil else { return }
        schedule(number, step, fate: stations[number].uplink.fate(ofPacket: byteCount, at: now))
    }

    private func answer(_ message: FloorMessage, to number: Int) {
        guard stations[number].cutAt == nil else { return }
        schedule(number, .answerArrives(message), fate: stations[number].downlink.fate(ofPacket: 60, at: now))
    }

    private func schedule(_ number: Int, _ step: Step, fate: Fate) {
        switch fate {
        case .lost: break
        case .delivered(let moment): schedule(number, step, at: moment)
        case .doubled(let first, let second):
            schedule(number, step, at: first)
            schedule(number, step, at: second)
        }
    }
}

// MARK: - What must always hold

extension SimulatedFloor {
    private func onStation(_ number: Int, _ input: (inout FloorParticipant) -> Void) {
        guard !stations[number].isDead else { return }
        checkSending(number)
        input(&stations[number].participant)
        settle(number)
    }

    private func settle(_ number: Int) {
        while let message = stations[number].participant.nextMessage() { send(.messageArrives(message), from: number) }
        while let event = stations[number].participant.nextEvent() {
            if case .granted = event, stations[number].grantedAfter == nil, let pressed = stations[number].pressedAt {
                stations[number].grantedAfter = now - pressed
            }
            stations[number].events.append(event)
        }
        if stations[number].participant.maySend, !stations[number].isSending,
            stations[number].packetInterval != nil
        {
            stations[number].isSending = true
            schedule(number, .packetTimer, at: now)
        }
        let deadline = stations[number].participant.nextDeadline.map { max($0, now) }
        guard deadline != stations[number].deadline else { return }
        stations[number].deadline = deadline
        if let deadline { schedule(number, .timer, at: deadline) }
    }

    /// A station without the floor, and one that is cut off, sends for at most a round trip and 500 ms.
    private func checkSending(_ number: Int) {
        guard stations[number].participant.maySend else { return }
        let most = longestRoundTrip + .milliseconds(500)
        if talker != number, let lost = stations[number].lostFloorAt, now - lost > most {
            violations.append("station \(number) sends \(now - lost) after its floor was taken")
        }
        if let cut = stations[number].cutAt, now - cut > most {
            violations.append("station \(number) sends \(now - cut) after it was cut off")
        }
    }

    private func onArbiter(_ input: (inout FloorArbiter) -> Void) {
        let (before, queue) = (arbiter.talker, arbiter.queue.entries)
        input(&arbiter)
        settleArbiter(before: before, queue: queue)
    }

    private func settleArbiter(before: FloorArbiter.Talker?, queue: [FloorQueue.Entry]) {
        checkChange(from: before, queue: queue)
        while let (destination, message) = arbiter.nextMessage() {
            if case .granted(_, let ssrc, _, let revision, _, _) = message {
                if grants.updateValue(ssrc, forKey: revision).map({ $0 != ssrc }) ?? false {
                    violations.append("two grants: \(revision)")
                }
                if arbiter.talker?.ssrc != ssrc { violations.append("a grant to another than the talker") }
            }
            switch destination {
            case .member(let id): answer(message, to: Int(id.rawValue))
            case .everyone: for number in stations.indices { answer(message, to: number) }
            }
        }
        let sorted = arbiter.queue.entries.map(\.priority)
        if zip(sorted, sorted.dropFirst()).contains(where: <) {
            violations.append("an emergency waits behind a normal request")
        }
        arbiterDeadline = arbiter.nextDeadline
        if arbiter.queueCount > 16 { violations.append("\(arbiter.queueCount) requests wait") }
    }

    /// A station that gets the floor is the first of the queue, finds it idle, or has an emergency.
    private func checkChange(from before: FloorArbiter.Talker?, queue: [FloorQueue.Entry]) {
        guard before?.member != arbiter.talker?.member || before?.number != arbiter.talker?.number else { return }
        if before != nil {
            talkTime += now - changedAt
            if let longest = arbiter.configuration.longestTalk, now - changedAt > longest {
                violations.append("one talks for \(now - changedAt)")
            }
        }
        changedAt = now
        if let before { stations[Int(before.member.rawValue)].lostFloorAt = now }
        guard let after = arbiter.talker else {
            if !arbiter.queue.entries.isEmpty { violations.append("the floor is idle while others wait") }
            return
        }
        stations[Int(after.member.rawValue)].lostFloorAt = nil
        let isEmergency = before.map { after.priority > $0.priority } ?? false
        if let first = queue.first, first.member != after.member, !isEmergency {
            violations.append("\(after.member) overtakes \(first.member)")
        }
    }
}

/// A binary heap: the first element is the least.
struct Heap<Element: Comparable> {
    private var elements: [Element] = []

    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0, elements[child] < elements[(child - 1) / 2] {
            elements.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes the least element. There must be one.
    mutating func removeFirst() -> Element {
        elements.swapAt(0, elements.count - 1)
        let least = elements.removeLast()
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < elements.count else { return least }
            if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
            guard elements[child] < elements[parent] else { return least }
            elements.swapAt(child, parent)
            parent = child
        }
    }
}
