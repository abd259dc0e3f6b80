import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourSeededRandom
import TestSupport
import Testing

/// Ten `tenfour talk` on a cluster of three relays, all as processes of their own: one talks at a time, also after the relay that
/// decides has been killed.
@Suite(.onItsOwnThread, .inRealTime, .needsOrdinarySpeed)
struct FloorStationProcessTests {
    private let cluster: ClusterProcesses
    private let folder = Folder()
    private var stations: [Program] = []

    private static let stationCount = 10
    private static let roundCount = Program.isSet("TENFOUR_LONG") ? 20 : 1

    init() throws {
        cluster = try ClusterProcesses()
        for relay in 0..<3 { cluster.add(.listen, orderingRelays: [relay, (relay + 1) % 3, (relay + 2) % 3]) }
        for number in 0..<Self.stationCount {
            let order = (0..<3).map { (number + $0) % 3 }
            stations.append(
                try Program(
                    "tenfour",
                    [
                        "talk", try cluster.link(orderingRelays: order), "--name", "station \(number)", "-D", "null",
                        "--floor-queue", "--no-history",
                    ], in: folder, environment: ["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]))
        }
        try #require(cluster.run(.seconds(30)) { cluster.members.allSatisfy(\.isJoined) })
        for station in stations { try #require(station.says("in the channel"), "\(station.errors)") }
        // The relays agree on which of them decides.
        cluster.run(.seconds(3))
    }

    /// Lets stations press and let go at random, up to four at a time. Each press is a signal, as that of a button.
    private func talk(_ count: Int, _ pressed: inout Set<Int>, _ random: inout SeededRandom) {
        for _ in 0..<count {
            if let station = pressed.randomElement(using: &random), pressed.count == 4 || random.happens(0.5) {
                pressed.remove(station)
                stations[station].send(SIGUSR2)
            } else {
                let station = Int.random(in: 0..<stations.count, using: &random)
                pressed.insert(station)
                stations[station].send(SIGUSR1)
            }
            cluster.run(.milliseconds(Int.random(in: 20...300, using: &random)))
        }
    }

    /// A time in which a listener heard a talker without a pause of 100 ms.
    private struct Turn {
        var talker: UInt32
        var beginning: Instant
        var end: Instant
    }

    private func turns(heardBy listener: Int) -> [Turn] {
        var turns: [Turn] = []
        for packet in cluster.members[listener].packets {
            let last = turns.lastIndex { $0.talker == packet.ssrc }
            if let last, packet.at - turns[last].end < .milliseconds(100) {
                turns[last].end = packet.at
            } else {
                turns.append(Turn(talker: packet.ssrc, beginning: packet.at, end: packet.at))
            }
        }
        return turns.sorted { $0.beginning < $1.beginning }
    }

    @Test func neverAreTwoOfTenStationsHeardAtOnce() throws {
        var random = SeededRandom(seed: 35)
        var pressed: Set<Int> = []
        for round in 0..<Self.roundCount {
            talk(60, &pressed, &random)
            cluster.killRelay(round % 3)
            talk(60, &pressed, &random)
            try cluster.startRelay(round % 3)
            talk(30, &pressed, &random)
        }
        for station in stations { station.send(SIGUSR2) }
        cluster.run(.seconds(1))
        for listener in cluster.members.indices {
            let turns = turns(heardBy: listener)
            let overlaps = zip(turns, turns.dropFirst()).map { max($0.end - $1.beginning, .zero) }
            let talkerCount = Set(turns.map(\.talker)).count
            print(
                "listener \(listener) heard \(turns.count) turns of \(talkerCount) stations, \(overlaps.max() ?? .zero) at once"
            )
            #expect(turns.count > 10 * Self.roundCount)
            #expect(overlaps.allSatisfy { $0 < .milliseconds(200) }, "\(overlaps)")
        }
        for station in stations { #expect(station.isRunning) }
    }
}
