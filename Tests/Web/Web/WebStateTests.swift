import TenfourAudioCore
import Testing

@testable import TenfourWeb

@Suite struct WebStateTests {
    private let state = WebState(
        channel: "family", isEncrypted: true, listenerCount: 12,
        talker: WebState.Talker(name: "Anna", since: .start + .seconds(1)), others: ["Ben"], link: nil,
        address: "https://radio.example.org/family", isLive: true, period: .milliseconds(100), version: "0.4")

    private func text(_ state: WebState) -> String {
        String(decoding: state.event(at: .start + .milliseconds(4_240)), as: UTF8.self)
    }

    @Test func itIsOneEventWithAllThatAPageShows() {
        #expect(
            text(state) == """
                event: state
                data: { "channel": "family", "encrypted": true, "listeners": 12, \
                "talker": { "name": "Anna", "seconds": 3.2 }, "also": ["Ben"], "link": null, \
                "address": "https://radio.example.org/family", "live": true, "period": 0.1, "version": "0.4" }


                """)
    }

    @Test func aNamelessTalkerIsATalker() {
        var state = state
        state.talker?.name = nil
        #expect(text(state).contains(#""talker": { "name": null, "seconds": 3.2 }"#))
        state.talker = nil
        #expect(text(state).contains(#""talker": null"#))
    }

    @Test func aNameCannotLeaveItsPlace() {
        var state = state
        state.talker?.name = "a\"},\n\ndata: \u{202E}\u{0}\\<script>"
        state.others = ["\u{2028}\r\nevent: x"]
        let text = text(state)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count == 4)
        #expect(text.contains("\"name\": \"a\\\"},\u{FFFD}\u{FFFD}data: \u{FFFD}\u{FFFD}\\\\<script>\""), "\(text)")
        #expect(!text.unicodeScalars.contains { [0x202E, 0x2028, 0, 13].contains($0.value) })
    }

    @Test func thePassingOfTimeIsNoChange() {
        var other = state
        #expect(!state.differs(from: other))
        other.listenerCount = 13
        #expect(state.differs(from: other))
        other = state
        other.isLive = false
        #expect(state.differs(from: other))
    }
}

@Suite struct WebPageTests {
    @Test func thePolicyAllowsOnlyThePagesOwnStyleAndScript() {
        let page = WebPage(Array("<style>a</style><script>\nb\n</script><script>c</script>".utf8))
        // echo -n a | openssl dgst -sha256 -binary | base64
        #expect(page.policy.contains("style-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='; "))
        #expect(page.policy.contains("script-src 'sha256-"))
        #expect(page.policy.hasPrefix("default-src 'none'; ") && !page.policy.contains("unsafe"))
    }

    @Test func theEmbeddedPageIsTheFile() {
        let page = WebPage.embedded
        #expect(String(decoding: page.bytes.prefix(15), as: UTF8.self) == "<!DOCTYPE html>")
        #expect(page.policy.contains("style-src") && page.policy.contains("script-src"))
        #expect(!String(decoding: page.bytes, as: UTF8.self).contains(" style="))
    }
}
