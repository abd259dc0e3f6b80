import Foundation
import TenfourAudioCore
import TenfourFloor
import TenfourNetworkEmulator
import TenfourSeededRandom
import Testing

/// Rounds of 2 to 50 stations that press their keys at once, over bad networks, on a simulated clock.
struct SimulationTests {
    /// The rounds that all seeds together play. Tools/test --long plays 100 000.
    private static let rounds = Int(ProcessInfo.processInfo.environment["TENFOUR_FLOOR_ROUNDS"] ?? "") ?? 2_000
    private static let seeds: [UInt64] = [1, 2, 3, 4]

    @Test(arguments: seeds) func theFloorHoldsOverEveryNetwork(seed: UInt64) {
        var randomness = SeededRandom(seed: seed)
        var figures = FloorFigures()
        for _ in 0..<(Self.rounds / Self.seeds.count) {
            var round = FloorRound(using: &randomness)
            round.play(&figures)
        }
        for violation in figures.violations.prefix(10) { Issue.record("\(violation)") }
        #expect(figures.violations.isEmpty)
        #expect(figures.lossless.latest <= .zero, "longer than 1 RTT + 20 ms without loss")
        #expect(figures.lossy.p99 <= .zero, "p99 longer than 4 RTT + 200 ms at 30 % loss")
        #expect(figures.lossless.count > 0 && figures.lossy.count > 0)
        #expect(figures.longestVanished <= .seconds(2))
        print("seed \(seed): \(figures)")
    }
}

/// What the rounds have shown.
private struct FloorFigures: CustomStringConvertible {
    /// How much later than allowed the floor was granted, negative if earlier.
    struct Lateness {
        private(set) var values: [Duration] = []

        mutating func insert(_ value: Duration) { values.append(value) }

        var count: Int { values.count }
        var latest: Duration { values.max() ?? .seconds(-1) }

        /// The lateness that 99 of 100 grants do not exceed.
        var p99: Duration { values.isEmpty ? .zero : values.sorted()[(values.count * 99 + 99) / 100 - 1] }

    }

    var lossless = Lateness()
    var lossy = Lateness()
    var violations: [String] = []
    /// The longest time until the floor of a vanished talker was idle.
    var longestVanished = Duration.zero
    var interruptionCount = 0
    var talkTime = Duration.zero

    var description: String {
        "\(lossless.count) grants without loss, at most \(lossless.latest) over the bound; \(lossy.count) at 30 % loss, "
            + "p99 \(lossy.p99), at most \(lossy.latest) over the bound; vanished \(longestVanished); "
            + "\(interruptionCount) interruptions in \(talkTime) of talk"
    }
}

/// One round: a network, stations, and what happens to the one that gets the floor.
private struct FloorRound {
    private enum End: CaseIterable { case released, vanished, unreachable, preempted, tooLong, queued }

    private let floor: SimulatedFloor
    private let end: End
    private let loss: Double
    private let roundTrip: Duration
    private let label: String
    private var randomness: SeededRandom

    init(using generator: inout SeededRandom) {
        var randomness = SeededRandom(seed: generator.next())
        let count =
            randomness.happens(0.7)
            ? Int.random(in: 2...6, using: &randomness) : Int.random(in: 7...50, using: &randomness)
        let loss = randomness.happens(0.35) ? 0 : randomness.happens(0.5) ? 0.3 : randomness.unit() * 0.3
        let longest = Int.random(in: 0...300, using: &randomness)
        let jitter = randomness.happens(0.5) ? Int.random(in: 0...longest, using: &randomness) / 2 : 0
        let heldBack = randomness.happens(0.3) ? Int.random(in: 0...(longest - jitter), using: &randomness) / 3 : 0
        let delay = longest - jitter - heldBack
        let isBursty = loss > 0 && randomness.happens(0.2)
        let network = NetworkModel(
            loss: loss == 0 ? .none : isBursty ? .bursts(share: loss, meanLength: 2) : .random(loss),
            delay: .milliseconds(delay), jitter: jitter > 0 ? .uniform(.zero ... .milliseconds(jitter)) : nil,
            reordering: heldBack > 0 ? Reordering(share: 0.1, heldBack: .milliseconds(heldBack)) : nil,
            duplication: randomness.happens(0.2) ? Duplication(share: 0.1, after: .milliseconds(delay / 2)) : nil)
        let end = End.allCases.randomElement(using: &randomness)!
        let packetInterval: Duration? = randomness.happens(0.5) ? .milliseconds(60) : nil
        let seed = randomness.next()
        self.end = end
        self.loss = loss
        floor = SimulatedFloor(
            count, network: network, longestDelay: .milliseconds(longest + (delay / 2)), packetInterval: packetInterval,
            .init(isRequired: true, longestTalk: .seconds(end == .tooLong ? 5 : 180)), seed: seed)
        self.randomness = randomness
        // Without loss the bound is that of the longest round trip; with loss, of the usual one.
        roundTrip = loss == 0 ? .milliseconds(2 * longest) : .milliseconds(2 * delay + jitter)
        label =
            "\(end), \(count) stations, loss \(loss), delay \(delay) + \(jitter) ms, held back \(heldBack), seed \(seed): "
    }

