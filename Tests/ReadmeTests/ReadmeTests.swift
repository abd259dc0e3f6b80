import Foundation
import Sound
import SoundFile
import Support
import Testing

private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
    .standardizedFileURL

@Test(arguments: ["send", "hear"]) func theReadmeShowsTheProgramThatIsBuilt(name: String) throws {
    let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let program = try String(
        contentsOf: root.appending(path: "Tests/ReadmePrograms/\(name)/main.swift"), encoding: .utf8)
    let parts = readme.components(separatedBy: "<!-- program: \(name) -->\n```swift\n")
    try #require(parts.count == 2, "one block is marked with the program's name")
    #expect(parts[1].components(separatedBy: "```\n")[0] == program)
}

@Test func theTwoProgramsOfTheReadmeHearEachOther() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tenfour-readme-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try writeTone(to: folder.appending(path: "tone.wav").path)
    let port = PlainSocket.freePort()
    let hearing = try Program("hear", "rtp://:\(port)")
    while hearing.isRunning, !isTaken(port) { usleep(10_000) }
    let sending = try Program("send-a-file", folder.appending(path: "tone.wav").path, "rtp://127.0.0.1:\(port)")
    let (sent, heard) = (sending.finish(), hearing.finish())
    #expect(sent.status == 0)
    #expect(sent.lines == ["sent 50 packets"])
    #expect(heard.status == 0)
    #expect(heard.lines.first?.hasPrefix("listening on ") == true)
    // Half of full scale is thirty of the sixty marks, give or take what the codec makes of it. A busy machine may hold the
    // loudness up to the next line, but not change it.
    let bars = heard.lines.dropFirst()
    #expect(bars.allSatisfy { $0.allSatisfy { $0 == "#" } })
    #expect(bars.count { (27...33).contains($0.count) } >= 5, "\(bars.map(\.count))")
    #expect(bars.allSatisfy { $0.count < 40 })
}

@Test func wrongUseOfTheProgramsEndsInASentence() throws {
    let unreadable = try Program("send-a-file", "/nowhere.wav", "rtp://127.0.0.1").finish()
    #expect(unreadable.status == 1)
    #expect(unreadable.lines.count == 1 && unreadable.lines[0].contains("/nowhere.wav"))
    let meaningless = try Program("hear", "http://here").finish()
    #expect(meaningless.status == 1)
    #expect(meaningless.lines.count == 1 && meaningless.lines[0].contains("write rtp://"))
}

/// A program that was built beside the tests.
private struct Program {
    private let process = Process()
    private let output = Pipe()

    init(_ name: String, _ arguments: String...) throws {
        let here = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: here).deletingLastPathComponent().appending(path: name)
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    /// Waits for its end.
    func finish() -> (status: Int32, lines: [String]) {
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text.split(separator: "\n").map(String.init))
    }
}

/// A second at 440 Hz and half of full scale.
private func writeTone(to path: String) throws {
    var file = try SoundFileWriter(path: path, format: .mono)
    let tone = (0..<48_000).map { Float(0.5 * sin(2 * .pi * 440 * Double($0) / 48_000)) }
    try file.write(tone.span)
    try file.close()
}

/// Asks without touching the port, which somebody may be about to take.
private func isTaken(_ port: UInt16) -> Bool {
    let sockets = (try? String(contentsOfFile: "/proc/net/udp6", encoding: .utf8)) ?? ""
    return sockets.contains(String(format: ":%04X ", Int(port)))
}
