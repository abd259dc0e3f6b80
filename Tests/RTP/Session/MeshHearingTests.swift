import Foundation
import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Two to eight stations that send to each other directly: one talks, some of the others stop hearing it, and the talker
/// learns which. `Tools/test --long` runs 100 seeds of each obstacle.
struct MeshHearingTests {
    private static let seedCount: UInt64 = ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? 7 : 100

    enum Obstacle: CaseIterable, Sendable {
        case mediaIsDropped, reportsAreDropped, linkIsDown, largePacketsAreDropped
        case outputIsMuted, outputIsGone, everythingIsLate

        /// The state of a listener that the talker is told.
        var state: HearingState {
            switch self {
            case .mediaIsDropped, .largePacketsAreDropped: .hearsNothing
            case .reportsAreDropped, .linkIsDown: .noAnswer
            case .outputIsMuted: .muted
            case .outputIsGone: .noOutput
            case .everythingIsLate: .playsNothing
            }
        }

        /// Whether the listener is told that audio is missing.
        var isMissingAudio: Bool {
            self == .mediaIsDropped || self == .linkIsDown || self == .largePacketsAreDropped
        }

        /// Whether a datagram passes between the talker and a listener that is affected.
        func passes(toTalker: Bool, byteCount: Int) -> Bool {
            switch self {
            case .mediaIsDropped: toTalker
            case .reportsAreDropped: !toTalker
            case .linkIsDown: false
            case .largePacketsAreDropped: byteCount < 250
            case .outputIsMuted, .outputIsGone, .everythingIsLate: true
            }
        }
    }