    mutating func play(_ figures: inout FloorFigures) {
        floor.run(for: .milliseconds(2_500))
        let waits = end == .queued
        for number in floor.stations.indices {
            floor.press(number, waits: waits, after: .milliseconds(Int.random(in: 0...50, using: &randomness)))
        }
        floor.run(for: .milliseconds(50) + roundTrip * 4 + .seconds(1))
        guard let first = floor.stations.indices.first(where: { floor.stations[$0].grantedAfter != nil }) else {
            return figures.violations.append(label + "nobody has had the floor after 4 RTT + 1 s")
        }
        record(floor.stations[first].grantedAfter!, &figures)
        checkAnswers(but: first, &figures)
        floor.run(for: .milliseconds(Int.random(in: 0...500, using: &randomness)))
        if floor.talker == first { finish(first, &figures) }
        comeToRest(&figures)
        playAlone(&figures)
        for station in floor.stations {
            figures.interruptionCount += station.cutAt == nil ? station.events.count { $0 == .interrupted } : 0
        }
        figures.violations += floor.violations.prefix(3).map { label + $0 }
        figures.talkTime += floor.talkTime
    }

    private func record(_ wait: Duration, _ figures: inout FloorFigures) {
        if loss == 0 { figures.lossless.insert(wait - roundTrip - .milliseconds(20)) }
        if loss == 0.3 { figures.lossy.insert(wait - roundTrip * 4 - .milliseconds(200)) }
    }

    /// Every other station has been denied, or waits. Without loss, each has its answer in time.
    private func checkAnswers(but first: Int, _ figures: inout FloorFigures) {
        guard loss == 0 else { return }
        for number in floor.stations.indices where number != first {
            let state = floor.stations[number].participant.state
            if state == .pendingRequest || state == .permission {
                figures.violations.append(label + "station \(number) is in \(state)")
            }
        }
    }

    private mutating func finish(_ first: Int, _ figures: inout FloorFigures) {
        let other = (first + 1) % floor.stations.count
        switch end {
        case .released: floor.release(first)
        case .vanished, .unreachable:
            floor.cut(first, dies: end == .vanished)
            let since = floor.now
            while floor.talker == first, floor.now - since < .seconds(5) { floor.run(for: .milliseconds(10)) }
            figures.longestVanished = max(figures.longestVanished, floor.now - since - .milliseconds(10))
        case .preempted:
            floor.release(other)
            floor.run(for: .seconds(2))
            guard floor.talker == first else { return }
            floor.press(other, .emergency)
            floor.run(for: roundTrip * 4 + .seconds(2))
            let isGranted = floor.stations[other].events.contains {
                if case .granted(.emergency, _) = $0 { true } else { false }
            }
            if !isGranted { figures.violations.append(label + "the emergency of \(other) is not granted") }
        case .tooLong: floor.run(for: .seconds(5))
        case .queued:
            // Each one talks for a moment, and releases.
            for _ in 0..<min(floor.stations.count, 20) {
                guard let talker = floor.talker else { break }
                floor.release(talker)
                floor.run(for: .milliseconds(Int.random(in: 0...800, using: &randomness)))
            }
        }
    }

    /// All keys go up. Then nobody has the floor, and everybody knows it.
    private func comeToRest(_ figures: inout FloorFigures) {
        floor.run(for: .milliseconds(300))
        for number in floor.stations.indices where !floor.stations[number].isDead { floor.release(number) }
        floor.run(for: .seconds(7))
        if let talker = floor.talker { figures.violations.append(label + "\(talker) still has the floor") }
        for (number, station) in floor.stations.enumerated() where station.cutAt == nil {
            if station.participant.state != .noPermission || station.participant.talker != nil {
                figures.violations.append(label + "station \(number) is in \(station.participant.state)")
            }
        }
    }

    /// One station alone presses its key, and has the floor.
    private mutating func playAlone(_ figures: inout FloorFigures) {
        guard let number = floor.stations.indices.filter({ floor.stations[$0].cutAt == nil }).last else { return }
        floor.press(number)
        floor.run(for: roundTrip * 4 + .seconds(1))
        guard let wait = floor.stations[number].grantedAfter else {
            return figures.violations.append(label + "\(number) alone does not have the floor after 4 RTT + 1 s")
        }
        record(wait, &figures)
    }
}
