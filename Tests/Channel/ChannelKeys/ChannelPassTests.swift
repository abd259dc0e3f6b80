import TenfourChannelKeys
import TenfourSeededRandom
import Testing

struct ChannelPassTests {
    private var randomness = SeededRandom(seed: 7)

    private static func vector() throws -> (pass: ChannelPass, link: ChannelLink, relayKey: RelayKey) {
        let vector = try #require(KeysVector.all(.link).first { $0.relayKey != nil })
        let text = try #require(vector.text)
        let keyText = try #require(vector.relayKey)
        let link = try ChannelLink(text)
        return (try #require(link.pass), link, try #require(RelayKey(fileText: keyText)))
    }

    /// The relay makes the pass in a link from its id and its own key, and so the join keys of the link's holders.
    @Test func aRelayMakesThePassOfALinkFromItsID() throws {
        let (pass, link, relayKey) = try Self.vector()
        let made = PassMaker(relayKey).pass(pass.id)
        #expect(made == pass)
        let keys = try ChannelKeys(link)
        for role in Role.allCases {
            #expect(made.joinKey(for: role) == keys.joinKey(for: role))
            #expect(made.joinKey(for: role).channelID == pass.id)
        }
    }

    @Test mutating func anotherRelayOrIDMakesAnotherPass() throws {
        let (pass, _, relayKey) = try Self.vector()
        let other = PassMaker(RelayKey(using: &randomness)).pass(pass.id)
        #expect(other != pass && other.id == pass.id)
        #expect(other.joinKey(for: .talk) != pass.joinKey(for: .talk))
        let maker = PassMaker(relayKey)
        let drawn = maker.drawPass(using: &randomness)
        #expect(drawn == maker.pass(drawn.id) && drawn != maker.drawPass(using: &randomness))
        #expect(drawn.bytes.suffix(16) != pass.bytes.suffix(16))
    }

    @Test func aPassIsThirtyTwoBytes() throws {
        let pass = try Self.vector().pass
        #expect(pass.bytes.count == 32)
        #expect(ChannelPass(bytes: pass.bytes) == pass)
        #expect(Set([pass, ChannelPass(bytes: pass.bytes)]).count == 1)
        for count in [0, 31, 33] { #expect(ChannelPass(bytes: [UInt8](repeating: 1, count: count)) == nil) }
    }

    /// The relay knows the join keys. The keys of media do not follow from the pass.
    @Test mutating func aPassChangesTheJoinKeysOnly() throws {
        let pass = try Self.vector().pass
        let secret = Secret(.talk, using: &randomness)
        let relays = [try RelayHost(host: "a", port: 5_004)]
        let link = try ChannelLink(relays: relays, name: "b", pass: pass, opening: .secret(secret))
        #expect(try ChannelLink(link.text()) == link && ChannelLink(link.text(.words).uppercased()) == link)
        let (keys, plain) = (try ChannelKeys(link), ChannelKeys(name: "b", secret: secret))
        #expect(keys.mediaRoot == plain.mediaRoot && keys.listenSecret == plain.listenSecret)
        #expect(keys.talkJoin != plain.talkJoin && keys.listenJoin != plain.listenJoin)
        #expect(try ChannelLink(relays: relays, name: "b", opening: .secret(secret)) != link)
    }

    @Test mutating func aPassGoesWithOneRelayAndATalkSecretOnly() throws {
        let pass = try Self.vector().pass
        let relay = try RelayHost(host: "a", port: 5_004)
        let secret = Secret(.talk, using: &randomness)
        let listening = ChannelKeys(name: "b", secret: secret).listenSecret
        let fingerprint = RelayFingerprint(
            relay: RelayKey(using: &randomness).publicKey, ownerless: ChannelKeys(name: "b", secret: secret))
        for (relays, fingerprint, opening) in [
            ([], nil, .secret(secret)), ([relay, relay], nil, .secret(secret)), ([relay], nil, .secret(listening)),
            ([relay], fingerprint, .secret(secret)),
        ] as [([RelayHost], RelayFingerprint?, ChannelLink.Opening)] {
            #expect(throws: ChannelLinkError.passParts) {
                try ChannelLink(relays: relays, name: "b", fingerprint: fingerprint, pass: pass, opening: opening)
            }
        }
    }

    @Test func nothingThatIsPrintedHoldsThePass() throws {
        let (pass, link, relayKey) = try Self.vector()
        var dump = ""
        for value in [pass, link, PassMaker(relayKey)] as [Any] { Swift.dump(value, to: &dump) }
        let shown = "\(pass) \(link) \(String(reflecting: pass)) \(PassMaker(relayKey)) \(dump)"
        let text = try #require(link.text().split(separator: "pass-").last)
        #expect(!shown.contains(text.prefix(8)) && !shown.contains("\(pass.id)"))
    }
}
