import Foundation
import TestSupport
import Testing

/// The relay's page in Chromium, as Tools/Programs/webpage drives it. Firefox needs a sound card: Tools/desktop check.
@Suite(.onItsOwnThread, .inRealTime) struct BrowserTests {
    private let folder = Folder()
    private let port = UDPPort.free()
    private let web = UDPPort.free()
    private let studio = UDPPort.free()
    private let weather = UDPPort.free()

    /// The state of the page at one moment.
    private struct Look: Decodable {
        /// Seconds since Listen was pressed.
        var at: Double
        /// The media element's time in seconds.
        var time: Double?
        /// The frequency in hertz that the page's analyser measures; nil in silence.
        var frequency: Double?
        var meter: String
        var title: String
        var talker: String
        var listeners: String
        var state: String
        var button: String
        var warning: String
        /// The number of links in the list of channels.
        var channels: Int
        /// The text of this list.
        var list: String
        /// The number of elements within the line of the talker: the name and the seconds.
        var elements: Int

        var hearsTheTone: Bool { frequency.map { abs($0 - Tone.telling) < 5 } ?? false }
    }

    /// The page's console messages and requests since it was opened.
    private struct Summary: Decodable {
        var console: [String]
        var requests: [String]
    }

    private func startRelay() throws -> Program {
        let relay = try Program("tenfour", ["relay", "--config", "relay.conf"], in: folder)
        try #require(relay.says("http://127.0.0.1:\(web)/"), "\(relay.errors)")
        return relay
    }

    private func open(_ path: String = "", _ options: [String] = [], seconds: Int) throws -> Program {
        let tool = Repository.path("Tools/Programs/webpage")
        let address = "http://127.0.0.1:\(web)/\(path)"
        return try Program("python3", ["-B", tool, "--seconds", "\(seconds)"] + options + [address], in: folder)
    }

    private func looks(of page: Program) -> [Look] {
        page.outputText.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Look.self, from: Data($0.utf8))
        }
    }

    private func summary(of page: Program) throws -> Summary {
        let last = try #require(page.outputText.split(separator: "\n").last, "\(page.errors)")
        return try JSONDecoder().decode(Summary.self, from: Data(last.utf8))
    }

    private func configure(_ lines: [String] = []) {
        let first = [
            "bind 127.0.0.1:\(port)", "http 127.0.0.1:\(web)", "rtp-in studio=127.0.0.1:\(studio)", "web studio",
        ]
        folder.write((first + lines).joined(separator: "\n"), to: "relay.conf")
        folder.write(Recording(channels: [Tone.samples(seconds: 40)]).wav(), to: "tone.wav")
    }

    @Test func chromiumPlaysATalkerAndPlaysOnAfterTheRelayWasKilled() throws {
        configure()
        let relay = try startRelay()
        let sender = try Program(
            "tenfour", ["send", "--input", "tone.wav", "rtp://127.0.0.1:\(studio)"], in: folder)
        let page = try open(seconds: 20)
        let isHeard = page.wait(.seconds(60)) {
            looks(of: page).contains(where: \.hearsTheTone) || !page.isRunning
        }
        try #require(isHeard, "\(page.errors)")
        let heard = looks(of: page).first { $0.hearsTheTone }
        let first = try #require(heard, "\(page.outputText)")
        page.wait(.seconds(2)) { false }
        let before = looks(of: page)
        relay.send(SIGKILL)
        relay.wait()
        let again = try startRelay()
        #expect(page.wait(.seconds(60)) == .code(0), "\(page.errors)")
        sender.send(SIGKILL)
        again.send(SIGTERM)

        let playing = before.filter { $0.at >= first.at }
        try #require(playing.count > 2)
        #expect(zip(playing, playing.dropFirst()).allSatisfy { ($0.time ?? 0) < ($1.time ?? 0) }, "\(playing)")
        #expect(Set(before.map(\.meter)).count > 1, "the meter moves from silence to the tone")
        #expect(playing.allSatisfy { $0.title == "studio" && $0.button == "Stop" && $0.talker.contains("is talking") })
        #expect(playing.allSatisfy { $0.listeners == "1 listener" && $0.warning.contains("relay can hear") })

        let after = looks(of: page).dropFirst(before.count)
        let outage = after.first { $0.state.contains("does not answer") }
        let gone = try #require(outage, "\(page.outputText)")
        let sound = after.first { $0.at > gone.at && $0.hearsTheTone && $0.state == "" }
        let back = try #require(sound, "\(page.outputText)")
        #expect(back.at - gone.at < 5, "\(after)")
        #expect(after.last?.hearsTheTone ?? false)

        // Chromium reports each connection that was refused while the relay was gone.
        try expectOnlyOwnRequests(of: page) { $0.contains("net::ERR_") }
    }

    /// Expects a console without messages, except those that `isExpected` names, and no request to another server.
    private func expectOnlyOwnRequests(of page: Program, isExpected: (String) -> Bool = { _ in false }) throws {
        let summary = try summary(of: page)
        #expect(summary.console.filter { !isExpected($0) } == [])
        let own = ["http://127.0.0.1:\(web)/", "data:", "blob:"]
        #expect(summary.requests.filter { request in !own.contains { request.hasPrefix($0) } } == [])
    }

    /// A channel behind a token is neither listed nor heard without it, and a name cannot change the page.
    @Test func namesAreShownAsTextAndATokenOpensAChannel() throws {
        let name = "<script>alert(1)</script>\u{202E}&amp;\"'שלום"
        let made = try Program.run("tenfour", ["channel", "new", "family", "--relay", "127.0.0.1:\(port)"], in: folder)
        let lines = made.output.split(separator: "\n").map(String.init)
        folder.write(lines[1] + "\n", to: "family.link")
        folder.write("a+b&c=ü\n", to: "token")
        configure(["web family token=token", "web weather", "rtp-in weather=127.0.0.1:\(weather)", lines[2]])
        let relay = try startRelay()
        let sender = try Program(
            "tenfour", ["send", "--input", "tone.wav", "--name", name], in: folder,
            environment: ["TENFOUR_LINK": lines[0]])
        let announcer = try Program(
            "tenfour", ["send", "--input", "tone.wav", "rtp://127.0.0.1:\(weather)"], in: folder)
        // One after the other: two browsers that start at once take long.
        let list = try open("", ["--no-listen"], seconds: 3)
        #expect(list.wait(.seconds(90)) == .code(0), "\(list.errors)")
        let page = try open("family?token=a%2Bb%26c%3D%C3%BC", seconds: 12)
        #expect(page.wait(.seconds(90)) == .code(0), "\(page.errors)")
        for program in [sender, announcer, relay] { program.send(SIGKILL) }

        #expect(looks(of: list).allSatisfy { $0.channels == 2 }, "\(list.outputText)")
        let line = "weather · 0 listeners · Somebody is talking"
        #expect(looks(of: list).contains { $0.list.contains(line) }, "\(list.outputText)")
        let looks = looks(of: page)
        #expect(looks.contains { $0.hearsTheTone }, "\(page.outputText)")
        let shown = name.replacing("\u{202E}", with: "\u{FFFD}")
        let named = looks.filter { $0.talker.hasPrefix("\(shown) is talking") }
        #expect(!named.isEmpty && named.allSatisfy { $0.elements == 2 && $0.warning.contains("encrypted") }, "\(looks)")
        for page in [list, page] { try expectOnlyOwnRequests(of: page) }
    }
}
