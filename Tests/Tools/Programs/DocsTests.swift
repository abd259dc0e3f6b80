import TestSupport
import Testing

/// Tools/docs refuses wrong arguments before it builds anything.
@Suite(.onItsOwnThread) struct DocsTests {
    private static let tool = Repository.path("Tools/docs")

    @Test func aFolderWithOtherFilesIsNotReplaced() throws {
        let folder = Folder()
        folder.write("important", to: "letter")
        for place in ["", "letter"] {
            let run = try Program.run("bash", [Self.tool, "-o", folder(place)])
            #expect(run.end == .code(1))
            #expect(run.errors.hasPrefix("docs: ") && run.errors.hasSuffix("; name a new folder\n"), "\(run.errors)")
        }
        #expect(Folder.text(of: folder("letter")) == "important")
    }

    @Test(arguments: [["-o"], ["--opne"], ["site"]]) func wrongUseIsRefused(arguments: [String]) throws {
        let run = try Program.run("bash", [Self.tool] + arguments)
        #expect(run.end == .code(2))
        #expect(run.errors.hasPrefix("docs: ") && run.errors.count { $0 == "\n" } == 1, "\(run.errors)")
    }
}
