import Glibc
import TenfourJSON
import TenfourPushToTalk
import TestSupport
import Testing

/// Several channels at once: `talk family --monitor weather:duck`.
@Suite(.onItsOwnThread, .inRealTime) struct MonitorTests {
    private let folder = Folder()
    private let terminal = Terminal()
    private let port = UDPPort.free()

    private var environment: [String: String] { ["XDG_CONFIG_HOME": folder.path, "HOME": folder.path] }

    /// Starts a relay with two channels, which are saved.
    private func relay() throws -> Program {
        var lines = ["bind 127.0.0.1:\(port)"]
        for name in ["family", "weather"] {
            let new = try tenfour(
                ["channel", "new", name, "--relay", "localhost:\(port)", "--save"], in: folder,
                environment: environment)
            lines += new.output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("channel ") }
        }
        folder.write(lines.joined(separator: "\n") + "\n", to: "relay.conf")
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
        try #require(lines.count == 3 && relay.says("relaying on"), "\(relay.errors)")
        return relay
    }

    @Test func aMonitoredChannelIsToldAndAnsweredWithOneKey() throws {
        let relay = try relay()
        folder.write(longTone, to: "long.wav")
        let talk = try Program(
            "tenfour", ["talk", "family", "--monitor", "weather:duck", "-D", "null", "--name", "Alice"], in: folder,
            environment: environment, terminal: terminal)
        #expect(talk.says("weather: in the channel"), "\(terminal.shown)")
        terminal.type("a")
        #expect(talk.says("no monitored channel was heard within 5 s"), "\(terminal.shown)")
        let bob = try Program(
            "tenfour", ["send", "weather", "--input", "long.wav", "--name", "Bob"], in: folder,
            environment: environment)
        #expect(talk.says("weather: Bob is here"), "\(terminal.shown)\(bob.errors)")
        #expect(
            talk.wait(.seconds(30)) {
                terminal.lines.contains { $0.hasPrefix("tenfour: weather: ") && $0.hasSuffix(" talks") }
            }, "\(terminal.shown)")
        let listener = try Program(
            "tenfour", ["listen", "weather", "-o", "heard.wav", "--name", "Eve"], in: folder, environment: environment)
        #expect(listener.says("hearing Bob"), "\(listener.errors)")
        terminal.type("a ")
        #expect(talk.says("talking in weather now; a returns"), "\(terminal.shown)")
        #expect(talk.wait(.seconds(20)) { terminal.statuses.last?.hasPrefix("to weather  |  ON AIR") == true })
        // The null card is silent, but its packets are heard.
        #expect(listener.says("hearing Alice"), "\(listener.errors)")
        terminal.type(" a")
        #expect(talk.says("talking in family again"), "\(terminal.shown)")
        terminal.type("r")
        #expect(talk.says("weather: playing one transmission"), "\(terminal.shown)")
        terminal.type("w")
        #expect(talk.says("weather: 2 here") || talk.says("weather: 1 here"), "\(terminal.shown)")
        terminal.type("q")
        #expect(talk.wait() == .code(0), "\(terminal.shown)")
        withExtendedLifetime(relay) {}
    }

    @Test func aProcessChoosesTheChannelToTalkIn() throws {
        let relay = try relay()
        let runtime = RuntimeFolder()
        let talk = try Program(
            "tenfour", ["talk", "family", "--monitor", "weather", "-D", "null", "--plain"], in: folder,
            environment: environment.merging(["XDG_RUNTIME_DIR": runtime.path]) { $1 }, terminal: terminal)
        #expect(talk.says("weather: in the channel"), "\(terminal.shown)")
        var client = try PTTClient(connectingTo: runtime.socket(of: talk))
        let channels = #""channels": [{ "name": "family", "talk": true }, { "name": "weather", "talk": true }] }"#
        #expect(client.answer(#"{"command":"channel"}"#) == #"{ "channel": "family", "# + channels)
        #expect(
            client.answer(#"{"command":"channel","name":"weather"}"#) == #"{ "channel": "weather", "# + channels)
        #expect(talk.says("talking in weather now; a returns"), "\(terminal.shown)")
        #expect(client.answer(#"{"command":"down"}"#)?.hasPrefix(#"{ "microphone": "open""#) == true)
        terminal.type("s")
        #expect(talk.says("to weather  |  ON AIR"), "\(terminal.shown)")
        terminal.type("q")
        #expect(talk.wait() == .code(0), "\(terminal.shown)")
        withExtendedLifetime(relay) {}
    }

    /// What a monitored channel plays would leave with the open microphone into the first channel.
    @Test func withAnOpenMicrophoneHeadphonesAreAdvised() throws {
        let relay = try relay()
        let talk = try Program(
            "tenfour", ["talk", "family", "--monitor", "weather", "-D", "null", "--open"], in: folder,
            environment: environment, terminal: terminal)
        #expect(talk.says("the echo of monitored channels is not cancelled: use headphones"), "\(terminal.shown)")
        // Who leaves before the channel is reached is told so by the exit code.
        #expect(talk.says("tenfour: in the channel"), "\(terminal.shown)")
        terminal.type("q")
        #expect(talk.wait() == .code(0), "\(terminal.shown)")
        withExtendedLifetime(relay) {}
    }

    @Test func aProgramIsToldWhoTalksInWhichChannel() throws {
        let relay = try relay()
        let runtime = RuntimeFolder()
        folder.write(longTone, to: "long.wav")
        let talk = try Program(
            "tenfour", ["talk", "family", "--monitor", "weather", "-D", "null"], in: folder,
            environment: environment.merging(["XDG_RUNTIME_DIR": runtime.path]) { $1 })
        #expect(talk.says("weather: in the channel"), "\(talk.errors)")
        var client = try PTTClient(connectingTo: runtime.socket(of: talk))
        #expect(client.answer(#"{"command":"events"}"#) == #"{ "subscribed": true }"#)
        let bob = try Program(
            "tenfour", ["send", "weather", "--input", "long.wav", "--name", "Bob"], in: folder,
            environment: environment)
        var told: Set<String> = []
        func isTold(_ names: Set<String>) -> Bool {
            talk.wait(.seconds(30)) {
                // The relay may tell Bob's name after Bob has begun to talk.
                if case .json(let event) = client.next(within: 100), event.line.contains(#""channel": "weather""#),
                    case .text(let name)? = event.member("event"),
                    event.line.contains(#""name": "Bob""#) || name == "talking"
                {
                    told.insert(name)
                }
                return told == names
            }
        }
        #expect(isTold(["joined", "talking"]), "\(told)\(bob.errors)")
        bob.send(SIGINT)
        #expect(isTold(["joined", "talking", "stopped", "left"]), "\(told)\(bob.errors)")
        talk.send(SIGINT)
        #expect(talk.wait() == .code(0), "\(talk.errors)")
        withExtendedLifetime(relay) {}
    }

    @Test func aChannelThatIsNotSavedIsRefused() throws {
        let result = try tenfour(
            ["talk", "127.0.0.1:9", "-D", "null", "--monitor", "wether"], in: folder, environment: environment)
        #expect(result.end == .code(69) && result.errors.contains("no channel wether is saved"), "\(result.errors)")
        let wrong = try tenfour(["talk", "127.0.0.1:9", "--monitor", "a b"], in: folder)
        #expect(wrong.end == .code(2), "\(wrong.errors)")
    }
}

extension PTTClient {
    /// Sends a request, a line of JSON, and returns the line that answers it.
    fileprivate mutating func answer(_ request: String) -> String? {
        guard let json = try? JSON(parsing: Array(request.utf8)), send(json),
            case .json(let answer) = next(within: 10_000)
        else { return nil }
        return answer.line
    }
}
