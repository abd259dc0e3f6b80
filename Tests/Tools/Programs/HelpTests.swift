import TestSupport
import Testing

/// The help texts of the tools.
@Suite(.onItsOwnThread) struct HelpTests {
    /// Every command explains its exit codes in the same words.
    @Test(arguments: ["tenfour", "badlink", "replay", "radiocheck", "badnet"])
    func theExitCodesAreAsDocumented(command: String) throws {
        let words = try words(ofHelp: [command])
        #expect(words.contains("Exit codes: 0 success, also after Ctrl-C; 1 failure while running; 2 usage error; 69"))
    }

    /// The help states the unit of a bare number, as in `--max-latency 300`.
    @Test(arguments: ["tenfour talk", "tenfour send", "tenfour recv", "replay", "radiocheck"])
    func theUnitOfABareNumberIsReported(command: String) throws {
        let words = try words(ofHelp: command.split(separator: " ").map(String.init))
        for unit in words.matches(of: /<(time|auto\|time|rate)> .*?(?= -)/) {
            #expect(unit.output.0.contains("a bare number is in "), "\(unit.output.0)")
        }
        #expect(words.contains("--max-latency <time>"))
    }

    /// Every command of the programs with `--help-all`, such as `tenfour channel new`.
    static let commands: [[String]] =
        [
            "", "talk", "pair", "near", "listen", "send", "recv", "play", "plot", "channel", "channel new",
            "channel keys",
            "channel members", "channel add", "channel remove", "channel verify", "id", "relay", "relay status",
            "devices", "doctor", "log", "log play", "ptt", "ptt down", "ptt up", "ptt toggle", "ptt status",
            "ptt emergency", "radio",
        ].map { ["tenfour"] + $0.split(separator: " ").map(String.init) } + [["badlink"], ["replay"], ["radiocheck"]]

    @Test func theCommandsAreAllHere() throws {
        let names = Self.commands.filter { $0[0] == "tenfour" }.map { $0.last ?? "" }
        let dump = try Program.run("tenfour", ["--experimental-dump-help"]).output
        let there = dump.matches(of: /"commandName" : "([a-z]+)"/).map { String($0.output.1) }
        #expect(Set(there) == Set(names + ["help"]))
    }

    /// The help of each command fits on a terminal of 80 columns and 24 lines, the next prompt included.
    @Test(arguments: commands) func theHelpFitsOnOneScreen(command: [String]) throws {
        let help = try Program.run(command[0], command[1...] + ["--help"])
        #expect(help.end == .code(0) && help.errors == "", "\(help.errors)")
        let lines = help.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 80 }, "\(help.output)")
        #expect(help.output.contains("\nUsage: \(command.joined(separator: " "))"))
        let last = try #require(
            lines.last?.firstMatch(of: /^All options: ([a-z ]+) --help-all\. Manual: man ([a-z-]+)\.$/))
        #expect(last.output.1 == command.joined(separator: " "))
        #expect(Folder.text(of: "\(Repository.root)/Tools/man/\(last.output.2).1").hasPrefix(".TH"), "\(last.output.2)")
    }

    /// `--help-all` has every option that the parser knows, and needs no required argument.
    @Test(arguments: commands) func theWholeHelpHasEveryOption(command: [String]) throws {
        let help = try Program.run(command[0], command[1...] + ["--help-all"])
        #expect(help.end == .code(0) && help.errors == "", "\(help.errors)")
        #expect(help.output.hasPrefix("OVERVIEW: "))
        let dump = try Program.run(command[0], command[1...] + ["--experimental-dump-help"]).output
        // The commands below this one have helps of their own.
        let own = dump.prefix(upTo: dump.firstRange(of: "\"subcommands\"")?.lowerBound ?? dump.endIndex)
        let names = own.matches(of: /"kind" : "long",\s+"name" : "([a-z0-9-]+)"/).map { "--" + $0.output.1 }
        #expect(names.count >= 2)
        let words = Set(help.output.split { !$0.isLetter && !$0.isNumber && $0 != "-" }.map(String.init))
        #expect(Set(names).subtracting(words) == [])
    }

    /// Help is printed without building the program, if it was built before.
    @Test(arguments: ["badlink", "radiocheck", "replay"])
    func aProgramThatWasBuiltBeforeHelpsAtOnce(tool: String) throws {
        let folder = Folder()
        let script = """
            mkdir -p Tools/Programs .build/release
            cp "$0/Tools/$1" Tools; cp "$0/Tools/Programs/common.sh" Tools/Programs
            printf '#!/bin/sh\\necho "the help of $0 $*"\\n' >.build/release/$1
            chmod +x .build/release/$1
            Tools/$1 --help
            """
        let result = try Program.run(
            "bash", ["-ec", script, Repository.root, tool], in: folder, environment: ["PATH": "/usr/bin:/bin"])
        #expect(result.end == .code(0) && result.errors == "", "\(result.errors)")
        #expect(result.output.hasPrefix("the help of") && result.output.hasSuffix("/.build/release/\(tool) --help\n"))
    }

    private func words(ofHelp command: [String]) throws -> String {
        let help = try Program.run(command[0], command[1...] + [command == ["badnet"] ? "--help" : "--help-all"])
        #expect(help.end == .code(0) && help.errors == "")
        return help.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
