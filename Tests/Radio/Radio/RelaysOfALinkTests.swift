import TenfourChannelKeys
import TenfourRadio
import TenfourSession
import Testing

/// The addresses at which a member may join the relays of its link.
struct RelaysOfALinkTests {
    private func settings(_ place: String) throws -> ChannelSettings {
        var randomness = CSPRNG()
        let link = try ChannelLink("\(place)#talk-\(Secret(.talk, using: &randomness).letters)")
        let configuration = try RadioConfiguration.joining(link, as: .talk)
        guard case .channel(let settings) = configuration.protection else { throw RadioError(.failure, "no channel") }
        return settings
    }

    @Test func allAddressesOfEachHostAreCandidatesUnderItsID() throws {
        let relays = try settings("tenfour://localhost:6000,127.0.0.2,[::1]:7000/family").relays
        #expect(
            relays.map(\.id) == [
                RelayID(host: "localhost", port: 6_000), RelayID(host: "127.0.0.2", port: 5_004),
                RelayID(host: "::1", port: 7_000),
            ])
        #expect(relays[0].endpoints.contains(Endpoint(.loopbackV4, port: 6_000)))
        #expect(relays[1].endpoints == [Endpoint(.v4(0x7F00_0002), port: 5_004)])
        #expect(relays[2].endpoints.map(\.port) == [7_000])
    }

    /// It is looked up again later.
    @Test func aHostThatIsNotFoundIsNoErrorBesideAnother() throws {
        let relays = try settings("tenfour://relay.invalid,127.0.0.2/family").relays
        #expect(relays.map(\.endpoints.isEmpty) == [true, false])
        #expect(relays[0].host == (try RelayHost("relay.invalid")))
        #expect(throws: RadioError.self) { try settings("tenfour://relay.invalid,other.invalid/family") }
    }
}
