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
        let help = try Program.run(command[0], command[1...] + ["--help"])
        #expect(help.end == .code(0) && help.errors == "")
        return help.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
