import TenfourAudioCore
import TenfourAudioFile
import TestSupport
import Testing

/// The programs on the pages of the libraries (Tools/docs): the same text, built, and run.
@Suite(.onItsOwnThread) struct FirstProgramTests {
    private static func page(of module: String) -> String {
        let name = module.split(separator: "/")[1]
        return Folder.text(of: Repository.path("Sources/\(module)/\(name).docc/\(name).md"))
    }

    @Test(arguments: [
        ("Audio/AudioCore", "audio-core"), ("Audio/Effects", "effects"), ("RTP/JitterBuffer", "jitter-buffer"),
        ("Network/NetworkEmulator", "network-emulator"), ("RTP/Packets", "packets"), ("RTP/Session", "session"),
        ("Audio/TimePitch", "time-pitch"),
    ])
    func thePageShowsTheProgramAndWhatItPrints(module: String, name: String) throws {
        let program = Folder.text(of: Repository.path("Tests/FirstPrograms/Programs/\(name)/main.swift"))
        #expect(Self.page(of: module).contains("```swift\n\(program)```\n"))
        let run = try Program.run("first-\(name)", [])
        #expect(run.end == .code(0) && run.errors == "")
        #expect(Self.page(of: module).contains("```text\n\(run.output)```\n"), "\(run.output)")
    }

    /// `ReadmeTests` runs these programs.
    @Test(arguments: [("Radio/Radio", "hear"), ("Radio/Radio", "send"), ("Player/Player", "play")])
    func thePageShowsAProgramOfTheReadme(module: String, name: String) {
        let program = Folder.text(of: Repository.path("Tests/Readme/Programs/\(name)/main.swift"))
        #expect(Self.page(of: module).contains("```swift\n\(program)```\n"))
    }

    @Test func aFileIsDecodedAndDescribed() throws {
        let program = Folder.text(of: Repository.path("Tests/FirstPrograms/Programs/media-source/main.swift"))
        #expect(Self.page(of: "Player/MediaSource").contains("```swift\n\(program)```\n"))
        let folder = Folder()
        var file = try AudioFileWriter(path: folder("tone.wav"), format: .mono)
        try file.write(Tone.samples(seconds: 1).span)
        try file.close()
        let run = try Program.run("first-media-source", [folder("tone.wav")])
        #expect(run.end == .code(0))
        #expect(run.output == "pcm, 48000 Hz\n1.0 seconds of audio\npeak 50%\n")
        let unreadable = try Program.run("first-media-source", ["/nowhere.wav"])
        #expect(unreadable.end == .code(1))
        #expect(unreadable.output.contains("/nowhere.wav") && unreadable.output.count { $0 == "\n" } == 1)
    }

    /// Each library that Package.swift exports has a page, and Tools/docs builds it.
    @Test func everyLibraryHasAPage() throws {
        let package = Folder.text(of: Repository.path("Package.swift"))
        let script = Folder.text(of: Repository.path("Tools/docs"))
        let products = package.matches(of: /\.library\(\s*name: "\w+", targets: \[(.*?)\]\)/)
        #expect(products.count >= 7)
        for product in products {
            for target in product.output.1.split(separator: ", ") {
                let name = target.dropFirst("\"Tenfour".count).dropLast()
                let module = try #require(script.firstMatch(of: try Regex("[ (]([A-Za-z]+/\(name))[ )\n]")), "\(name)")
                #expect(Self.page(of: String(module.output[1].substring!)).hasPrefix("# ``Tenfour\(name)``\n"))
            }
        }
    }
}
