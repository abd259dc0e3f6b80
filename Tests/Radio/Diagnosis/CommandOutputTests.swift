import TestSupport
import Testing

@testable import TenfourDiagnosis

@Suite(.onItsOwnThread) struct CommandOutputTests {
    private func output(of script: String, within limit: Duration = .seconds(60)) -> String? {
        CommandOutput.of(["/bin/sh", "-c", script], within: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func theOutputIsWholeAndWithoutErrors() {
        #expect(output(of: "echo one; echo wrong >&2; echo two") == "one\ntwo\n")
        #expect(output(of: "head -c 300000 /dev/zero")?.utf8.count == 300_000)
        #expect(output(of: "true") == "")
    }

    @Test func aProgramThatFailsOrIsMissingHasNone() {
        #expect(output(of: "echo one; exit 3") == nil)
        #expect(CommandOutput.of(["/nowhere/nft"], within: .seconds(60)) == nil)
        #expect(output(of: "head -c 5000000 /dev/zero") == nil)
    }

    /// The second closes its output at once.
    @Test(arguments: ["sleep 1000", "exec >&-; sleep 1000"]) func aProgramThatDoesNotEndIsKilled(_ script: String) {
        let time = ContinuousClock().measure { #expect(output(of: script, within: .milliseconds(100)) == nil) }
        #expect(time < .seconds(60))
    }
}
