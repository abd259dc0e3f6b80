import TenfourJSON
import TenfourSession
import Testing

@testable import TenfourDNSSD
@testable import TenfourLobby
@testable import tenfour

struct NearLineTests {
    private func station(
        _ reachability: NearbyStation.Reachability, takesCalls: Bool = true, at address: IPAddress = .v4(1)
    ) -> NearbyStation {
        NearbyStation(
            id: .init(name: "Bob", domain: "local"), digit: 1, name: "Bob", host: "pi.local",
            endpoint: Endpoint(address, port: 5004), takesCalls: takesCalls, reachability: reachability)
    }

    @Test func aStationThatIsStillAskedIsNeitherThereNorAway() {
        let stations = [
            station(.answers(after: .milliseconds(2))), station(.unreachable), station(.unknown),
            station(.unknown, takesCalls: false),
        ]
        #expect(stations.map { NearLine.text($0).dropFirst(67) } == ["2 ms", "no", "?", "plain RTP"])
        let answers = ["true", "false", "null", "null"]
        for (station, answer) in zip(stations, answers) {
            #expect(NearLine.json(station).line.contains("\"answers\": \(answer)"), "\(NearLine.json(station).line)")
        }
        var list = NearbyList()
        list.stations = [stations[0], stations[1], stations[3]]
        #expect(NearLine.isComplete(list))
        list.stations.append(stations[2])
        #expect(!NearLine.isComplete(list))
    }

    @Test func anAddressIsNeverCut() {
        let address = IPAddress.v6(high: 0x2001_0DB8_1234_5678, low: 0x9ABC_DEF0_1234_5678, scope: 0)
        let line = NearLine.text(station(.unreachable, at: address))
        #expect(line.hasSuffix("  [2001:db8:1234:5678:9abc:def0:1234:5678]:5004  no"), "\(line)")
    }
}