    @Test(.timeLimit(.minutes(20)), arguments: Obstacle.allCases)
    func theTalkerLearnsWhoDoesNotHear(_ obstacle: Obstacle) {
        for seed in 1...Self.seedCount {
            let mesh = Mesh(seed: seed)
            let begin = Double.random(in: 8...16, using: &mesh.random)
            mesh.run(until: begin)
            #expect(mesh.told.allSatisfy { $0.state == .hears }, "\(mesh.told)")
            #expect(Set(mesh.told.map(\.listener)).count == mesh.listeners.count)

            mesh.set(obstacle)
            mesh.run(until: begin + 10)
            let changes = mesh.changes(after: begin, with: obstacle)
            #expect(changes.allSatisfy { $0.state == obstacle.state && $0.at <= begin + 3 }, "\(mesh): \(changes)")
            let first = mesh.affected.map { listener in mesh.told.first { $0.at > begin && $0.listener == listener } }
            #expect(first.allSatisfy { $0.map { $0.at <= begin + 3 } ?? false }, "\(mesh): \(first)")
            #expect(changes.map(\.listener).sorted() == mesh.affected.sorted(), "\(mesh): \(changes)")
            let missing = mesh.missing.filter { $0.at > begin }
            #expect(
                missing.map(\.listener).sorted() == (obstacle.isMissingAudio ? mesh.affected.sorted() : []), "\(mesh)")
            #expect(missing.allSatisfy { $0.isMissing && $0.at <= begin + 2 }, "\(mesh): \(missing)")

            mesh.set(nil)
            mesh.run(until: begin + 20)
            for listener in mesh.affected {
                let again = mesh.changes(after: begin + 10, with: obstacle).filter { $0.listener == listener }
                // The share of missing audio is that of up to two seconds: first the partner hears badly.
                let limit = begin + (obstacle == .everythingIsLate ? 13 : 12)
                #expect(again.last?.state == .hears && again.allSatisfy { $0.at <= limit }, "\(mesh): \(again)")
            }
            #expect(mesh.told.allSatisfy { $0.at <= begin + 10 || mesh.affected.contains($0.listener) }, "\(mesh)")
            #expect(mesh.missing.allSatisfy { $0.at <= begin + 12 })
            #expect(mesh.missing.count == 2 * missing.count, "\(mesh)")
        }
    }

    /// The stations, of which the first one talks, on links of a random delay.
    private final class Mesh: CustomStringConvertible {
        var random: SeededRandom
        /// The indices of the listeners that the obstacle is set for.
        let affected: [Int]
        let listeners: Range<Int>
        /// The states that the talker is told, and the listeners that are told that audio is missing; with the time in seconds.
        private(set) var told: [(at: Double, listener: Int, state: HearingState)] = []
        private(set) var missing: [(at: Double, listener: Int, isMissing: Bool)] = []

        private let link: SimulatedLink
        private let seed: UInt64
        private var due = FrameCount.zero
        private var concealed = FrameCount.zero
        private var isLate = false
        private var eventCounts: [Int]

        init(seed: UInt64) {
            self.seed = seed
            random = SeededRandom(seed: seed)
            let count = 2 + Int(seed % 7)
            listeners = 1..<count
            let affectedCount = Int.random(in: 1..<count, using: &random)
            affected = Array(listeners.shuffled(using: &random).prefix(affectedCount))
            let ends = (0..<count).map { index in
                let others = (0..<count).filter { $0 != index }.map(SimulatedLink.endpoint)
                return LinkEnd(session(UInt32(index + 1), RTPSessionConfiguration(remotes: others)), number: index)
            }
            let delay = Duration.milliseconds(Int.random(in: 1...60, using: &random))
            link = SimulatedLink(ends, network: NetworkModel(delay: delay), seed: seed)
            link.left.speech = Speech(byteCount: 300)
            eventCounts = ends.map { _ in 0 }
        }

        var description: String { "seed \(seed), \(listeners.count + 1) stations, affected \(affected)" }

        /// Returns the states that the talker is told after `time`. Where everything is late, some of it is on the way there and back.
        func changes(
            after time: Double, with obstacle: Obstacle
        ) -> [(at: Double, listener: Int, state: HearingState)] {
            told.filter {
                if obstacle == .everythingIsLate, case .hearsBadly = $0.state { return false }
                return $0.at > time
            }
        }

        func set(_ obstacle: Obstacle?) {
            let hit = Set(affected)
            link.firewall = obstacle.map { obstacle in
                { sender, receiver, count in
                    let isHit = sender == 0 && hit.contains(receiver) || receiver == 0 && hit.contains(sender)
                    return !isHit || obstacle.passes(toTalker: receiver == 0, byteCount: count)
                }
            }
            let output: StationStatus.Output =
                switch obstacle {
                case .outputIsMuted: .muted
                case .outputIsGone: .none
                default: .playing
                }
            for listener in affected { link.ends[listener].session.setOutput(output, at: link.now) }
            isLate = obstacle == .everythingIsLate
        }

        func run(until end: Double) {
            while seconds(link.now) < end - 0.001 {
                link.run(until: link.now + .milliseconds(50))
                due += FrameCount(2_400)
                if isLate { concealed += FrameCount(2_400) }
                for listener in listeners {
                    let missed = affected.contains(listener) ? concealed : .zero
                    link.ends[listener].session.playout(
                        of: SSRC(1), due: due, missing: .zero, concealed: missed, at: link.now)
                }
                collect(at: seconds(link.now))
            }
        }

        private func collect(at now: Double) {
            for index in link.ends.indices {
                let events = link.ends[index].events
                for event in events[eventCounts[index]...] {
                    switch event {
                    case .hearingChanged(let hearing) where index == 0:
                        let listener = listeners.first { SimulatedLink.endpoint($0) == hearing.endpoint } ?? -1
                        told.append((now, listener, hearing.state))
                    case .mediaMissing: missing.append((now, index, true))
                    case .mediaReturned: missing.append((now, index, false))
                    default: break
                    }
                }
                eventCounts[index] = events.count
            }
        }

        private func seconds(_ time: Instant) -> Double { Double(time.nanoseconds) / 1e9 }
    }
}
