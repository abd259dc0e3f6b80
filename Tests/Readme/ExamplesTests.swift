import ArgumentParser
import TestSupport
import Testing

@testable import badlink
@testable import losslab
@testable import radiocheck
@testable import replay
@testable import tenfour

/// The command lines that README.md, the manual pages and the guides show.
@Suite(.onItsOwnThread) struct ExamplesTests {
    @Test func thereAreManyOfThem() {
        #expect(Example.all.count > 100)
        #expect(Example.all.contains { $0.document == "README.md" })
        #expect(Example.manualPages.count >= 20)
    }

    @Test(arguments: Example.all) func theProgramAcceptsIt(example: Example) throws {
        for call in example.calls { try expectAcceptance(of: call) }
    }

    /// Expects that the program of a call knows its options. What a tool runs after `--` is checked, too.
    private func expectAcceptance(of call: [String]) throws {
        let (program, arguments) = (call[0], Array(call.dropFirst()))
        switch program {
        case "tenfour": expect(Tenfour.self, accepts: LobbyOptions.withNames(arguments))
        case "Tools/badlink", "tenfour-badlink": expect(Badlink.self, accepts: arguments)
        case "Tools/radiocheck", "tenfour-radiocheck": expect(Check.self, accepts: arguments)
        case "Tools/replay", "tenfour-replay": expect(ReplayCommand.self, accepts: arguments)
        case "losslab": expect(Losslab.self, accepts: arguments)
        case _ where program.hasPrefix("Tools/"):
            let help = try Program.run("bash", [Repository.path(program), "--help"])
            #expect(help.end == .code(0), "\(program)")
            let own = arguments.prefix { $0 != "--" }
            for option in own where option.hasPrefix("-") { #expect(help.output.contains(option), "\(option)") }
            let inner = Array(arguments.dropFirst(own.count + 1))
            if inner.first?.hasPrefix("tenfour") == true || inner.first?.hasPrefix("Tools/") == true {
                try expectAcceptance(of: inner)
            }
        default: Issue.record("there is no program \(program)")
        }
    }

    private func expect<Command: ParsableCommand>(_ command: Command.Type, accepts arguments: [String]) {
        do { _ = try command.parseAsRoot(arguments) } catch {
            // The parser throws for --help, too.
            #expect(command.exitCode(for: error) == .success, "\(command.message(for: error))")
        }
    }

    /// The examples that need neither a network nor a sound card, and take about a second.
    private static let alone = Example.all.filter { example in
        guard let call = example.calls.first, call.count > 1, example.line.hasPrefix(call[0]),
            !example.line.contains("://")
        else { return false }
        return switch call[0] {
        case "tenfour":
            call[1] == "channel" && ["new", "keys"].contains(call.dropFirst(2).first) && !call.contains("--relay-key")
                || call[1] == "plot" || call.contains("--example")
                || call.contains("--check") || call[1] == "play" && call.contains("song.wav")
        case "tenfour-badlink", "tenfour-replay", "losslab": !call.contains(":6000")
        case "tenfour-radiocheck": call.contains("--network")
        default: false
        }
    }

    @Test(arguments: alone) func itDoesWhatIsSaid(example: Example) throws {
        let folder = try folder(for: example)
        let script = """
            trap 'rm -rf config' EXIT
            PATH=$0:$PATH XDG_CONFIG_HOME=$PWD/config
            export XDG_CONFIG_HOME
            for tool in badlink radiocheck replay; do eval "tenfour-$tool() { $tool \\"\\$@\\"; }"; done
            \(example.line)
            """
        let programs = try Program.path(of: "tenfour").split(separator: "/").dropLast().map { "/\($0)" }.joined()
        let result = try Program.run("bash", ["-ec", script, programs], in: folder)
        #expect(result.end == .code(0), "\(result.errors)")
    }

    /// Returns a folder with the files that the documents name.
    private func folder(for example: Example) throws -> Folder {
        let folder = Folder()
        let recording = Recording(channels: [Tone.samples(seconds: 1)]).wav()
        for name in ["speech.wav", "heard.wav"] { folder.write(recording, to: name) }
        // Longer than the positions in the examples.
        folder.write(Recording(channels: [Tone.samples(seconds: 100)]).wav(), to: "song.flac")
        folder.write("tenfour://radio.example.org/family#talk-acou-3h65-w7gs-7dyu-6g6k-6agz-m2bm\n", to: "family.link")
        folder.write(
            """
            channel family talk=xok53mt3misbt45zduickx3c5hklbnulq5zwlqx63eknr4ax5eca \
            listen=z4o52um6uyke27bfs4pmvlsspvvnm37tr4f2qhb4f234ngzmsjwa
            """, to: "relay.conf")
        if example.line.contains("capture.pcap") {
            let made = try Program.run("losslab", ["packets", "-o", "capture.pcap", "speech.wav"], in: folder)
            #expect(made.end == .code(0), "\(made.errors)")
            folder.write(Folder.bytes(of: folder("capture.pcap")), to: "capture.pcapng")
        }
        return folder
    }
}
