import Testing

@testable import TenfourHTTPServer

@Suite struct HTTPTargetTests {
    private func parse(_ text: String) throws -> HTTPTarget { try HTTPTarget(parsing: Array(text.utf8).span) }

    @Test func pathAndQueryAreDecoded() throws {
        let target = try parse("/K%C3%BCche.ogg?token=a%20b+c&flag&empty=&x=1=2")
        #expect(target.path == "/Küche.ogg")
        #expect(target.query.map(\.name) == ["token", "flag", "empty", "x"])
        #expect(target.query.map(\.value) == ["a b c", "", "", "1=2"])
    }

    @Test(arguments: [
        "", "family", "http://a/b", "*", "/a%00b", "/a%0Ab", "/a%7F", "/%C2%85", "/%", "/%4", "/%zz", "/%FF", "/a b",
        "/..", "/../etc/passwd", "/a/../b", "/a/%2e%2E/b", "/..%2fb", "/../%CC%81", "/.", "/a#b", "/a?b=%00", "/a?b=%1",
        "/\u{FC}",
    ])
    func malformedTargetIsRefused(_ text: String) {
        #expect(throws: HTTPRefusal.malformedTarget) { try parse(text) }
    }

    @Test func parametersAreLimited() {
        #expect(throws: HTTPRefusal.malformedTarget) { try parse("/?" + String(repeating: "a=b&", count: 33)) }
    }

    @Test(arguments: [
        "relay", "relay.example.org:8080", "192.0.2.1", "[2001:db8::1]", "[::1]:80", "a_b-c.example:",
        "[::ffff:192.0.2.1]",
    ])
    func hostIsAccepted(_ text: String) { #expect(isHost(text)) }

    @Test(arguments: [
        "", ":80", "a b", "a/b", "a@b", "a:b", "a:123456", "[::1", "[]", "[x]", "::1", "a\u{0}b", "<script>",
        "ü.example",
    ])
    func hostIsRefused(_ text: String) { #expect(!isHost(text)) }
}
