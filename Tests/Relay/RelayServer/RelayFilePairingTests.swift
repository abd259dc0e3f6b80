import TenfourRelayCore
import TenfourRelayServer
import Testing

/// The lines about pairing.
struct RelayFilePairingTests {
    private func read(_ text: String) throws(RelayFileErrors) -> RelayServerConfiguration {
        var file = RelayFile()
        let bytes = Array(text.utf8)
        file.add(bytes.span, of: "relay.conf")
        return try file.finished()
    }

    @Test func aRelayMayPairStationsWithoutAnyChannel() throws {
        let configuration = try read("relay-key relay.key\npair on\n")
        #expect(configuration.relay.pairing == PairingConfiguration() && configuration.relay.channels.isEmpty)
        let other = try read("pair-bits 64k\npair on\nrelay-key relay.key\npair-members 20\n").relay.pairing
        #expect(other?.members == 20 && other?.bitsPerSecond == 64_000)
        #expect(try read("relay-key a\npair on\npair-members 250\nmembers 500").relay.pairedMemberLimit == 250)
        #expect(try read("relay-key a\npair on\nmembers 500").relay.pairedMemberLimit == 250)
        let off = try read("pair off\npair-members 20\nrtp-in a=0.0.0.0:6000\nrtp-out a=10.0.0.1:5004")
        #expect(off.relay.pairing == nil)
    }

    @Test(arguments: [
        ("pair on", "line 1: stations that pair get channels that follow from the relay's key: add relay-key FILE"),
        (
            "relay-key a\npair on\nnats nats://a\ncluster-key k",
            "line 2: the relays of a cluster cannot share the channels of stations that pair: remove pair, or nats"
        ),
        ("relay-key a\npair", "line 2: pair needs the value on or off"),
        ("relay-key a\npair yes", "line 2: pair needs the value on or off"),
        ("relay-key a\npair on\npair off", "line 3: pair appears a second time"),
        ("relay-key a\npair on\npair-members 1", "line 3: pair-members needs a number from 2 to 100000"),
        ("relay-key a\npair on\npair-members 9\npair-members 9", "line 4: pair-members appears a second time"),
        ("relay-key a\npair on\npair-bits 10", "line 3: pair-bits needs a number from 1000 to 10000000000"),
        (
            "relay-key a\nmembers 500\npair on\npair-members 251",
            "line 4: pair-members can be half of members at most, which is 250: lower it, or raise members"
        ),
        (
            "relay-key a\npair off",
            "no channel is configured: add the line that `tenfour channel new` prints, or `relay-key FILE` and `pair on`"
        ),
    ])
    func everyErrorHasItsRemedy(text: String, expected: String) {
        do throws(RelayFileErrors) {
            _ = try read(text)
            Issue.record("there is no error")
        } catch {
            #expect(error.description.contains(expected), "\(error)")
        }
    }
}
