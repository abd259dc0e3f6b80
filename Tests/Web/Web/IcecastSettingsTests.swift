import TenfourWeb
import Testing

/// Files with the settings of an Icecast server.
@Suite struct IcecastSettingsTests {
    private func settings(_ text: String) throws(IcecastFileError) -> IcecastSettings {
        try IcecastSettings(parsing: Array(text.utf8))
    }

    @Test func theExampleIsValid() throws {
        let settings = try settings(IcecastSettings.example)
        #expect(settings.host == "radio.example.org" && settings.port == 8_000 && settings.mount == "/family.ogg")
        #expect(settings.user == "source" && settings.password == "hackme")
        #expect(!settings.usesTLS && !settings.isPublic && settings.genre == "talk")
        #expect(settings.name == "Family radio" && settings.description == "What the family says")
    }

    @Test func aPasswordMayHoldSpacesAndNumberSigns() throws {
        #expect(try settings("host a\nmount /b\npassword  x # y \r\n").password == "x # y")
    }

    @Test(arguments: [
        ("mount /b\npassword x", "there is no host; add a line: host VALUE"),
        ("host\n", "line 1: host has no value; write: host VALUE"),
        ("host a\n\nhost b\n", "line 3: host appears twice; keep one"),
        (
            "host http://a\n",
            "line 1: host needs a host name or an address, without http:// and without a port"
        ),
        ("port 70000\n", "line 1: port needs a number from 1 to 65535"),
        ("mount family\n", "line 1: mount needs a path that begins with /, such as /family.ogg"),
        ("tls maybe\n", "line 1: tls needs yes or no"),
        (
            "name \u{7}\n",
            "line 1: the value of name is too long, or has control characters; write a shorter text"
        ),
    ])
    func anErrorNamesTheLineAndTheRemedy(text: String, message: String) {
        #expect(throws: IcecastFileError.self) { try settings(text) }
        do throws(IcecastFileError) { _ = try settings(text) } catch {
            #expect((error.line.map { "line \($0): " } ?? "") + error.message == message)
        }
    }

    /// A line may be a password whose word was forgotten.
    @Test func anErrorNeverShowsAnUnknownWord() {
        do throws(IcecastFileError) {
            _ = try settings("host a\nhackme\n")
            Issue.record("the line was accepted")
        } catch {
            #expect(error.line == 2 && error.message.hasPrefix("the line begins with an unknown setting; "))
            #expect(!error.message.contains("hackme"))
        }
    }

    @Test func bytesThatAreNoTextAreRefused() {
        for bytes in [[0xFF, 0xFE], [UInt8](repeating: 0x20, count: IcecastSettings.maximumByteCount + 1)] {
            #expect(throws: IcecastFileError.self) { try IcecastSettings(parsing: bytes) }
        }
    }
}
