import ArgumentParser
import TenfourAudioCore
import TestSupport
import Testing

@testable import tenfour

/// The manual pages name the program's version and the options of tools that are shell scripts.
@Suite(.onItsOwnThread) struct ManualPageTests {
    @Test(arguments: Example.manualPages) func thePageIsThatOfThisVersion(page: String) {
        let title = Folder.text(of: Repository.path(page)).split(separator: "\n").first { $0.hasPrefix(".TH ") } ?? ""
        #expect(title.contains("\"\(Tenfour.configuration.version)\""), "\(title)")
    }

    @Test func everyToneIsInTheTableOfTones() throws {
        let page = Example.unescaped(Folder.text(of: Repository.path("Tools/man/tenfour-talk.1")))
        let table = try #require(page.split(separator: ".SH TONES\n").last?.split(separator: "\n.SH ").first)
        for tone in SignalTone.allCases { #expect(table.contains("\(tone.name)"), "\(tone.name)") }
        #expect(table.split(separator: ".TP\n").count == SignalTone.allCases.count + 1)
    }

    /// Options in the help of a tool that are those of another program.
    private static let others: Set<Substring> = [
        "--agc", "--denoise", "--directory", "--help", "--no-echo-cancel", "--open", "--profile",
    ]

    /// `Tools/man/update` writes the options of the other pages.
    @Test(arguments: [
        "audiowatch", "benchmark", "demo", "desktop", "docs", "fuzz", "labcard", "package", "root", "test",
    ])
    func thePageOfAToolNamesEveryOptionOfItsHelp(tool: String) throws {
        let help = try Program.run("bash", [Repository.path("Tools/\(tool)"), "--help"])
        let words = help.output.split { !$0.isLetter && $0 != "-" }
        let options = Set(words.filter { $0.hasPrefix("--") && $0.count > 2 })
        #expect(help.end == .code(0) && !options.isEmpty)
        let page = Example.unescaped(Folder.text(of: Repository.path("Tools/man/tenfour-\(tool).1")))
        for option in options.subtracting(Self.others) { #expect(page.contains(option), "\(option)") }
    }
}
