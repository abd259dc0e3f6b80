import TestSupport
import Testing

/// `send` with a microphone at one of two inputs: labcard is the card, and `aplay` plays into it.
@Suite(.onItsOwnThread, .needsLabcard) struct CaptureChannelCommandTests {
    private let folder = Folder()

    /// Returns the messages of `send` within `time`, with audio in the card's left channel and digital silence in the
    /// right.
    private func send(_ wire: String, _ options: [String], for time: Duration = .seconds(25)) throws -> String {
        let tone = Tone.samples(seconds: 30)
        folder.write(Recording(channels: [tone, tone.map { _ in 0 }]).wav(), to: "left.wav")
        let talker = try Program("aplay", ["-q", "-D", "labcard:\(wire)", "left.wav"], in: folder)
        defer { talker.send(9) }
        let arguments = ["-D", "labcard:\(wire)", "rtp://127.0.0.1:\(UDPPort.free())"] + options
        let program = try Program("tenfour", ["send"] + arguments, in: folder)
        program.wait(time) { program.errors.contains("digital silence") }
        program.send(2)
        program.wait()
        return program.errors
    }

    @Test func aSilentChannelIsReportedOnceWithTheRemedy() throws {
        let said = try send("side", [])
        let sentence =
            "the right channel of the microphone carries only digital silence and halves the level of the mix: "
        #expect(said.contains(sentence + "write --capture-channel left to send only the other channel\n"), "\(said)")
        #expect(said.split(separator: "digital silence").count == 2, "\(said)")
    }

    @Test func theChannelThatIsSilentIsNotChosenUnawares() throws {
        let said = try send("otherside", ["--capture-channel", "right"])
        #expect(
            said.contains("so nobody hears you: write --capture-channel left to send the other channel\n"), "\(said)")
    }

    @Test func nothingIsReportedWhereTheOtherChannelIsSent() throws {
        let said = try send("thisside", ["--capture-channel", "left"], for: .seconds(4))
        #expect(!said.contains("digital silence"), "\(said)")
    }
}
