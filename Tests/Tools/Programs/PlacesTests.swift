import Glibc
import TestSupport
import Testing

/// Only root may make the root file system of another Debian release.
@Suite(.onItsOwnThread) struct PlacesTests {
    private static let asAnother = geteuid() == 0 ? ["unshare", "--user", "--map-user=1000"] : ["env"]
    private static let canBeAnother = (try? run(["true"]).end) == .code(0)

    private static func run(_ command: [String]) throws -> (end: Program.End, output: String, errors: String) {
        try Program.run(asAnother[0], asAnother.dropFirst() + command)
    }

    @Test(.enabled(if: canBeAnother, "needs user namespaces"), arguments: [[], ["--long"]])
    func withoutRootRightsThereIsOneSentence(options: [String]) throws {
        let result = try Self.run(["bash", Repository.path("Tools/test"), "--places"] + options)
        #expect(result.end == .code(1) && result.output == "")
        #expect(
            result.errors
                == "test: --places makes a root of Debian 13, which needs root rights: run Tools/test as root, or with sudo\n"
        )
    }
}
