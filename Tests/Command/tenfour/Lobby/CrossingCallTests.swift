import Foundation
import TestSupport
import Testing

/// Calls between two stations, each the whole program in a terminal.
@Suite(.onItsOwnThread, .inRealTime, .serialized) struct CrossingCallTests {
    private let folder = Folder()

    private static let roundCount = Program.isSet("TENFOUR_LONG") ? 100 : 1

    init() { folder.write(longTone, to: "long.wav") }

    /// Waits until `isSo` is true for each of the stations. Returns the time that this took.
    @discardableResult
    private func wait(
        _ stations: [StationInTerminal], _ what: String, until isSo: (StationInTerminal) -> Bool
    ) -> Duration {
        let start = ContinuousClock.now
        let isThere = stations[0].program.wait(.seconds(30)) {
            // A wait reads what the terminal shows. A program whose terminal is not read stands still.
            stations.map { station in station.program.wait(.zero) { isSo(station) } }.allSatisfy { $0 }
        }
        #expect(isThere, "\(what): \(stations.map(\.terminal.shown))")
        return ContinuousClock.now - start
    }

    private func count(_ text: String, _ station: StationInTerminal) -> Int {
        station.terminal.inOneLine.split(separator: text, omittingEmptySubsequences: false).count - 1
    }

    /// The number of inputs that a station has open.
    private func microphoneCount(_ station: StationInTerminal) throws -> Int {
        let descriptors = "/proc/\(station.program.processID)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: descriptors).count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)"))?
                .hasSuffix("long.wav") ?? false
        }
    }

    /// Both type the other's address, and press Enter at the same moment.
    @Test func twoThatCallEachOtherAtOnceAreInOneCall() throws {
        for round in 1...Self.roundCount {
            let alice = try StationInTerminal("Alice", ["--open"], in: folder)
            let bob = try StationInTerminal("Bob", ["--open"], in: folder)
            let both = [alice, bob]
            for (station, other) in [(alice, bob), (bob, alice)] {
                station.says("q quits")
                station.type("a")
                station.says("address: _")
                station.type("127.0.0.1:\(other.port)")
            }
            for station in both { station.type("\n") }
            var hasAnswered = false
            wait(both, "round \(round): both hear") { station in
                // A call that comes before Enter, or while the address is looked up, rings.
                if count("y answers", station) > 0, !hasAnswered {
                    hasAnswered = true
                    station.type("y")
                }
                return count("hearing ", station) > 0
            }
            for station in both {
                #expect(count("talking with", station) == 1)
                #expect(try microphoneCount(station) == 1)
            }
            (round.isMultiple(of: 2) ? alice : bob).type("q")
            wait(both, "round \(round): the call is over") { count("is over", $0) == 1 }
            for station in both { station.quits() }
        }
    }

    /// The time includes what the terminals need to show it.
    @Test func aCallThatIsAcceptedIsHeardAtOnce() throws {
        var times: [Duration] = []
        for round in 1...Self.roundCount {
            let alice = try StationInTerminal("Alice", ["--open"], in: folder)
            let bob = try StationInTerminal("Bob", ["--open"], in: folder)
            bob.call(alice)
            alice.says("Bob (127.0.0.1) calls")
            alice.type("y")
            times.append(wait([alice, bob], "round \(round): both hear") { count("hearing ", $0) > 0 })
            bob.type("q")
            for station in [alice, bob] { station.quits() }
        }
        times.sort()
        print("a call is heard \(times[times.count / 2]) after the key that accepts it, at most \(times.last ?? .zero)")
    }
}
