import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourSeededRandom
import Testing

struct LinkTests {
    private var randomness = SeededRandom(seed: 5)

    @Test(arguments: try KeysVector.all(.link).filter { $0.refused == nil })
    func aLinkMeansWhatIsWritten(vector: KeysVector) throws {
        let bytes = try vector.bytes()
        let link = try ChannelLink(parsing: bytes.span)
        #expect(link.host == vector.host)
        #expect(link.port == vector.port)
        if let relays = vector.relays { #expect(link.relays.map(\.description) == relays) }
        #expect(link.name == vector.name)
        #expect(link.text() == vector.text)
        let keys = try ChannelKeys(link)
        #expect(keys.talkJoin?.configurationText == vector.talkJoin)
        #expect(keys.listenJoin.configurationText == vector.listenJoin)
        #expect(keys.talkJoin?.channelID == vector.talkChannelID.map(number))
        #expect(keys.listenJoin.channelID == vector.listenChannelID.map(number))
        let listening = try ChannelLink(
            host: link.host, port: link.port, name: link.name, opening: .secret(keys.listenSecret))
        #expect(listening.text().hasSuffix(try #require(vector.listenText)))
        #expect(listening.text(.words).hasSuffix(try #require(vector.listenWords)))
    }

    @Test(arguments: try KeysVector.all(.link).filter { $0.refused != nil })
    func aBadLinkIsRefusedForItsReason(vector: KeysVector) throws {
        let bytes = try vector.bytes()
        do {
            _ = try ChannelLink(parsing: bytes.span)
            Issue.record("parsed without an error")
        } catch {
            #expect(error.reasonName == vector.refused)
        }
    }

    @Test func noRefusalRepeatsTheSecret() throws {
        for vector in try KeysVector.all(.link) where vector.refused != nil {
            let text = String(decoding: try vector.bytes(), as: UTF8.self)
            let secret = text.split(separator: "#").dropFirst().joined()
            guard secret.count > 8 else { continue }
            do { _ = try ChannelLink(text) } catch { #expect(!error.description.contains(secret.suffix(8))) }
        }
    }

    @Test func nothingThatIsPrintedHoldsTheSecret() throws {
        let link = try ChannelLink(SessionInputs.written.link)
        let keys = try ChannelKeys(link)
        guard case .secret(let secret) = link.opening else { return #expect(Bool(false)) }
        var dump = ""
        Swift.dump(link, to: &dump)
        Swift.dump(keys, to: &dump)
        let shown = "\(link) \(keys) \(secret) \(String(reflecting: keys)) \(String(reflecting: link)) \(dump)"
        #expect(!shown.contains(secret.letters.prefix(9)))
        // The test secret is the bytes 0…15; its description must not show them as numbers either.
        #expect(!shown.contains("3, 4, 5"))
        #expect(link.description == "tenfour://radio.example.org/family#…")
    }

    @Test func everySecretIsReadAsItWasWritten() throws {
        var randomness = SeededRandom(seed: 4)
        for _ in 0..<200 {
            let link = try ChannelLink(host: "a", name: "b", opening: .secret(Secret(.talk, using: &randomness)))
            #expect(try ChannelLink(link.text()) == link)
            #expect(try ChannelLink(link.text(.words)) == link)
            #expect(try ChannelLink(link.text(.words).uppercased()) == link)
        }
    }

    /// A link with one host is written as it always was.
    @Test mutating func aLinkWithSeveralRelaysIsWrittenAsItWasRead() throws {
        let secret = Secret(.talk, using: &randomness)
        let places = [
            "tenfour://a/b", "tenfour://a:6000/b", "tenfour:///b", "tenfour://:6000/b", "tenfour://a,b:6000/b",
            "tenfour://a,[2001:db8::1],[2001:db8::2]:6000/b", "tenfour://1,2,3,4,5,6,7,8/b",
        ]
        for place in places {
            let link = try ChannelLink("\(place)#talk-\(secret.letters)")
            #expect(link.place == place)
            #expect(try ChannelLink(relays: link.relays, port: link.port, name: "b", opening: .secret(secret)) == link)
        }
        let relays = try ChannelLink("tenfour://A:6000,b/c#talk-\(secret.letters)").relays
        #expect(relays.map(\.id) == [RelayID(host: "a", port: 6_000), RelayID(host: "b", port: 5_004)])
    }

    @Test func everySlipOfOneLetterIsFound() throws {
        let text = Array(SessionInputs.written.link.utf8)
        for place in text.indices.suffix(34) where text[place] != UInt8(ascii: "-") {
            var slip = text
            slip[place] = text[place] == UInt8(ascii: "q") ? UInt8(ascii: "r") : UInt8(ascii: "q")
            #expect(throws: ChannelLinkError.secretCheck) { try ChannelLink(parsing: slip.span) }
        }
    }

    /// The error names the misspelt word and the words that may be meant.
    @Test(arguments: [
        ("claud", ["cloud"]), ("clodu", ["cloud"]), ("Cloudy", ["cloud"]), ("cloth2", ["cloth"]),
        ("wolf", ["golf"]), ("zzzzzzz", []), ("", []),
    ])
    func aMisspeltWordIsNamed(word: String, nearest: [String]) throws {
        let link = try ChannelLink(SessionInputs.written.link)
        let front = link.place + "#talk-"
        var words = link.text(.words).dropFirst(front.count).split(separator: "-").map(String.init)
        words[4] = word
        do {
            _ = try ChannelLink(front + words.joined(separator: "-"))
            Issue.record("parsed without an error")
        } catch {
            guard case .secretWord(let misspelling) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(misspelling.place == 5 && misspelling.word == word)
            #expect(misspelling.nearest == nearest)
            for other in words where other != word { #expect(!error.description.contains(other)) }
        }
    }

    @Test func aListenLinkOpensTheSameChannelAndCannotTalk() throws {
        let talking = try ChannelKeys(ChannelLink(SessionInputs.written.link))
        let listening = ChannelKeys(name: "family", secret: talking.listenSecret)
        #expect(listening.mediaRoot == talking.mediaRoot)
        #expect(listening.listenJoin == talking.listenJoin)
        #expect(listening.talkJoin == nil && listening.joinKey(for: .talk) == nil)
        #expect(ChannelKeys(name: "friends", secret: talking.listenSecret).mediaRoot != talking.mediaRoot)
    }

    @Test func aRelayReadsTheJoinKeyThatALinkPrints() throws {
        let key = try #require(try ChannelKeys(ChannelLink(SessionInputs.written.link)).talkJoin)
        #expect(JoinKey(.talk, configurationText: key.configurationText) == key)
        #expect(JoinKey(.talk, configurationText: String(key.configurationText.dropLast())) == nil)
        #expect(JoinKey(.talk, configurationText: key.configurationText.dropLast() + "b") == nil)
    }
}

extension ChannelLinkError {
    /// The name of the reason in the test vectors.
    fileprivate var reasonName: String {
        switch self {
        case .tooLong: "tooLong"
        case .character: "character"
        case .scheme: "scheme"
        case .noSecret: "noSecret"
        case .host: "host"
        case .port: "port"
        case .relayCount: "relayCount"
        case .name: "name"
        case .marker: "marker"
        case .fingerprint: "fingerprint"
        case .fingerprintWithoutRelay: "fingerprintWithoutRelay"
        case .pass: "pass"
        case .passParts: "passParts"
        case .secretCharacter: "secretCharacter"
        case .secretWord: "secretWord"
        case .secretLength: "secretLength"
        case .secretCheck: "secretCheck"
        case .tag: "tag"
        case .percent: "percent"
        case .passphrase: "passphrase"
        }
    }
}
