import Glibc
import TestSupport
import Testing

/// Runs commands as on a machine without libcurl, cairo, libsndfile and FFmpeg: empty files with the names of the
/// libraries are found first.
@Suite(.onItsOwnThread) struct OnDemandTests {
    private let folder = Folder()
    private let environment: [String: String]

    init() {
        let files = ["libcurl.so.4", "libcairo.so.2", "libsndfile.so.1"] + (50...70).map { "libavformat.so.\($0)" }
        for file in files { folder.write([], to: file) }
        environment = ["LD_LIBRARY_PATH": folder("")]
        folder.write(Recording(channels: [Tone.samples(seconds: 0.5)]).wav(), to: "tone.wav")
        folder.write("fLaC and no more", to: "song.flac")
    }

    private func run(_ arguments: [String]) throws -> (end: Program.End, errors: String) {
        let run = try tenfour(arguments, environment: environment)
        return (run.end, run.errors)
    }

    @Test func noneOfThemIsLoadedBeforeItIsNeeded() throws {
        let loaded = try tenfour([], environment: ["LD_TRACE_LOADED_OBJECTS": "1"]).output
        #expect(loaded.contains("libopus.so"))
        for library in ["libavformat", "libswresample", "libcurl", "libcairo", "libsndfile"] {
            #expect(!loaded.contains(library))
        }
    }

    @Test func aFileThatNeedsNoneOfThemPlays() throws {
        #expect(try run(["play", folder("tone.wav"), "-o", folder("out.wav")]).end == .code(0))
        #expect(try run(["plot", folder("tone.wav")]).end == .code(0))
    }

    @Test func aMissingLibraryIsNamedWithItsPackage() throws {
        let address = try run(["play", "http://127.0.0.1:1/song", "-o", folder("out.wav")])
        #expect(address.end == .code(69) && address.errors.contains("apt-get install libcurl4"), "\(address.errors)")
        let picture = try run(["plot", folder("tone.wav"), "-o", folder("out.svg")])
        #expect(picture.end != .code(0) && picture.errors.contains("apt-get install libcairo2"), "\(picture.errors)")
        let song = try run(["play", folder("song.flac"), "-o", folder("out.wav")])
        #if FFmpeg
            #expect(song.end == .code(69) && song.errors.contains("apt-get install libavformat"), "\(song.errors)")
        #else
            #expect(
                song.end == .code(69) && song.errors.contains("build tenfour with `--traits FFmpeg`"), "\(song.errors)")
        #endif
    }

    /// The error names the package that contains the library on this Debian release, found through the package of the
    /// headers used at build time.
    @Test(.enabled(if: DebianPackage.isKnown, "needs a known Debian release"), arguments: Self.needs)
    func theSentenceNamesThePackageOfThisRelease(need: [String], headers: String) throws {
        let said = try run(need.map { $0.contains(".") && !$0.contains("/") ? folder($0) : $0 }).errors
        let words = said.split { " ,:`".contains($0) }
        let package = String(try #require(words.drop { $0 != "install" }.dropFirst().first, "\(said)"))
        let library = String(try #require(words.first { $0.contains(".so.") }?.split(separator: "/").last, "\(said)"))
        #expect(try DebianPackage.owner(of: library) == package, "\(said)")
        let dependencies = try DebianPackage.dependencies(of: headers)
        #expect(dependencies.contains("\(package) (= "), "\(dependencies)")
    }

    /// Commands that need a library, with arguments that may name files of the folder; and the package of that
    /// library's headers.
    private static var needs: [([String], String)] {
        var needs = [
            (["play", "http://127.0.0.1:1/song", "-o", "out.wav"], "libcurl4-openssl-dev"),
            (["plot", "tone.wav", "-o", "out.svg"], "libcairo2-dev"),
            (["play", "tone.wav", "-o", "out.flac"], "libsndfile1-dev"),
        ]
        #if FFmpeg
            needs.append((["play", "song.flac", "-o", "out.wav"], "libavformat-dev"))
        #endif
        return needs
    }
}
