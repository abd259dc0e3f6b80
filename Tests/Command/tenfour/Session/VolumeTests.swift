import TestSupport
import Testing

/// Volumes in a talk: by keys, and through the control socket.
@Suite(.onItsOwnThread, .inRealTime) struct VolumeTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    /// Starts Ben, who sends to `port`.
    private func ben() throws -> Program {
        folder.write(longTone, to: "long.wav")
        return try Program(
            "tenfour", ["send", "rtp://127.0.0.1:\(port)", "--input", "long.wav", "--name", "Ben"], in: folder)
    }

    private func talk(_ options: [String] = [], _ terminal: Terminal? = nil) throws -> TalkSession {
        try TalkSession(options, in: folder, from: port, terminal: terminal)
    }

    @Test func keysSetTheVolumeAndMuteOneTalker() throws {
        let terminal = Terminal()
        let talk = try talk([], terminal)
        let ben = try ben()
        let program = talk.program
        func status(_ isSo: (String) -> Bool) -> Bool {
            program.wait(.seconds(30)) { terminal.statuses.last.map(isSo) ?? false }
        }
        // The keys read the state that this line shows.
        #expect(status { $0.contains("|  Ben") }, "\(terminal.shown)")
        terminal.type("99")
        #expect(status { $0.hasPrefix("volume -6 dB") }, "\(terminal.shown)")
        #expect(status { $0.contains("vol -6 dB") }, "\(terminal.shown)")
        terminal.type("1")
        #expect(program.says("1 Ben  here since"), "\(terminal.shown)")
        terminal.type("1")
        #expect(program.says("Ben: volume 0 dB; 9 and 0 lower and raise it, m mutes, 1 ends this"))
        terminal.type("m")
        #expect(status { $0.hasPrefix("Ben: muted") }, "\(terminal.shown)")
        terminal.type("1w")
        #expect(program.says("1 Ben  muted, mic open"), "\(terminal.shown)")
        terminal.type("?")
        #expect(program.says("1 to 8 choose one talker"), "\(terminal.shown)")
        terminal.type("q")
        #expect(program.wait() == .code(0), "\(terminal.shown)")
        withExtendedLifetime(ben) {}
    }

    @Test func aScreenReaderIsToldOfEachChange() throws {
        let terminal = Terminal()
        let talk = try talk(["--plain"], terminal)
        terminal.type("9")
        #expect(talk.program.says("volume -3 dB"), "\(terminal.shown)")
        terminal.type("m")
        #expect(talk.program.says("the speaker is muted"), "\(terminal.shown)")
        terminal.type("m")
        #expect(talk.program.says("the speaker is no longer muted"), "\(terminal.shown)")
        terminal.type("q")
        #expect(talk.program.wait() == .code(0), "\(terminal.shown)")
    }

    @Test func theControlSocketSetsVolumes() throws {
        let talk = try talk()
        #expect(talk.ask(#"{"command":"volume"}"#) == #"{ "volume": 0, "muted": false, "talkers": [] }"#)
        let ben = try ben()
        #expect(talk.ask(#"{"command":"volume","volume":-6}"#).hasPrefix(#"{ "volume": -6, "muted": false"#))
        let isHere = talk.program.wait(.seconds(30)) { talk.ask(#"{"command":"volume"}"#).contains(#""name": "Ben""#) }
        try #require(isHere, "\(talk.program.errors)")
        let louder = talk.ask(#"{"command":"volume","volume":4.5,"talker":"Ben"}"#)
        #expect(
            louder.contains(#""name": "Ben", "volume": 4.5, "muted": false, "channel": "127.0.0.1" }"#), "\(louder)")
        let id = try #require(louder.firstMatch(of: /"id": "([0-9a-f]{8})"/)?.1)
        let muted = talk.ask(#"{"command":"mute","muted":true,"talker":"\#(id)"}"#)
        #expect(muted.contains(#""volume": 4.5, "muted": true"#), "\(muted)")
        let isTold = talk.program.wait(.seconds(30)) {
            talk.ask(#"{"command":"state"}"#).contains(#""volume": 4.5, "muted": true"#)
        }
        #expect(isTold)
        #expect(talk.ask(#"{"command":"mute","muted":false,"talker":"Ben"}"#).contains(#""muted": false"#))
        #expect(
            talk.ask(#"{"command":"volume","volume":3}"#) == #"{ "error": "volume is a number of decibels, -60 to 0" }"#
        )
        #expect(talk.ask(#"{"command":"mute","muted":true,"talker":"Eve"}"#).contains("there is no such talker"))
        #expect(
            talk.ask(#"{"command":"channel"}"#)
                == #"{ "channel": "127.0.0.1", "channels": [{ "name": "127.0.0.1", "talk": true }] }"#)
        #expect(talk.ask(#"{"command":"channel","name":"weather"}"#).contains("there is no such channel"))
        withExtendedLifetime(ben) {}
    }
}
