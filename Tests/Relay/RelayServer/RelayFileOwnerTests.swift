import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRelayCore
import TenfourRelayServer
import TenfourSeededRandom
import Testing

/// The lines about channels with an owner, the relay's key and the folder of the members.
struct RelayFileOwnerTests {
    private static let owner = {
        var randomness = SeededRandom(seed: 4)
        return MemberIdentity(using: &randomness).key
    }()
    private static let line = {
        var randomness = SeededRandom(seed: 1)
        let keys = ChannelKeys(name: "family", secret: Secret(.talk, using: &randomness))
        let talk = keys.talkJoin?.configurationText ?? ""
        return "channel family talk=\(talk) listen=\(keys.listenJoin.configurationText)"
    }()

    private func read(_ text: String) throws(RelayFileErrors) -> (RelayFile, RelayServerConfiguration) {
        var file = RelayFile()
        let bytes = Array(text.utf8)
        file.add(bytes.span, of: "relay.conf")
        return (file, try file.finished())
    }

    @Test func aChannelMayHaveAnOwner() throws {
        let (file, configuration) = try read(
            "relay-key relay.key\nstate members\n\(Self.line) owner=\(Self.owner.configurationText) members=20\n")
        #expect(configuration.relay.channels[0].owner == Self.owner && file.keyFile == "relay.key")
        #expect(configuration.relay.channels[0].limits.members == 20 && file.stateFolder == "members")
        #expect(IdentityKey(configurationText: Self.owner.configurationText.uppercased()) == Self.owner)
        #expect(try read(Self.line).1.relay.channels[0].owner == nil)
    }

    @Test(arguments: [
        ("\(line) owner=\(owner.configurationText)", "line 1: channel family has an owner, so members must recognise"),
        ("relay-key a\n\(line) owner=abc", "line 2: the value of owner= is not an owner's key"),
        // The point (0, 1), which is not in the main subgroup.
        (
            "relay-key a\n\(line) owner=ae\(String(repeating: "a", count: 50))",
            "line 2: the value of owner= is not an owner's key"
        ),
        (
            "relay-key a\n\(line) owner=\(owner.configurationText) owner=\(owner.configurationText)",
            "line 2: write: channel NAME"
        ),
        (
            "relay-key a\n\(line) owner=\(owner.configurationText)\nnats nats://a\ncluster-key k",
            "line 2: channel family has an owner, and the relays of a cluster cannot share"
        ),
        (
            "relay-key a\n\(line) owner=\(owner.configurationText)\nhttp 127.0.0.1:8080\nweb family",
            "line 2: channel family has an owner, who cannot add this relay as a member"
        ),
        (
            "relay-key a\n\(line) owner=\(owner.configurationText)\nicecast family=x",
            "line 2: channel family has an owner, who cannot add this relay as a member"
        ),
        ("\(line)\nrelay-key", "line 2: relay-key needs a path"),
        ("\(line)\nrelay-key a\nrelay-key a", "line 3: relay-key appears a second time"),
        ("\(line)\nstate", "line 2: state needs a path"),
        ("\(line)\nstate a\nstate b", "line 3: state appears a second time"),
    ])
    func everyErrorHasItsRemedy(text: String, expected: String) {
        do throws(RelayFileErrors) {
            _ = try read(text)
            Issue.record("there is no error")
        } catch {
            #expect(error.description.contains(expected), "\(error)")
            #expect(!error.description.contains(Self.owner.configurationText))
        }
    }
}
