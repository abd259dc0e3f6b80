import TenfourAudioCore
import TenfourAudioFile
import TestSupport
import Testing

/// The programs that README.md shows: the same text, built, and run.
@Suite(.onItsOwnThread, .inRealTime) struct ReadmeTests {
    @Test(arguments: ["hear"]) func theReadmeShowsTheProgramThatIsBuilt(name: String) throws {
        let readme = Folder.text(of: Repository.path("README.md"))
        let program = Folder.text(of: Repository.path("Tests/Readme/Programs/\(name)/main.swift"))
        let parts = readme.split(separator: "<!-- program: \(name) -->\n```swift\n", omittingEmptySubsequences: false)
        try #require(parts.count == 2, "one block is marked with the program's name")
        #expect(parts[1].split(separator: "```\n")[0] == program)
    }

    @Test func theReadmeIsShort() {
        #expect(Folder.text(of: Repository.path("README.md")).count { $0 == "\n" } <= 200)
    }

    @Test func theyHearEachOther() throws {
        let folder = Folder()
        var file = try AudioFileWriter(path: folder("tone.wav"), format: .mono)
        try file.write(Tone.samples(seconds: 1).span)
        try file.close()
        let port = UDPPort.free()
        let hearing = try Program("hear", ["rtp://:\(port)"])
        #expect(hearing.takes(port: port))
        let sending = try Program("send-a-file", [folder("tone.wav"), "rtp://127.0.0.1:\(port)"])
        #expect(sending.wait() == .code(0))
        #expect(sending.outputText == "sent 50 packets\n")
        #expect(hearing.wait() == .code(0))
        let lines = hearing.outputText.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.first?.hasPrefix("listening on ") == true)
        // Half of full scale is thirty of the sixty marks, give or take what the codec makes of it. A machine that is held
        // up gives fewer lines, or some of a concealed tone.
        let bars = lines.dropFirst()
        #expect(bars.allSatisfy { $0.count < 40 && $0.allSatisfy { $0 == "#" } })
        #expect(bars.count { (27...33).contains($0.count) } >= 5, "\(bars.map(\.count))")
    }

    @Test func theAddressPlaysToItsEnd() throws {
        let folder = Folder()
        var file = try AudioFileWriter(path: folder("tone.wav"), format: .mono)
        try file.write(Tone.samples(seconds: 1).span)
        try file.close()
        folder.write("pcm.!default { type null }", to: "asound.conf")
        let server = try Program("python3", ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"], in: folder)
        #expect(server.wait(.seconds(30)) { server.outputText.contains("port ") })
        let port = server.outputText.split(separator: "port ")[1].prefix { $0.isNumber }
        let played = try Program.run(
            "play", ["http://127.0.0.1:\(port)/tone.wav"], environment: ["ALSA_CONFIG_PATH": folder("asound.conf")])
        #expect(played.end == .code(0))
        #expect(played.output == "heard 1.0 seconds\n")
        server.send(15)
        server.wait()
    }

    @Test func wrongUseEndsInAClearError() throws {
        let unreadable = try Program.run("send-a-file", ["/nowhere.wav", "rtp://127.0.0.1"])
        #expect(unreadable.end == .code(1))
        #expect(unreadable.output.contains("/nowhere.wav") && unreadable.output.count { $0 == "\n" } == 1)
        let unplayable = try Program.run("play", ["/nowhere.mp3"], environment: ["ALSA_CONFIG_PATH": "/nowhere"])
        #expect(unplayable.end == .code(1))
        #expect(unplayable.output.contains("sound card") && unplayable.output.count { $0 == "\n" } == 1)
        let meaningless = try Program.run("hear", ["http://here"])
        #expect(meaningless.end == .code(1))
        #expect(meaningless.output.contains("write rtp://") && meaningless.output.count { $0 == "\n" } == 1)
    }
}
