import TestSupport
import Testing

/// The programs that tests start.
@Suite(.onItsOwnThread) struct StateFolderTests {
    @Test func theyUseNoStateOfThePersonWhoRunsTheTests() throws {
        let usual = try Program.run("sh", ["-c", "echo $XDG_STATE_HOME"]).output
        #expect(usual.hasPrefix(Folder.temporary + "/tenfour-test-"), "\(usual)")
        let own = try Program.run("sh", ["-c", "echo $XDG_STATE_HOME"], environment: ["HOME": "/nonexistent"]).output
        #expect(own == "\n", "a test with a HOME of its own has its state there")
    }
}
