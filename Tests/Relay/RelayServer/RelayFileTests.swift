import TenfourChannelKeys
import TenfourFloor
import TenfourNetworkEmulator
import TenfourRelayCore
import TenfourRelayServer
import TenfourSeededRandom
import TenfourSession
import Testing

/// Relay files and the configurations read from them.
struct RelayFileTests {
    private static func keys(_ seed: UInt64, _ name: String = "family") -> (talk: String, listen: String) {
        var randomness = SeededRandom(seed: seed)
        let keys = ChannelKeys(name: name, secret: Secret(.talk, using: &randomness))
        return (keys.talkJoin?.configurationText ?? "", keys.listenJoin.configurationText)
    }

    private static let (talk, listen) = keys(1)
    private static let family = "channel family talk=\(talk) listen=\(listen)\n"

    private func read(
        _ text: String, files: [String: String] = [:]
    ) throws(RelayFileErrors) -> (RelayFile, RelayServerConfiguration) {
        var file = RelayFile()
        let bytes = Array(text.utf8)
        file.add(bytes.span, of: "relay.conf") { files[$0].map { Array($0.utf8) } }
        return (file, try file.finished())
    }

    @Test func everythingThatCanBeSetIsSet() throws {
        let (file, configuration) = try read(
            """
            # The relay of the family.
            bind 192.0.2.1:6000\t# not everywhere
            workers 2
            name Radio.example.org
            name [2001:db8::7]:6000
            status-socket /run/relay.sock

            \(Self.family)\
              members 20\r
            channel-members 10
            channel-talkers 9
            channel-voices 3
            channel-bits 300k
            talker-packets 200
            talker-bits 64k
            plain-packets 60
            plain-bits 1000k
            rtp-in Studio=0.0.0.0:7000,from=10.0.0.7
            rtp-in studio=[ff02::1]:7002
            rtp-out studio=10.0.1.20:5004
            rtp-out studio=239.0.1.10:5004,sap
            rtp-out studio=@listeners
            """, files: ["listeners": "# two\n10.0.1.21:5004\n\n  [2001:db8::8]:5006  # and one\n"])
        #expect(file.statusSocket == "/run/relay.sock")
        #expect(configuration.bind == Endpoint(.v4(0xC000_0201), port: 6000) && configuration.workers == 2)
        #expect(
            configuration.relay.names == [
                RelayID(host: "radio.example.org", port: 5004), RelayID(host: "2001:db8::7", port: 6000),
            ])
        var limits = RelayLimits()
        (limits.members, limits.channelMembers) = (20, 10)
        (limits.channelTalkers, limits.channelVoices, limits.channelBitsPerSecond) = (9, 3, 300_000)
        (limits.talkerPacketsPerSecond, limits.talkerBitsPerSecond) = (200, 64_000)
        #expect(configuration.relay.limits == limits)
        let channel = try #require(configuration.relay.channels.first)
        #expect(channel.name == "family" && channel.talkJoin == JoinKey(.talk, configurationText: Self.talk))
        #expect(channel.listenJoin == JoinKey(.listen, configurationText: Self.listen))
        let plain = try #require(configuration.plain.first)
        #expect(
            plain.name == "studio" && plain.limits.packetsPerSecond == 60 && plain.limits.bitsPerSecond == 1_000_000)
        #expect(plain.inputs.map(\.bind.description) == ["0.0.0.0:7000", "[ff02::1]:7002"])
        #expect(plain.inputs.map(\.from) == [.v4(0x0A00_0007), nil])
        #expect(
            plain.targets.map(\.description) == [
                "10.0.1.20:5004", "239.0.1.10:5004", "10.0.1.21:5004", "[2001:db8::8]:5006",
            ])
        #expect(plain.announcedGroups.map(\.description) == ["239.0.1.10:5004"])
        #expect(configuration.relay.channels.count == 1 && configuration.plain.count == 1)
    }

    @Test func defaultsAreThoseOfTheExample() throws {
        let (file, configuration) = try read(Self.family)
        #expect(file.metrics == nil)
        #expect(try read("metrics 9104\n" + Self.family).0.metrics == Endpoint(.loopbackV4, port: 9_104))
        #expect(try read("metrics [::]:9104\n" + Self.family).0.metrics == Endpoint(.anyV6, port: 9_104))
        #expect(configuration.bind == Endpoint(.anyV6, port: 5004) && configuration.workers == 1)
        #expect(configuration.relay.limits == RelayLimits() && file.statusSocket == nil)
        // Each setting of the example can be enabled, and none differs from its default except those that must be
        // filled in.
        // The relays of a cluster cannot share a channel with an owner.
        let all = RelayFile.example.split(separator: "\n").filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") }
        let settings = all.filter { !$0.contains("owner=") }
        #expect(all.count == 40 && settings.count == 39 && file.stateFolder == nil)
        let text = settings.map { line in
            let (talk, listen) =
                line.contains("concert")
                ? Self.keys(2) : line.contains("control") ? Self.keys(3) : (Self.talk, Self.listen)
            return line.dropFirst().replacing("talk=KEY", with: "talk=\(talk)").replacing(
                "listen=KEY", with: "listen=\(listen)")
        }.joined(separator: "\n")
        var (_, other) = try read(text, files: ["listeners.txt": "10.0.1.21:5004"])
        let control = other.relay.channels.removeLast()
        #expect(control.floor == FloorArbiter.Configuration(isRequired: true))
        let concert = other.relay.channels.removeLast()
        #expect(
            concert.limits
                == ChannelLimits(members: 5_000, talkerPacketsPerSecond: 200, talkerBitsPerSecond: 256_000))
        #expect(other.relay.names.count == 1 && other.plain[0].targets.count == 3)
        #expect(other.plain[0].limits == PlainChannel.Limits())
        #expect(other.web.channels.map(\.name) == ["studio", "family"])
        (other.relay.names, other.plain, other.web) = ([], [], WebConfiguration())
        #expect(other == configuration)
        var empty = RelayFile()
        let example = Array(RelayFile.example.utf8)
        empty.add(example.span, of: "example")
        #expect(empty == RelayFile())
    }

    @Test func aChannelMayRequireTheFloor() throws {
        let (_, configuration) = try read(
            "channel family talk=\(Self.talk) listen=\(Self.listen) floor=required talk-time=60")
        #expect(
            configuration.relay.channels[0].floor
                == FloorArbiter.Configuration(isRequired: true, longestTalk: .seconds(60)))
        let (_, other) = try read(Self.family)
        #expect(other.relay.channels[0].floor == nil, "without a word about it there is no floor control")
        for words in ["floor=on", "talk-time=180"] {
            let (_, third) = try read("channel family talk=\(Self.talk) listen=\(Self.listen) \(words)")
            #expect(third.relay.channels[0].floor == FloorArbiter.Configuration())
        }
    }

    @Test func theCommandLineAddsToTheFile() throws {
        var file = RelayFile()
        let text = Array(Self.family.utf8)
        file.add(text.span, of: "relay.conf")
        file.add("rtp-in", "studio=0.0.0.0:7000")
        file.add("rtp-out", "studio=10.0.1.20:5004")
        #expect(try file.finished().plain.map(\.name) == ["studio"])
        file.add("rtp-out", "studio")
        do throws(RelayFileErrors) {
            _ = try file.finished()
            Issue.record("accepted without an error")
        } catch {
            #expect(error.description.hasPrefix("--rtp-out: rtp-out needs CHANNEL=ADDRESS:PORT"), "\(error)")
        }
    }

    /// An error names the line, the mistake and the remedy, but never a key.
    @Test(arguments: [
        ("nonsense 7", "line 1: 'nonsense' is not a known setting", "--example"),
        ("\n\n  bind\n", "line 3: bind needs ADDRESS:PORT", "0.0.0.0:5004"),
        ("bind bob:5004", "line 1: bind needs", "[::]:5004"), ("bind 239.0.0.1:5004", "bind needs", "of this machine"),
        ("bind [::]:1\nbind [::]:2", "line 2: bind appears a second time", "keep one"),
        ("workers 0", "workers needs a number", "1 to 64"), ("workers many", "workers needs a number", "1 to 64"),
        ("workers 65", "workers needs a number", "1 to 64"), ("members -1", "members needs a number", "1 to 1000000"),
        ("members 99999999999999999999", "members needs a number", "1"),
        ("members 9223372036854775807k", "members", "1"),
        ("name a/b", "name needs HOST", "as in members' links"), ("name", "name needs HOST", "HOST:PORT"),
        ("channel", "line 1: write: channel NAME talk=KEY listen=KEY", "tenfour channel"),
        ("channel two words talk=x listen=y", "write: channel NAME", "tenfour channel keys"),
        (
            "channel -x talk=\(talk) listen=\(listen)", "a channel's name must have 1 to 32 characters",
            "letter or digit"
        ),
        ("channel x talk=\(talk) listen=short", "the value of listen= is not a join key", "52"),
        ("channel x talk=\(talk)a listen=\(listen)", "the value of talk= is not a join key", "52"),
        ("channel x talk=\(talk) talk=\(listen)", "write: channel NAME", "KEY"),
        ("channel x \(talk) \(listen)", "write: channel NAME", "KEY"),
        ("channel x talk=\(talk) listen=\(listen) more=7", "write: channel NAME", "members=NUMBER"),
        ("channel x talk=\(talk) listen=\(listen) members=7 members=8", "write: channel NAME", "members=NUMBER"),
        ("channel x talk=\(talk) members=7", "write: channel NAME", "KEY"),
        ("channel x talk=\(talk) listen=\(listen) members=0", "line 1: members needs a number", "1 to 1000000"),
        ("channel x talk=\(talk) talker-bits=1 listen=\(listen)", "talker-bits needs a number", "1000 to 1000000000"),
        ("channel x talk=\(talk) listen=\(listen) floor=yes", "floor needs the value on", "required"),
        ("channel x talk=\(talk) listen=\(listen) talk-time=9", "talk-time needs a number", "10 to 86400"),
        (
            "channel x talk=\(talk) listen=\(listen) floor=required floor=required", "write: channel NAME",
            "floor=on|required"
        ),
        ("channel x talk=\(talk) listen=\(talk)", "channel x already has this key", "of its own"),
        (family + family, "line 2: channel family appears a second time", "keep one"),
        (
            family + "channel other talk=\(listen) listen=\(keys(2).talk)", "channel family already has this key",
            "of its own"
        ),
        ("talk=\(talk)", "'talk' is not a known setting", "--example"),
        ("\(talk)", "'a long word' is not a known setting", "--example"),
        ("rtp-in studio", "rtp-in needs CHANNEL=BIND:PORT", "from=10.0.0.7"),
        ("rtp-in =0.0.0.0:7", "a channel's name", "32"),
        ("rtp-in studio=0.0.0.0:7000,to=1.2.3.4", "rtp-in needs", "from="),
        ("rtp-in studio=0.0.0.0:7000,from=bob", "rtp-in needs", "in numbers"),
        ("rtp-in studio=0.0.0.0:7000,from=1.2.3.4,", "rtp-in needs", "in numbers"),
        (
            "rtp-in a=0.0.0.0:7000\nrtp-in b=0.0.0.0:7000", "line 2: rtp-in at 0.0.0.0:7000 appears a second",
            "keep one"
        ),
        ("rtp-out studio=bob:5004", "write one ADDRESS:PORT in numbers", "10.0.0.7:5004"),
        ("rtp-out studio=10.0.0.7:0", "write one ADDRESS:PORT", "[2001:db8::7]:5004"),
        ("rtp-out studio=0.0.0.0:5004", "write one ADDRESS:PORT", "10.0.0.7:5004"),
        ("rtp-out studio=@missing", "line 1: missing cannot be read", "permissions"),
        ("rtp-out studio=@broken", "broken, line 2: write one ADDRESS:PORT", "10.0.0.7:5004"),
        ("rtp-in a=0.0.0.0:7\nrtp-out a=10.0.0.7:5,sap", "line 2: 10.0.0.7:5 is not a multicast group", "remove ,sap"),
        ("rtp-in a=0.0.0.0:7\nrtp-out a=239.0.0.7:5,sip", "line 2: write one ADDRESS:PORT", "10.0.0.7:5004"),
        ("rtp-out a=10.0.0.7:5\nrtp-out a=10.0.0.7:5", "line 2: rtp-out a=10.0.0.7:5 appears a second", "keep one"),
        (
            "rtp-in a=10.0.0.7:5\nrtp-out a=10.0.0.7:5", "line 2: channel a goes to 10.0.0.7:5, where this relay",
            "another address"
        ),
        (
            "rtp-out a=10.0.0.9:5\nrtp-out a=127.0.0.1:5\nrtp-in a=[::1]:7\nrtp-out b=[::1]:6\nrtp-in b=0.0.0.0:5",
            "line 2: channel a goes to 127.0.0.1:5", "another address"
        ),
        ("rtp-in studio=0.0.0.0:7000", "line 1: channel studio has no output", "rtp-out studio=ADDRESS:PORT"),
        ("rtp-out studio=10.0.0.7:5004", "line 1: channel studio has no input", "rtp-in studio=BIND:PORT"),
        (
            family + "rtp-in family=0.0.0.0:7000\nrtp-out family=10.0.0.7:5004",
            "line 2: channel family is encrypted", "rename"
        ),
        ("status-socket", "status-socket needs a path", "107"),
        ("metrics localhost:9104", "line 1: metrics needs a port, such as 9104", "10.0.0.7:9104"),
        ("metrics 70000", "line 1: metrics needs a port", "such as 9104"),
        ("metrics 9104\nmetrics 9105", "line 2: metrics appears a second time", "keep one"),
        ("", "no channel is configured", "tenfour channel new"),
        ("# nothing", "no channel is configured", "tenfour channel new"),
    ])
    func anErrorSaysWhereWhatAndWhatHelps(text: String, what: String, remedy: String) {
        do throws(RelayFileErrors) {
            _ = try read(text, files: ["broken": "10.0.0.7:5004\n10.0.0.7\n"])
            Issue.record("accepted without an error")
        } catch {
            #expect(error.description.contains(what) && error.description.contains(remedy), "\(error)")
            #expect(error.count == 1, "\(error)")
            for key in [Self.talk, Self.listen] { #expect(!error.description.contains(key.prefix(10)), "\(error)") }
        }
    }

    @Test func everythingThatIsWrongIsReportedWithItsLine() {
        let text = """
            workers 0
            \(Self.family)nonsense
            rtp-in studio=0.0.0.0:7000
            rtp-out studio=@broken
            channel family talk=x listen=y
            rtp-in family=0.0.0.0:7002
            rtp-out studio=127.0.0.1:7000
            """
        do throws(RelayFileErrors) {
            _ = try read(text, files: ["broken": "10.0.0.7\n10.0.0.8:5004\n10.0.0.8:5004\n"])
            Issue.record("accepted without an error")
        } catch {
            let lines = error.description.split(separator: "\n")
            let places = [
                "relay.conf, line 1: workers", "  relay.conf, line 3: 'nonsense'", "  broken, line 1: write one",
                "  broken, line 3: rtp-out studio=10.0.0.8:5004 appears", "  relay.conf, line 6: the value of talk=",
                "  relay.conf, line 8: channel studio goes to 127.0.0.1:7000",
                "  relay.conf, line 7: channel family is encrypted",
            ]
            #expect(lines.count == places.count && error.count == places.count, "\(error)")
            for (line, place) in zip(lines, places) { #expect(line.hasPrefix(place), "\(error)") }
            #expect(!error.isMissingFile)
        }
    }

    @Test func onlyTheFirstErrorsAreReported() {
        do throws(RelayFileErrors) {
            _ = try read("workers 2\n" + String(repeating: "nonsense\n", count: 5_000))
            Issue.record("accepted without an error")
        } catch {
            #expect(error.count == 1_000 && error.first.count == 20)
            #expect(error.description.split(separator: "\n").count == 21)
            #expect(error.description.hasSuffix("\n  and 980 more"))
        }
    }

    /// A faulty line is not also reported as missing.
    @Test func oneErrorIsNotToldTwice() {
        for text in ["channel family talk=x listen=y", "rtp-in studio=bob\nrtp-out studio=10.0.0.7:5004"] {
            do throws(RelayFileErrors) {
                _ = try read(text)
                Issue.record("accepted without an error")
            } catch { #expect(error.count == 1, "\(error)") }
        }
    }

    @Test(arguments: [
        "[Unit]\nDescription=a\n[Service]\nExecStart=/bin/true\n", "{\n  \"key\": 1,\n  \"a\": 2\n}\n",
        "\u{1}\n\u{2}\n\u{3}\n\u{4}",
    ])
    func aFileOfAnotherKindIsReportedOnce(_ text: String) throws {
        for bytes in [Array(text.utf8), Array(text.utf8).map { $0 == 0x0A ? $0 : $0 | 0x80 }] {
            var file = RelayFile()
            file.add(bytes.span, of: "other.conf")
            let errors = #expect(throws: RelayFileErrors.self) { try file.finished() }
            #expect(errors?.count == 1 && errors?.first.map(\.reason) == [.foreign])
            #expect(errors?.description.hasPrefix("other.conf: the file is not a relay's configuration") == true)
        }
        var file = RelayFile()
        file.add(Array("nmae a\nbind 0.0.0.0:0\nfoo\n".utf8).span, of: "relay.conf")
        let errors = #expect(throws: RelayFileErrors.self) { try file.finished() }
        #expect(errors?.first.map(\.reason) == [.unknown("nmae"), .unknown("foo")])
    }

    @Test func bytesThatAreNoTextAreRefused() throws {
        var file = RelayFile()
        let bytes: [UInt8] = Array("# \u{FC} is fine\nname ".utf8) + [0xFF, 0xFE]
        file.add(bytes.span, of: "relay.conf")
        let huge = [UInt8](repeating: UInt8(ascii: "\n"), count: RelayFile.maximumByteCount + 1)
        file.add(huge.span, of: "huge.conf")
        do throws(RelayFileErrors) {
            _ = try file.finished()
            Issue.record("accepted without an error")
        } catch {
            #expect(error.first.map(\.reason) == [.notUTF8, .tooLarge])
            #expect(
                error.description.contains("relay.conf, line 2: the file is not UTF-8")
                    && error.description.contains("\n  huge.conf: the file is larger"))
        }
    }

    @Test func thousandsOfTargetsAreTakenAndNoMoreThanThereMayBe() throws {
        func list(_ count: Int) -> String {
            (0..<count).map { "10.\($0 >> 16).\($0 >> 8 & 255).\($0 & 255):5004\n" }.joined()
        }
        let text = "rtp-in studio=0.0.0.0:7000\nrtp-out studio=@all"
        #expect(try read(text, files: ["all": list(5_000)]).1.plain[0].targets.count == 5_000)
        do throws(RelayFileErrors) {
            _ = try read(text, files: ["all": list(RelayFile.maximumTargetCount + 1)])
            Issue.record("accepted without an error")
        } catch { #expect(error.first.map(\.reason) == [.tooMany("addresses")]) }
    }
}
