import Glibc
import TestSupport
import Testing

/// Tests the interactive terminal: the status line and the keys.
@Suite(.onItsOwnThread, .inRealTime) struct TerminalTests {
    private let folder = Folder()
    private let port = UDPPort.free()
    private let terminal = Terminal()

    init() { folder.write(longTone, to: "long.wav") }

    /// Waits until the current status line satisfies the condition. Returns false if it never does.
    private func shows(_ program: Program, _ isAsItShouldBe: (String) -> Bool) -> Bool {
        program.wait(.seconds(20)) { isAsItShouldBe(terminal.statuses.last ?? "") || !program.isRunning }
            && isAsItShouldBe(terminal.statuses.last ?? "")
    }

    @Test func aReceiverSeesWhoTalksHowLoudAndHowWell() throws {
        let receiver = try Program(
            "tenfour", ["recv", "-p", "\(port)", "-o", "heard.wav"], in: folder, terminal: terminal)
        #expect(receiver.says("tenfour: receiving on port \(port); q quits, ? shows the keys"), "\(terminal.shown)")
        #expect(shows(receiver) { $0 == "nobody is heard yet" }, "\(terminal.shown)")
        let sender = try Program(
            "tenfour", ["send", "--input", "long.wav", "rtp://127.0.0.1:\(port)", "--name", "Alice"], in: folder)
        #expect(
            shows(receiver) {
                $0.wholeMatch(of: /Alice   -9 dBFS  delay \d+(→\d+)? ms(  [+-]\d+ ppm)?  score 4\.\d/) != nil
            },
            "\(terminal.shown)")
        #expect(terminal.shown.contains(" is Alice"))
        sender.send(SIGINT)
        #expect(receiver.says("Alice has left"), "\(terminal.shown)")
        #expect(shows(receiver) { $0 == "nobody is heard" }, "\(terminal.shown)")
        terminal.type("?")
        #expect(receiver.says("tenfour: m mutes the speaker, q quits"), "\(terminal.shown)")
        terminal.type("m")
        #expect(shows(receiver) { $0.hasSuffix("speaker muted") }, "\(terminal.shown)")
        terminal.type("q")
        #expect(receiver.wait() == .code(0))
        // The score of so short a talkspurt is lower if the machine stood still in it; the status line has shown a good one.
        #expect(
            terminal.lines.contains {
                $0.wholeMatch(
                    of: /tenfour: received [1-9]\d* packets from Alice, \d.*% lost, score [1-4]\.\d of 4\.4.*/) != nil
            },
            "\(terminal.lines)"
        )
    }

    @Test func aSenderOfAFileSeesWhereItIsAndThatNobodyListens() throws {
        let sender = try Program(
            "tenfour", ["send", "--input", "long.wav", "rtp://127.0.0.1:\(port)"], in: folder, terminal: terminal)
        #expect(
            shows(sender) {
                let refused = /127\.0\.0\.1:\d+: connection refused/
                return $0.wholeMatch(of: /[▶…] 00:0\d \/ 01:00 .* sending(  NOT HEARD: no program there)?  \|  .*/)
                    != nil
                    && $0.contains(refused)
            }, "\(terminal.shown)")
        terminal.type("\u{3}")
        #expect(sender.wait() == .code(69))
        #expect(terminal.lines.contains { $0.hasPrefix("tenfour: sent ") }, "\(terminal.lines)")
    }

    /// In a very narrow terminal the status line is truncated, since a wrapped line could not be redrawn.
    @Test func theStatusLineFitsTheTerminal() throws {
        let narrow = Terminal(columns: 30)
        let sender = try Program(
            "tenfour", ["send", "--input", "long.wav", "rtp://127.0.0.1:\(port)"], in: folder, terminal: narrow)
        sender.wait(.seconds(20)) { narrow.statuses.count > 5 }
        #expect(narrow.statuses.count > 5 && narrow.statuses.allSatisfy { $0.count < 30 }, "\(narrow.shown)")
    }

    /// A terminal wraps lines when it becomes narrower; nothing of the old line may remain.
    @Test func aTerminalThatBecomesNarrowerIsLeftWithoutFragments() throws {
        let socket = folder("tmux")
        @discardableResult func tmux(_ arguments: [String]) -> String {
            let run = try? Program.run(
                "tmux", ["-S", socket, "-f", "/dev/null"] + arguments, in: folder, environment: ["TERM": "xterm"])
            return run?.output ?? ""
        }
        tmux([
            "new-session", "-d", "-x", "80", "-y", "24",
            "\(try Program.path(of: "tenfour")) recv -p \(port) -o \(folder("heard.wav"))",
        ])
        defer { tmux(["kill-server"]) }
        let sender = try Program(
            "tenfour", ["send", "--input", "long.wav", "rtp://127.0.0.1:\(port)", "--name", "Alice"], in: folder)
        func screen() -> [Substring] { tmux(["capture-pane", "-p"]).split(separator: "\n") }
        func waits(for isSo: ([Substring]) -> Bool) -> Bool {
            for _ in 0..<200 {
                if isSo(screen()) { return true }
                usleep(100_000)
            }
            return false
        }
        #expect(waits { $0.contains { $0.contains("Alice   -9 dBFS") } }, "\(screen())")
        for width in [30, 21, 80, 40] {
            tmux(["resize-window", "-x", "\(width)", "-y", "24"])
            let isClean = waits { lines in
                lines.count { $0.contains("dBFS") || $0.contains("delay") || $0.contains("score") } == 1
                    && lines.last?.contains("Alice") == true
            }
            #expect(isClean, "\(width): \(screen())")
        }
        sender.send(SIGINT)
        _ = sender.wait()
    }

    /// Two stations, one of which is operated by keys. Each wire of labcard is a separate cable, so the microphone
    /// does not capture what the speaker plays.
    @Test(.needsLabcard) func talkBeginsClosedAndIsLedByKeys() throws {
        let before = terminal.localModes
        let partner = try Program(
            "tenfour",
            [
                "talk", "127.0.0.1:\(port)", "-p", "\(port + 2)", "--name", "Bob", "--open", "--input", "long.wav",
                "-o", "bob.wav",
            ],
            in: folder)
        let talker = try Program("aplay", ["-q", "-D", "labcard:talk-mic", "long.wav"], in: folder)
        let person = try Program(
            "tenfour",
            ["talk", "127.0.0.1:\(port + 2)", "-p", "\(port)", "--name", "Alice", "--input", "alsa:labcard:talk-mic"]
                + ["-D", "labcard:talk-speaker"],
            in: folder, terminal: terminal)
        #expect(person.says("tenfour: the microphone is closed: space opens it"), "\(terminal.shown)")
        #expect(
            shows(person) {
                $0.wholeMatch(of: /mic closed   -9 dBFS(  RTT \d+ ms)?  \|  Bob   -9 dBFS  .*delay \d.* ms.*/) != nil
            },
            "\(terminal.shown)\n\(talker.errors)")
        #expect(terminal.localModes & tcflag_t(ICANON | ECHO) == 0, "keys are read singly and without echo")

        terminal.type(" ")
        #expect(
            shows(person) { $0.wholeMatch(of: /ON AIR(  heard)?   -9 dBFS  [1-9]\d*\.\d kbit\/s  \|  Bob .*/) != nil },
            "\(terminal.shown)")
        // Waits until one and a half seconds of audio have been recorded, however long it takes.
        let recorded = Folder.bytes(of: folder("bob.wav")).count
        #expect(partner.wait(.seconds(30)) { Folder.bytes(of: folder("bob.wav")).count > recorded + 150_000 })
        terminal.type("m")
        #expect(shows(person) { $0.hasSuffix("|  speaker muted") }, "\(terminal.shown)")
        terminal.type("m")
        #expect(shows(person) { !$0.contains("muted") }, "\(terminal.shown)")
        terminal.type("?")
        #expect(
            person.says("space opens and closes the microphone, m mutes the speaker, q quits"), "\(terminal.shown)")
        terminal.type(" ")
        #expect(shows(person) { $0.hasPrefix("mic closed") }, "\(terminal.shown)")
        terminal.type("q")
        #expect(person.wait() == .code(0))
        #expect(terminal.localModes == before, "the terminal settings are restored")

        partner.send(SIGINT)
        #expect(partner.wait() == .code(0), "\(partner.errors)")
        #expect(partner.errors.contains("is Alice"), "\(partner.errors)")
        let heard = try #require(Tone(in: try Recording(wav: folder("bob.wav")).channels[0]))
        #expect(abs(heard.frequency - Tone.telling) < 1, "\(heard)")
    }

    @Test(.needsLabcard) func ctrlCRestoresTheTerminal() throws {
        let before = terminal.localModes
        let person = try Program(
            "tenfour", ["talk", "127.0.0.1:\(port + 2)", "-p", "\(port)", "-D", "labcard:ctrl-c"], in: folder,
            terminal: terminal)
        #expect(shows(person) { $0.hasPrefix("mic closed") }, "\(terminal.shown)")
        #expect(terminal.localModes != before)
        terminal.type("\u{3}")
        #expect(person.wait() == .code(0))
        #expect(terminal.localModes == before)
    }

    @Test(.needsLabcard) func withoutAKeyboardTalkSaysHowToOpenTheMicrophone() throws {
        let result = try tenfour(["talk", "127.0.0.1:\(port + 2)", "-p", "\(port)", "-D", "labcard:mute", "-d", "0.3"])
        #expect(result.end == .code(0) && result.output == "")
        #expect(
            result.errors.contains("the microphone is closed, and there is no keyboard to open it: start with --open"))
    }
}
