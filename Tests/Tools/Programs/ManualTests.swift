import TestSupport
import Testing

/// The pages in Tools/man.
@Suite(.onItsOwnThread) struct ManualTests {
    private static let folder = "\(Repository.root)/Tools/man"

    private static var pages: [String] {
        Folder.entries(of: folder).filter { $0.contains(/\.[1-8]$/) }.sorted()
    }

    /// The pages with options, and the commands that they are about.
    private static let commands = [
        "tenfour", "tenfour talk", "tenfour pair", "tenfour near", "tenfour listen", "tenfour send", "tenfour recv",
        "tenfour play", "tenfour plot",
        "tenfour channel", "tenfour relay", "tenfour devices", "tenfour doctor", "badlink", "radiocheck", "replay",
    ]

    @Test func theOptionsAreThoseOfThePrograms() throws {
        let programs = String(try Program.path(of: "tenfour").dropLast("/tenfour".count))
        let check = try Program.run("python3", ["\(Self.folder)/update", "--check", programs])
        #expect(check.end == .code(0), "\(check.errors)")
    }

    /// The page of a command documents every option of the command and of its subcommands.
    @Test(arguments: commands) func everyOptionIsDocumented(command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        let name = (words[0] == "tenfour" ? words : ["tenfour"] + words).joined(separator: "-")
        let page = Folder.text(of: "\(Self.folder)/\(name).1").replacing("\\-", with: "-")
        let dump = try Program.run(words[0], words[1...] + ["--experimental-dump-help"]).output
        // The subcommands of tenfour have pages of their own.
        let end = command == "tenfour" ? dump.firstRange(of: "\"subcommands\"")?.lowerBound : nil
        let names = dump[..<(end ?? dump.endIndex)].matches(of: /"kind" : "long",\s+"name" : "([a-z0-9-]+)"/)
        #expect(names.count >= 2)
        for name in Set(names.map { String($0.output.1) }) where name != "experimental-dump-help" {
            #expect(page.contains("\\fB--\(name)\\fR"), "--\(name)")
        }
    }

    @Test func thePagesAreWithoutMistakes() throws {
        #expect(Self.pages.count >= 25)
        for page in Self.pages {
            let result = try Program.run(
                "man", ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-P", "cat", "\(Self.folder)/\(page)"],
                environment: ["MANWIDTH": "80", "LC_ALL": "C.UTF-8", "GROFF_NO_SGR": "1"])
            #expect(result.end == .code(0) && result.errors == "", "\(page): \(result.errors)")
            // Bold and underlined characters are printed over themselves.
            let lines = result.output.replacing(/.\u{8}/, with: "").split(separator: "\n")
            #expect(lines.count > 10 && lines.allSatisfy { $0.count <= 80 }, "\(page)")
        }
    }
}
