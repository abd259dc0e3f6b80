import TestSupport
import Testing

/// The packages that the documents name are those of the release of Debian that the tests run on, whose tools have installed them.
@Suite(.onItsOwnThread, .enabled(if: DebianPackage.isKnown, "needs a known Debian release")) struct PackageTests {
    private static func text(of document: String) -> String {
        return Folder.text(of: Repository.path(document))
    }

    /// Words of lower-case letters, digits, dots and hyphens that begin with "lib".
    private static func packages(in document: String) -> [String] {
        text(of: document)
            .split { !("a"..."z" ~= $0 || "0"..."9" ~= $0 || $0 == "-" || $0 == ".") }
            .map { $0.last == "." ? String($0.dropLast()) : String($0) }
            .filter { $0.hasPrefix("lib") }
    }

    private static let guide = "Sources/Radio/Radio/Radio.docc/Interoperability.md"
    private static let manual = "Tools/man/tenfour.1"

    @Test(arguments: ["README.md", guide]) func headersAreOfThisRelease(document: String) throws {
        let headers = Self.packages(in: document).filter { $0.hasSuffix("-dev") }
        try #require(headers.count >= 4)
        for package in headers { #expect(try DebianPackage.isInstalled(package), "\(package)") }
    }

    @Test(arguments: [
        "libcurl.so.4", "libcairo.so.2", "libsndfile.so.1", "libsystemd.so.0", "libmicrohttpd.so.12", "libshout.so.3",
        "libavformat.so",
    ])
    func theLibrariesThatAreOpenedOnDemandAreNamed(library: String) throws {
        let versioned = library.last?.isNumber == true ? library : "\(library).*"
        let package = try #require(try DebianPackage.owner(of: versioned), "\(library)")
        #expect(Self.packages(in: Self.manual).contains(package), "\(package)")
    }
}
