import Glibc
import TestSupport
import Testing

/// Listening to a relay's channels over HTTP.
@Suite(.onItsOwnThread, .inRealTime) struct WebTests {
    private let folder = Folder()
    private let port = UDPPort.free()
    private let plainPort = UDPPort.free()
    private let httpPort = UDPPort.free()
    private let talk: String
    private let listen: String
    private let line: String

    init() throws {
        let made = try tenfour(["channel", "new", "family", "--relay", "127.0.0.1:\(port)"])
        let lines = made.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 3)
        (talk, listen, line) = (lines[0], lines[1], lines[2])
        folder.write(listen + "\n", to: "family.link")
        folder.write("open sesame\n".replacing(" ", with: "-"), to: "token")
        folder.write(Recording(channels: [Tone.samples(seconds: 8)]).wav(), to: "tone.wav")
    }

    private func configure(_ lines: [String]) {
        let first = ["bind 127.0.0.1:\(port)", line, "rtp-in news=127.0.0.1:\(plainPort)"]
        folder.write((first + ["http 127.0.0.1:\(httpPort)"] + lines).joined(separator: "\n"), to: "relay.conf")
    }

    private func startRelay() throws -> Program {
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
        try #require(relay.says("relaying on 127.0.0.1:\(port)"), "\(relay.errors)")
        try #require(relay.errors.contains("listeners over HTTP connect to http://127.0.0.1:\(httpPort)/"))
        return relay
    }

    private func sendTone(_ options: [String]) throws -> Program {
        try Program(
            "tenfour", ["send", "--input", "tone.wav"] + options, in: folder, environment: ["TENFOUR_LINK": ""])
    }

    private func sendTone(name: String) throws -> Program {
        try Program(
            "tenfour", ["send", "--input", "tone.wav", "--name", name], in: folder,
            environment: ["TENFOUR_LINK": talk])
    }

    private func get(_ target: String, host: String = "127.0.0.1") -> HTTPExchange {
        .get(target, port: httpPort, host: host)
    }

    /// Waits until the events of a channel contain `text`.
    private func events(of path: String, contain text: String, seconds: Double = 20) -> (Bool, String) {
        let events = HTTPExchange(path, port: httpPort)
        return (events.read(seconds: seconds) { $0.text.contains(text) }, events.head + events.text)
    }

    @Test func bothKindsOfChannelsAreHeardInBothContainers() throws {
        configure(["web family", "web news"])
        let relay = try startRelay()
        let talkers = [
            try sendTone(name: "</script> \"Anna\""), try sendTone(["rtp://127.0.0.1:\(plainPort)"]),
        ]
        let (isTold, events) = events(
            of: "/family/events", contain: #""talker": { "name": "</script> \"Anna\"", "seconds": "#)
        #expect(isTold && events.contains(#""live": true"#) && events.contains("\r\n\r\nretry: 1000\n\n"), "\(events)")
        let files = ["family.ogg", "family.webm", "news.ogg", "news.webm"]
        let players = try files.map { file in
            try Program(
                "ffmpeg",
                ["-v", "error", "-t", "2", "-i", "http://127.0.0.1:\(httpPort)/\(file)", "-ac", "1", "\(file).wav"],
                in: folder)
        }
        for (file, player) in zip(files, players) {
            #expect(player.wait(.seconds(20)) == .code(0), "\(file): \(player.errors)")
            let heard = try Recording(wav: folder("\(file).wav"))
            let tone = try #require(Tone(in: heard.channels[0]), "\(file)")
            #expect(abs(tone.frequency - Tone.telling) < 5 && tone.holes == [], "\(file): \(tone)")
        }
        for talker in talkers { talker.send(SIGINT) }
        relay.send(SIGTERM)
        #expect(relay.wait() == .code(0), "\(relay.errors)")
    }

    @Test func listenersOverHTTPAreCountedAndTheGatewayIsNot() throws {
        configure(["web family", "web news"])
        let relay = try startRelay()
        func people() throws -> String {
            let talker = try sendTone(name: "Anna")
            defer { talker.send(SIGINT) }
            _ = talker.says("here", within: .seconds(10))
            return talker.errors
        }
        let (isLive, state) = events(of: "/family/events", contain: #""live": true"#)
        #expect(isLive, "\(state)")
        sleep(1)
        #expect(try people().contains("nobody else is here"))
        let listeners = (0..<3).map { _ in HTTPExchange("/family.ogg", port: httpPort) }
        let (isTold, told) = events(of: "/family/events", contain: #""listeners": 3"#)
        #expect(isTold, "\(told)")
        // The relay publishes its status once a second.
        var status = ""
        for _ in 0..<100 where !status.contains("\"http_listeners\": 3") {
            status = try tenfour(["relay", "status", "--json", "--socket", "relay.sock"], in: folder).output
            usleep(100_000)
        }
        #expect(status.contains("\"http_listeners\": 3"), "\(status)")
        sleep(1)
        let seen = try people()
        #expect(seen.contains("3 listeners"), "\(seen)")
        withExtendedLifetime((relay, listeners)) {}
    }

    @Test func whatIsNotOfferedIsNotThere() throws {
        configure(["web family token=token show-link", "web news", "web-address https://radio.example.org/"])
        let relay = try startRelay()
        for target in [
            "/family", "/family.ogg", "/family.webm?token=open", "/family/events?token=", "/family/qr.svg", "/gone",
            "/gone.ogg", "/news.mp3", "/news.sdp", "/news/", "/news/x", "/news/events/", "//", "/NEWS", "/.ogg",
            "/family.sdp?token=open-sesame",
        ] {
            let answer = get(target)
            #expect(answer.status == 404, "\(target): \(answer.head)")
            #expect(answer.text == "There is nothing at this address; check its spelling and the token, if any.\n")
        }
        #expect(
            get("/channels.json").text
                == "{ \"channels\": [{ \"name\": \"news\", \"listeners\": 0, \"talker\": null }] }\n")
        #expect(get("/channels.json?token=open-sesame").text.contains(#""name": "family""#))
        for target in ["/", "/news", "/family?token=open-sesame"] {
            let page = get(target)
            #expect(page.status == 200 && page.text.hasPrefix("<!DOCTYPE html>"), "\(target)")
            #expect(page.head.contains("Content-Security-Policy: default-src 'none'; style-src 'sha256-"))
        }
        #expect(get("/family/qr.svg?token=open-sesame").text.hasPrefix("<svg "))
        #expect(get("/news/qr.svg").head.contains("Content-Type: image/svg+xml"))
        let (isTold, state) = events(of: "/family/events?token=open-sesame", contain: #""link": "\#(listen)""#)
        #expect(isTold && state.contains(#""address": "https://radio.example.org/family""#), "\(state)")
        // A channel whose packets are G.711 has no stream.
        let talker = try sendTone(["rtp://127.0.0.1:\(plainPort)", "--codec", "pcmu"])
        var answer = get("/news/qr.svg")
        relay.wait(.seconds(10)) {
            let stream = HTTPExchange("/news.ogg", port: httpPort)
            stream.read(seconds: 1) { $0.status == 404 || $0.isClosed }
            answer = stream
            return stream.status == 404
        }
        answer.read()
        #expect(answer.text.hasPrefix("This channel is G.711"), "\(answer.text)")
        talker.send(SIGINT)
    }

    /// A page of another site whose name leads to this machine by now (DNS rebinding), and the names of the operator.
    @Test func onlyNamesThatTheOperatorHasWrittenAreAnswered() throws {
        let metrics = UDPPort.free()
        let lines = [
            "web family show-link", "web news", "web-address https://page.example:8443/x/", "name relay.example",
            "metrics \(metrics)",
        ]
        configure(lines + ["http-host radio.lan Pi.Local"])
        let relay = try startRelay()
        for target in ["/", "/family", "/family/events", "/family/qr.svg", "/family.ogg", "/channels.json", "/gone"] {
            let answer = get(target, host: "evil.example:\(httpPort)")
            #expect(answer.status == 421 && answer.text.contains("write http-host evil.example into relay.conf"))
            #expect(!(answer.head + answer.text).contains("tenfour://"), "\(target)")
        }
        #expect(HTTPExchange.get("/metrics", port: metrics, host: "evil.example").status == 421)
        #expect(HTTPExchange.get("/healthz", port: metrics, host: "evil.example").status == 421)
        for host in [
            "127.0.0.1", "localhost:8080", "[::1]", "radio.lan", "pi.local.:80", "page.example", "relay.example",
        ] {
            #expect(get("/family", host: host).status == 200, "\(host)")
            #expect(HTTPExchange.get("/metrics", port: metrics, host: host).status == 200, "\(host)")
        }
        #expect(
            relay.says(
                "host not accepted; if evil.example is a name of this machine, write http-host evil.example into relay.conf"
            ), "\(relay.errors)")
        var status = ""
        #expect(
            relay.wait(.seconds(10)) {
                status = (try? tenfour(["relay", "status", "--socket", "relay.sock"], in: folder).output) ?? ""
                return status.contains("7 requests answered; refused: 7 host not accepted\n")
            }, "\(status)")
        let json = try tenfour(["relay", "status", "--json", "--socket", "relay.sock"], in: folder).output
        #expect(json.contains("\"requests\": 7") && json.contains("\"host_not_accepted\": 7"), "\(json)")
        let text = HTTPExchange.get("/metrics", port: metrics).text
        #expect(text.contains("\ntenfour_http_requests_total 7\n"), "\(text)")
        #expect(text.contains("\ntenfour_http_refusals_total{reason=\"host_not_accepted\"} 7\n"))
        // The names may change while the relay runs.
        configure(lines + ["http-host evil.example"])
        relay.send(SIGHUP)
        #expect(relay.wait(.seconds(10)) { get("/family", host: "evil.example").status == 200 })
        #expect(
            relay.wait(.seconds(10)) {
                HTTPExchange.get("/metrics", port: metrics, host: "evil.example").status == 200
            })
        #expect(get("/family", host: "radio.lan").status == 421)
    }

    @Test func aLinksRelayIsANameOfTheOperator() throws {
        folder.write(listen.replacing("127.0.0.1", with: "home.example") + "\n", to: "family.link")
        configure(["web family", "web news"])
        let relay = try startRelay()
        #expect(get("/family", host: "home.example").status == 200 && get("/family", host: "home").status == 421)
        withExtendedLifetime(relay) {}
    }

    /// Only a proxy that the operator names says for whom it asks.
    @Test func forwardedAddressesAreBelievedFromNamedProxiesOnly() throws {
        configure(["web news"])
        let relay = try startRelay()
        let fields = "X-Forwarded-For: 192.0.2.1\r\n"
        var listeners = (0..<64).map { _ in HTTPExchange("/news.ogg", port: httpPort, fields: fields) }
        for listener in listeners { #expect(listener.read { $0.status == 200 }) }
        let last = HTTPExchange("/news.ogg", port: httpPort, fields: "X-Forwarded-For: 192.0.2.2\r\n")
        #expect(last.read { $0.isClosed } && last.status == 0)
        #expect(
            relay.says("127.0.0.1 names clients in X-Forwarded-For, which is ignored: if it is a proxy of yours, write")
        )
        #expect(relay.says("refused over HTTP: 1 connection refused"), "\(relay.errors)")
        listeners = []
        configure(["web news", "web-proxy 127.0.0.1"])
        relay.send(SIGHUP)
        #expect(relay.says("the configuration was read again"))
        #expect(
            relay.wait(.seconds(10)) {
                listeners = (0..<65).map { number in
                    let fields = "X-Forwarded-For: 192.0.2.\(number % 2)\r\n"
                    return HTTPExchange("/news.ogg", port: httpPort, fields: fields)
                }
                return listeners.allSatisfy { $0.read { $0.status != 0 || $0.isClosed } && $0.status == 200 }
            })
    }

    @Test func channelsComeAndGoWhenTheConfigurationIsReadAgain() throws {
        configure(["web news"])
        let relay = try startRelay()
        let stays = HTTPExchange("/news.ogg", port: httpPort)
        #expect(stays.read { $0.text.contains("OpusTags") })
        #expect(get("/family").status == 404)

        configure(["web news", "web family"])
        relay.send(SIGHUP)
        #expect(relay.wait(.seconds(10)) { get("/family").status == 200 })
        let (isLive, state) = events(of: "/family/events", contain: #""live": true"#)
        #expect(isLive, "\(state)")
        let goes = HTTPExchange("/family.webm", port: httpPort)
        #expect(goes.read { $0.body.count > 500 })

        configure(["web news", "web family link=other.link"])
        relay.send(SIGHUP)
        #expect(relay.says("keeps its configuration") && relay.errors.contains("other.link: the file cannot be read"))
        configure(["web news"])
        relay.send(SIGHUP)
        #expect(goes.read { $0.isClosed })
        let before = stays.body.count
        #expect(stays.read { $0.body.count > before + 1_000 } && !stays.isClosed)

        // After a restart of the relay, a listener who asks again hears again.
        relay.send(SIGKILL)
        relay.wait()
        #expect(stays.read { $0.isClosed })
        let next = try startRelay()
        let again = HTTPExchange("/news.ogg", port: httpPort)
        #expect(again.read(seconds: 5) { $0.body.count > 1_000 })
        withExtendedLifetime(next) {}
    }

    @Test(arguments: [
        (0o644, "", "other users may read it (mode 644)", "chmod 600"),
        (0o600, "gone", "its first line is not a channel's link", "tenfour://"),
        (
            0o600, "tenfour://127.0.0.1/family#listen-fzzz-dr7q-fczp-dl2j-liaj-6tc7-cs6d",
            "its link does not match the keys in the line of channel family", "write the listen link"
        ),
        (0o600, "two words", "its first line is not the listen link of channel family", "without spaces"),
    ])
    func aLinkThatCannotBeUsedIsRefused(mode: Int, content: String, what: String, remedy: String) throws {
        configure(["web family", "web news"])
        if !content.isEmpty { folder.write(content + "\n", to: "family.link") }
        unsafe chmod(folder("family.link"), mode_t(mode))
        let result = try tenfour(["relay", "--config", "relay.conf", "--check"], in: folder)
        #expect(result.end != .code(0))
        #expect(result.errors.contains("family.link") && result.errors.contains(what), "\(result.errors)")
        #expect(result.errors.contains(remedy), "\(result.errors)")
    }
}
