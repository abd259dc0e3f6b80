import TenfourPushToTalk
import Testing

struct ControlCommandTests {
    private func command(_ line: String) throws(ControlCommand.Refusal) -> ControlCommand? {
        guard let request = ControlRequest(parsing: Array(line.utf8)) else { return nil }
        return try ControlCommand(request)
    }

    @Test(
        arguments: [
            (#"{"command":"state"}"#, ControlCommand.state),
            (#"{"command":"mute","muted":true}"#, .mute(true, talker: nil)),
            (#"{"command":"mute","muted":false,"talker":"Anna"}"#, .mute(false, talker: "Anna")),
            (#"{"command":"volume"}"#, .volume(nil, talker: nil)),
            (#"{"command":"volume","volume":-6}"#, .volume(-6, talker: nil)),
            (#"{"command":"volume","volume":-4.5,"talker":"1a2b3c4d"}"#, .volume(-4.5, talker: "1a2b3c4d")),
            (#"{"command":"volume","volume":12,"talker":"Anna"}"#, .volume(12, talker: "Anna")),
            (#"{"command":"volume","talker":"Anna"}"#, .volume(nil, talker: "Anna")),
            (#"{"command":"channel"}"#, .channel(nil)),
            (#"{"command":"channel","name":"weather"}"#, .channel("weather")),
            (#"{"command":"replay","range":"minute"}"#, .replay(.minute)),
            (#"{"command":"stop-replay"}"#, .stopReplay),
        ])
    func aLineIsACommand(line: String, expected: ControlCommand) throws {
        #expect(try command(line) == expected)
    }

    @Test(arguments: [#"{"command":"down"}"#, #"{"command":"dance"}"#, #"{"command":""}"#, #"{"command":"Volume"}"#])
    func otherWordsAreNone(line: String) throws { #expect(try command(line) == nil) }

    @Test(
        arguments: [
            (#"{"command":"mute"}"#, #"write { "command": "mute", "muted": true } or false"#),
            (#"{"command":"mute","muted":1}"#, #"write { "command": "mute", "muted": true } or false"#),
            (#"{"command":"mute","muted":true,"talker":7}"#, "talker is a text"),
            (#"{"command":"volume","volume":1}"#, "volume is a number of decibels, -60 to 0"),
            (#"{"command":"volume","volume":-61}"#, "volume is a number of decibels, -60 to 0"),
            (#"{"command":"volume","volume":"loud"}"#, "volume is a number of decibels, -60 to 0"),
            (#"{"command":"volume","volume":null}"#, "volume is a number of decibels, -60 to 0"),
            (#"{"command":"volume","volume":13,"talker":"A"}"#, "volume is a number of decibels, -60 to 12"),
            (#"{"command":"channel","name":["a"]}"#, "name is a text"),
            (#"{"command":"replay"}"#, #"write { "command": "replay", "range": "transmission" } or "minute""#),
        ])
    func whatCannotBeDoneIsRefusedWithARemedy(line: String, sentence: String) {
        #expect(throws: ControlCommand.Refusal(sentence)) { try command(line) }
    }
}
