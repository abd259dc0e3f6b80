import TestSupport
import Testing

/// The contents of the Debian package that can be checked without building it in a root of Debian.
@Suite(.onItsOwnThread) struct PackageContentsTests {
    private static let folder = "Tools/Programs/package"

    private func run(_ script: String, _ arguments: [String] = [], input: String = "/dev/null") throws -> (
        end: Program.End, output: String, errors: String
    ) {
        try Program.run(
            "bash", ["-c", "exec \"$0\" \"$@\" <'\(input)'", Repository.path("\(Self.folder)/\(script)")] + arguments,
            environment: ["MAINTAINER": "Anna Example <anna@example.org>", "SOURCE_DATE_EPOCH": "1700000000"])
    }

    /// The version is named in one place, and its section of CHANGELOG.md becomes the package's own changelog.
    @Test func theChangelogIsThatOfTheVersion() throws {
        let version = try #require(
            try Program.run("tenfour", ["--version"]).output.split(whereSeparator: \.isWhitespace).last)
        let inSources = try Program.run(
            "bash", ["-c", "source '\(Repository.path("Tools/Programs/common.sh"))'; project_version"])
        #expect(inSources.output == version + "\n")
        let changelog = try run(
            "changelog", ["\(version)-1~deb12", "bookworm"], input: Repository.path("CHANGELOG.md"))
        #expect(changelog.end == .code(0), "\(changelog.errors)")
        let lines = changelog.output.split(separator: "\n")
        #expect(lines.first == "tenfour (\(version)-1~deb12) bookworm; urgency=medium")
        #expect(lines.last == " -- Anna Example <anna@example.org>  Tue, 14 Nov 2023 22:13:20 +0000")
        #expect(lines.filter { $0.hasPrefix("  * ") }.count > 3 && lines.allSatisfy { $0.count <= 80 })
        let none = try run("changelog", ["99.0-1~deb12", "bookworm"], input: Repository.path("CHANGELOG.md"))
        #expect(none.end == .code(1) && none.errors.contains("CHANGELOG.md has no section about 99.0"))
    }

    /// Every package that Package.swift depends on is linked statically, so the copyright file names it.
    @Test func theCopyrightNamesWhatIsLinkedStatically() {
        let dependencies = Folder.text(of: Repository.path("Package.swift")).matches(of: /\.package\(url: ".*\/(.*?)"/)
        #expect(!dependencies.isEmpty)
        let copyright = Folder.text(of: Repository.path("\(Self.folder)/debian/copyright"))
        for name in dependencies.map(\.output.1) + ["Swift runtime", "swift-foundation", "swift-corelibs-libdispatch"] {
            #expect(copyright.contains(name), "\(name)")
        }
    }

    @Test(.enabled(if: DebianPackage.isKnown, "needs a known Debian release")) func whatIsOpenedOnDemandIsRecommended()
        throws
    {
        let result = try run("recommends")
        #expect(result.end == .code(0), "\(result.errors)")
        let packages = result.output.split(separator: "\n").map(String.init)
        let libraries = [
            "libcurl.so.4", "libcairo.so.2", "libsndfile.so.1", "libsystemd.so.0", "libmicrohttpd.so.12",
            "libshout.so.3",
            "libavformat.so.[0-9]*",
        ]
        for library in libraries {
            let owner = try #require(try DebianPackage.owner(of: library))
            #expect(packages.contains(owner), "\(owner)")
        }
        for package in packages { #expect(try DebianPackage.isInstalled(package), "\(package)") }
    }

    @Test(arguments: [
        (["sid"], "there is no package for 'sid': write bookworm, trixie or both"),
        (["--fast"], "there is no option --fast"), (["trixie", "-o"], "-o takes a folder"),
    ]) func wrongUseEndsWithOneSentence(arguments: [String], sentence: String) throws {
        let result = try Program.run("bash", [Repository.path("Tools/package")] + arguments)
        #expect(result.end == .code(2) && result.errors == "package: \(sentence); see --help\n")
    }

    @Test func theHelpNeedsNoRights() throws {
        let result = try Program.run("bash", [Repository.path("Tools/package"), "--help"])
        #expect(result.end == .code(0) && result.output.contains("Tools/package --check"))
        #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 140 })
    }

    /// Beside an installed `tenfour-replay`, messages name that instead of Tools/replay.
    @Test func installedToolsAreNamedAsTheyAreInstalled() throws {
        let folder = Folder()
        for (name, installed) in [("tenfour", "tenfour"), ("replay", "tenfour-replay")] {
            try Program.run("cp", [try Program.path(of: name), folder(installed)])
        }
        func run(_ name: String, _ arguments: String...) throws -> (output: String, errors: String) {
            let result = try Program.run("env", [folder(name)] + arguments)
            return (result.output, result.errors)
        }
        #expect(try run("tenfour", "replay").errors.contains("'replay' is a separate tool, tenfour-replay; "))
        #expect(try run("tenfour", "badlink").errors.contains("Tools/badlink in tenfour's source tree"))
        #expect(try run("tenfour-replay", "--help").output.contains("tenfour-replay capture.pcap"))
        for arguments in [[], ["--port", "x", "capture.pcap"]] {
            let errors = try Program.run("env", [folder("tenfour-replay")] + arguments).errors
            #expect(
                errors.hasPrefix("tenfour-replay: ") && errors.contains("see 'tenfour-replay --help'"), "\(errors)")
        }
    }
}
