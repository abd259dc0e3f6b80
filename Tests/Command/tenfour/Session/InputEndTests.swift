import TestSupport
import Testing

/// A station whose input has ended does not transmit any more.
@Suite(.onItsOwnThread, .inRealTime) struct InputEndTests {
    @Test func theMicrophoneIsClosedForGood() throws {
        let session = try TalkSession(
            ["--open", "--plain"], in: Folder(), sending: Recording(channels: [Tone.samples(seconds: 0.5)]).wav())
        #expect(session.program.says("long.wav has ended: nothing more is sent"), "\(session.program.errors)")
        #expect(session.program.says("your microphone is closed"), "\(session.program.errors)")
        #expect(session.becomes("closed"))
        _ = try session.ptt(["toggle"])
        #expect(session.status()?.microphone == "closed" && session.ask(#"{"command":"state"}"#).contains("closed"))
        #expect(!session.program.errors.contains("no longer repeats"), "\(session.program.errors)")
    }

    @Test func theEndByTimeIsSaid() throws {
        let session = try TalkSession(["-d", "1.5"], in: Folder())
        #expect(session.program.says("ended after 1.5 s, as --duration says"), "\(session.program.errors)")
    }
}
