import Glibc
import TestSupport
import Testing

/// Tests a relay's configuration, forwarding and status.
@Suite(.onItsOwnThread, .inRealTime) struct RelayTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private struct Channel {
        var talk: String
        var listen: String
        var line: String

        init(_ name: String, port: UInt16) throws {
            let lines = try tenfour(["channel", "new", name, "--relay", "127.0.0.1:\(port)"]).output.split(
                separator: "\n")
            try #require(lines.count == 3)
            (talk, listen, line) = (String(lines[0]), String(lines[1]), String(lines[2]))
        }
    }

    private func configure(_ lines: [String]) {
        folder.write((["bind 127.0.0.1:\(port)"] + lines).joined(separator: "\n"), to: "relay.conf")
    }

    private func startRelay(_ options: [String] = []) throws -> Program {
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"] + options, in: folder)
        try #require(relay.says("relaying on 127.0.0.1:\(port)"), "\(relay.errors)")
        return relay
    }

    /// The directory of the default path is a link that another user may have laid there.
    @Test func noStatusSocketIsMadeBehindASymbolicLink() throws {
        configure([try Channel("family", port: port).line])
        try tool("mkdir", "elsewhere", "runtime")
        try tool("ln", "-s", "../elsewhere", "runtime/tenfour")
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf"], in: folder,
            environment: ["XDG_RUNTIME_DIR": folder("runtime")])
        try #require(relay.says("there is no status socket: "), "\(relay.errors)")
        #expect(relay.errors.contains("choose another path with --status-socket"), "\(relay.errors)")
        try #require(relay.says("relaying on 127.0.0.1:\(port)"), "\(relay.errors)")
        #expect(try Program.run("ls", ["elsewhere"], in: folder).output.isEmpty)
        RoutedHosts.end([relay])
    }

    private func tool(_ name: String, _ arguments: String...) throws {
        #expect(try Program.run(name, arguments, in: folder).end == .code(0))
    }

    @Test func inATerminalKeysHelpAndStopIt() throws {
        configure([try Channel("family", port: port).line])
        let terminal = Terminal()
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "keys.sock"], in: folder,
            terminal: terminal)
        try #require(relay.says("q stops, ? shows the keys"), "\(terminal.shown)")
        terminal.type("?")
        #expect(relay.says("q stops the relay"), "\(terminal.shown)")
        terminal.type("q")
        #expect(relay.wait() == .code(0) && terminal.shown.contains("tenfour: stopped"), "\(terminal.shown)")
    }

    /// A session that is quit while the relay is gone ends with an error code.
    @Test func aKeyThatQuitsWithoutARelayEndsWithItsCode() throws {
        let terminal = Terminal()
        let listener = try Program(
            "tenfour", ["listen", "-o", "heard.wav"], in: folder,
            environment: ["TENFOUR_LINK": try Channel("family", port: port).listen], terminal: terminal)
        try #require(listener.says("nobody answers at 127.0.0.1:\(port)"), "\(terminal.shown)")
        terminal.type("q")
        #expect(listener.wait() == .code(69), "\(terminal.shown)")
    }

    private func status(_ options: [String] = []) throws -> String {
        let result = try tenfour(["relay", "status", "--socket", "relay.sock"] + options, in: folder)
        #expect(result.end == .code(0), "\(result.errors)")
        return result.output
    }

    @Test func aChannelIsHeardAndItsRelayTellsOfIt() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 6)]).wav(), to: "tone.wav")
        let family = try Channel("family", port: port)
        configure([family.line])
        let relay = try startRelay()
        let listener = try Program(
            "tenfour", ["listen", "-o", "heard.wav"], in: folder, environment: ["TENFOUR_LINK": family.listen])
        try #require(listener.says("in the channel"), "\(listener.errors)")
        let talker = try Program(
            "tenfour", ["send", "--input", "tone.wav"], in: folder, environment: ["TENFOUR_LINK": family.talk])
        try #require(listener.says("hearing"), "\(listener.errors)")
        let row = /family +2 +1 +1 +[1-9][0-9]* +[1-9][0-9]* +0 .*/
        var table = ""
        relay.wait(.seconds(10)) {
            table = (try? status()) ?? ""
            return table.split(separator: "\n").contains { $0.wholeMatch(of: row) != nil }
        }
        #expect(table.hasPrefix("relaying on 127.0.0.1:\(port) for 0 h 0 min "), "\(table)")
        #expect(table.split(separator: "\n").contains { $0.wholeMatch(of: row) != nil }, "\(table)")
        let json = try status(["--json"])
        #expect(json.contains(#""name": "family", "encrypted": true, "members": 2, "listeners": 1"#), "\(json)")
        #expect(talker.wait() == .code(0), "\(talker.errors)")

        relay.send(SIGTERM)
        #expect(relay.wait() == .code(0), "\(relay.errors)")
        #expect(relay.errors.hasSuffix("tenfour: stopped\n"))
        listener.wait(.seconds(5)) { listener.errors.contains("stopping") }
        #expect(listener.errors.contains("stopping"), "\(listener.errors)")
        listener.send(SIGINT)
        #expect(listener.wait() == .code(0))
        let heard = try Recording(wav: folder("heard.wav"))
        let tone = try #require(Tone(in: heard.channels[0]))
        #expect(tone.duration > 3 && abs(tone.frequency - Tone.telling) < 1, "\(tone)")
        #expect(unsafe access(folder("relay.sock"), F_OK) != 0)
        for key in family.line.split(separator: "=").dropFirst().map({ String($0.prefix(10)) }) {
            #expect(!relay.errors.contains(key) && !table.contains(key) && !json.contains(key))
        }
    }

    @Test func itsConfigurationIsReadAgainUnlessItIsInvalid() throws {
        let (family, other) = (try Channel("family", port: port), try Channel("other", port: port))
        configure([family.line, other.line])
        let relay = try startRelay()
        func listen(_ link: String) throws -> Program {
            let listener = try Program(
                "tenfour", ["listen", "-o", "/dev/null"], in: folder, environment: ["TENFOUR_LINK": link])
            try #require(listener.says("in the channel"), "\(listener.errors)")
            return listener
        }
        let (stays, goes) = (try listen(family.listen), try listen(other.listen))

        configure([family.line, "nonsense"])
        relay.send(SIGHUP)
        #expect(relay.says("because the new one has an error: relay.conf, line 3: 'nonsense'"), "\(relay.errors)")
        #expect(try status().contains("\nother "))

        configure([family.line])
        relay.send(SIGHUP)
        #expect(relay.says("read again: 1 channel"), "\(relay.errors)")
        #expect(goes.wait() == .code(69), "\(goes.errors)")
        #expect(goes.errors.contains("no longer has this channel"), "\(goes.errors)")
        let table = try status()
        #expect(table.firstMatch(of: #/family +1 +1 /#) != nil, "\(table)")
        #expect(!table.contains("\nother "))
        #expect(stays.isRunning && stays.errors.split(separator: "in the channel").count == 2, "\(stays.errors)")
    }

    /// A script recognises the refusal or removal by the exit code.
    @Test func aRefusedOrRemovedMemberHasFailed() throws {
        let family = try Channel("family", port: port)
        let alone = try tenfour(
            ["listen", "-o", "never.wav", "-d", "1"], in: folder, environment: ["TENFOUR_LINK": family.listen])
        #expect(alone.end == .code(69))
        #expect(
            alone.errors.hasSuffix(
                "tenfour: nobody answers at the link's address: check that the relay runs, or the station that forwards the channel\n"
            ),
            "\(alone.errors)")
        configure([family.line])
        let relay = try startRelay()
        let other = try Channel("other", port: port)
        let refused = try tenfour(
            ["listen", "-o", "never.wav", "-d", "20"], in: folder, environment: ["TENFOUR_LINK": other.listen])
        #expect(refused.end == .code(69) && refused.errors.contains("the link's secret is wrong"), "\(refused.errors)")
        let listener = try Program(
            "tenfour", ["listen", "-o", "heard.wav", "-d", "4"], in: folder,
            environment: ["TENFOUR_LINK": family.listen])
        try #require(listener.says("in the channel"), "\(listener.errors)")
        relay.send(SIGTERM)
        #expect(listener.wait() == .code(69), "\(listener.errors)")
        #expect(listener.errors.contains("the relay is stopping"), "\(listener.errors)")
    }

    @Test func anotherStatusSocketIsForTheNextStart() throws {
        let family = try Channel("family", port: port)
        configure([family.line, "status-socket one.sock"])
        let relay = try Program("tenfour", ["relay", "--config", "relay.conf"], in: folder)
        try #require(relay.says("relaying on 127.0.0.1:\(port)"), "\(relay.errors)")
        configure([family.line, "status-socket two.sock"])
        relay.send(SIGHUP)
        #expect(relay.says("the new path of the status socket takes effect after a restart"), "\(relay.errors)")
    }

    @Test func everyErrorOfAConfigurationIsReported() throws {
        configure(["workers 0", "nonsense", "channel family talk=x listen=y"])
        let result = try tenfour(["relay", "--config", "relay.conf", "--check"], in: folder)
        #expect(result.end == .code(78) && result.output == "")
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 3 && lines[0].hasPrefix("tenfour: relay.conf, line 2: workers"), "\(result.errors)")
        #expect(lines[1].hasPrefix("  relay.conf, line 3: ") && lines[2].hasPrefix("  relay.conf, line 4: "))
    }

    @Test func itsOptionsMayComeFromTheEnvironment() throws {
        let family = try Channel("family", port: port)
        configure([family.line + " members=7"])
        let environment = [
            "TENFOUR_CONFIG": "relay.conf", "TENFOUR_WORKERS": "3", "TENFOUR_BIND": "127.0.0.1:\(port + 1)",
            "TENFOUR_RTP_IN": "studio=127.0.0.1:7000", "TENFOUR_STATUS_SOCKET": "other.sock",
            "TENFOUR_RTP_OUT": "studio=10.0.0.7:5004 studio=10.0.0.8:5004",
        ]
        let result = try tenfour(["relay", "--check", "--workers", "2"], in: folder, environment: environment)
        #expect(result.end == .code(0), "\(result.errors)")
        for words in [
            "listens on 127.0.0.1:\(port + 1), sends from 2 threads", "other.sock", "to 2 addresses",
            "channel family: accepts 7 members; several may talk at once\n",
        ] { #expect(result.output.contains(words), "\(result.output)") }
        let status = try tenfour(["relay", "status"], in: folder, environment: environment)
        #expect(
            status.end == .code(69) && status.errors.contains("no status from the socket other.sock"),
            "\(status.errors)")
    }

    @Test func standardRTPIsPassedOnToWhomItNames() throws {
        let target = PlainSocket()
        let list = PlainSocket()
        folder.write("# all\n127.0.0.1:\(list.port)\n", to: "list")
        let input = UDPPort.free()
        let relay = try Program(
            "tenfour",
            [
                "relay", "--bind", "127.0.0.1:\(port)", "--workers", "2", "--status-socket", "relay.sock",
                "--rtp-in", "studio=127.0.0.1:\(input),from=127.0.0.1", "--rtp-out", "studio=127.0.0.1:\(target.port)",
                "--rtp-out", "studio=@list",
            ], in: folder)
        try #require(relay.says("receiving for studio on 127.0.0.1:\(input), not encrypted"), "\(relay.errors)")
        let packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0xFC]
        target.send(packet, toPort: input)
        #expect(target.receive(within: 5_000) == packet)
        #expect(list.receive(within: 5_000) == packet)
        let row = #/studio \(plain\) +2 +2 +0 +1 +2 /#
        var table = ""
        // Each worker thread counts separately, so the total may appear later.
        relay.wait(.seconds(10)) {
            table = (try? status()) ?? ""
            return table.firstMatch(of: row) != nil
        }
        #expect(table.firstMatch(of: row) != nil, "\(table)")
    }

    @Test func aCheckSaysWhatItComesTo() throws {
        let family = try Channel("family", port: port)
        configure([
            family.line, try Channel("fire", port: port).line + " floor=required talk-time=60",
            try Channel("crew", port: port).line + " floor=on", "rtp-in studio=0.0.0.0:7000,from=10.0.0.7",
            "rtp-out studio=10.0.1.20:5004", "workers 3",
        ])
        let result = try tenfour(["relay", "--config", "relay.conf", "--check"], in: folder)
        #expect(result.end == .code(0) && result.errors.isEmpty)
        for words in [
            "listens on 127.0.0.1:\(port), sends from 3 threads", "10000 members",
            "channel family: several may talk at once\n", "channel fire: one talks at a time, for at most 60 s\n",
            "channel crew: grants the floor to those who ask for it, for at most 180 s; others may talk, too\n",
            "channel studio, not encrypted: 0.0.0.0:7000 from 10.0.0.7 to 1 address\n",
        ] { #expect(result.output.contains(words), "\(result.output)") }
        #expect(!UDPPort.isBound(port))
    }

    @Test(arguments: [0o640, 0o604, 0o660] as [mode_t])
    func keysThatOthersMayReadAreRefused(mode: mode_t) throws {
        configure([try Channel("family", port: port).line])
        unsafe chmod(folder("relay.conf"), mode)
        for check in [["--check"], []] {
            let result = try tenfour(["relay", "--config", "relay.conf"] + check, in: folder)
            #expect(result.end == .code(69) && result.output.isEmpty)
            #expect(
                result.errors.contains("relay.conf: other users may read it (mode \(String(mode, radix: 8)))")
                    && result.errors.contains("chmod 600 relay.conf"), "\(result.errors)")
        }
        // A configuration without channel keys contains no secret, so others may read it.
        configure(["rtp-in studio=0.0.0.0:7000", "rtp-out studio=10.0.1.20:5004"])
        unsafe chmod(folder("relay.conf"), mode)
        #expect(try tenfour(["relay", "--config", "relay.conf", "--check"], in: folder).end == .code(0))
    }

    @Test func onlyWhatLiesAmongTheCredentialsOfSystemdMayBeReadByOthers() throws {
        configure([try Channel("family", port: port).line])
        unsafe chmod(folder("relay.conf"), 0o644)
        for (credentials, code) in [(folder.path, Int32(0)), ("", 69), (folder("relay"), 69), ("/", 69)] {
            let result = try tenfour(
                ["relay", "--config", folder("relay.conf"), "--check"], in: folder,
                environment: ["CREDENTIALS_DIRECTORY": credentials])
            #expect(result.end == .code(code), "\(credentials): \(result.errors)")
        }
    }

    @Test func aConfigurationThatOthersMayReadChangesNothing() throws {
        configure([try Channel("family", port: port).line])
        let relay = try startRelay()
        unsafe chmod(folder("relay.conf"), 0o644)
        relay.send(SIGHUP)
        #expect(
            relay.says("because the new one has an error: relay.conf: other users may read it (mode 644)"),
            "\(relay.errors)")
        #expect(UDPPort.isBound(port))
    }

    @Test func theExampleIsAConfigurationOnceItHasAChannel() throws {
        let example = try tenfour(["relay", "--example"])
        #expect(example.end == .code(0) && example.errors == "")
        let family = try Channel("family", port: port)
        folder.write(example.output + family.line + "\n", to: "relay.conf")
        let result = try tenfour(["relay", "--config", "relay.conf", "--check"], in: folder)
        #expect(result.end == .code(0) && result.output.contains("channel family"), "\(result.errors)")
    }

    @Test(arguments: [
        Misuse("relay --config missing.conf", 69, "missing.conf cannot be read"),
        Misuse("relay --config bad.conf --check", 78, "bad.conf, line 2: workers needs a number from 1 to 64"),
        Misuse("relay --config bad.conf", 78, "bad.conf, line 2"),
        Misuse("relay --config empty.conf", 78, "no channel", "tenfour channel new"),
        Misuse("relay --rtp-in studio=0.0.0.0:7000", 78, "--rtp-in: channel studio has no output", "rtp-out"),
        Misuse("relay --rtp-in studio=0.0.0.0:7000 --rtp-out studio=@none", 69, "--rtp-out: none cannot be read"),
        Misuse(
            "relay --rtp-in a=192.0.2.1:7000 --rtp-out a=127.0.0.1:9 --bind 127.0.0.1:0", 69,
            "192.0.2.1 is not an address"),
        Misuse("relay", 2, "--config FILE", "--example", "--rtp-in"),
        Misuse(
            "relay staus", 2, "no command 'tenfour relay staus'", "write tenfour relay status", "tenfour relay --help"),
        Misuse("relay status --socket no.sock", 69, "no relay uses this socket", "--socket"),
    ])
    func wrongUseGetsAClearError(misuse: Misuse) throws {
        folder.write("# comment\nworkers 0\n", to: "bad.conf")
        folder.write("", to: "empty.conf")
        let result = try tenfour(misuse.arguments, in: folder)
        #expect(result.end == .code(misuse.code), "\(result.errors)")
        #expect(result.output == "")
        #expect(
            result.errors.hasPrefix("tenfour: ") && result.errors.dropLast().contains("\n") == false, "\(result.errors)"
        )
        for word in misuse.words { #expect(result.errors.contains(word), "\(result.errors)") }
    }

    @Test(arguments: [
        Misuse("relay --config x --workers 65", 2, "1 to 64"),
        Misuse("relay --config x --bind bob:1", 2, "0.0.0.0:5004"),
    ])
    func wrongOptionsAreReportedWithTheUsage(misuse: Misuse) throws {
        let result = try tenfour(misuse.arguments, in: folder)
        #expect(result.end == .code(misuse.code) && result.output == "", "\(result.errors)")
        #expect(
            result.errors.hasPrefix("tenfour: ") && result.errors.contains("; see 'tenfour relay --help'"),
            "\(result.errors)")
        for word in misuse.words { #expect(result.errors.contains(word), "\(result.errors)") }
    }
}
