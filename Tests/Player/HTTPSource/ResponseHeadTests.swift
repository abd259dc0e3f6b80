import TenfourMediaSource
import Testing

@testable import TenfourHTTPSource

struct ResponseHeadTests {
    private func head(_ lines: String...) -> ResponseHead { head(lines) }

    private func head(_ lines: [String]) -> ResponseHead {
        var head = ResponseHead()
        for line in lines { head.parse(Array((line + "\r\n").utf8).span) }
        return head
    }

    @Test func headerFieldsAreFoundInAnySpelling() {
        let head = head(
            "HTTP/1.1 206 Partial Content", "CONTENT-LENGTH:  500 ", "content-range: Bytes 500-999/1000", "ETag: \"x\"",
            "Content-Type: audio/\u{1B}mpeg", "")
        #expect(head.bodyByteCount == 500 && head.entityTag == "\"x\"")
        #expect(head.contentRange == .init(first: 500, total: 1000))
        #expect(head.contentType == "audio/\u{FFFD}mpeg")
    }

    @Test func headersAreKeptForProgramsBoundedAndSafe() {
        let many = (0..<200).map { "X-\($0): \u{1B}[2J" + String(repeating: "a", count: 3_000) }
        let head = head(["HTTP/1.1 200 OK", "Server: one", "server:  two "] + many)
        #expect(head.headers.count == ResponseHead.maximumHeaderCount)
        #expect(head.headers[0] == ResponseHeader(name: "Server", value: "one"))
        #expect(head.headers[1] == ResponseHeader(name: "server", value: "two"))
        #expect(head.headers.allSatisfy { $0.value.unicodeScalars.count <= 1_025 && !$0.value.contains("\u{1B}") })
        var state = ByteSourceState()
        state.headers = head.headers
        #expect(state.header("SERVER") == "one" && state.header("none") == nil)
    }

    @Test func theLastResponseCounts() {
        #expect(head("HTTP/1.1 302 Found", "Content-Length: 5", "ETag: a", "", "HTTP/1.1 200 OK", "").entityTag == nil)
    }

    @Test(arguments: ["-1", "", "1e3", "99999999999999999999", "+5", "5 6", "0x10"])
    func aLengthThatIsNoNumberIsNone(value: String) {
        #expect(head("HTTP/1.1 200 OK", "Content-Length: \(value)").bodyByteCount == nil)
    }

    @Test func anOldStationIsOne() {
        let head = head("ICY 200 OK", "icy-name: A", "icy-metaint:8192")
        #expect(head.isStation && head.stationName == "A" && head.metadataInterval == 8192)
    }

    @Test func noiseTrapsNothing() {
        var state: UInt64 = 9
        for _ in 0..<20_000 {
            var head = ResponseHead()
            for start in ["content-range: bytes ", "icy-metaint:", "Content-Length:", "HTTP/"] {
                let noise = (0..<12).map { _ in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return Array("0123456789-/* \u{0}\u{FF}:b".utf8)[Int(state >> 33) % 18]
                }
                head.parse((Array(start.utf8) + noise).span)
            }
            for status in [200, 206, 416] {
                _ = ResponseAction.on(
                    status: status, head, from: 100, hasRange: true, known: Representation(head, isPart: true))
            }
        }
    }
}

struct VerdictTests {
    private let whole = Representation(
        { () -> ResponseHead in
            var head = ResponseHead()
            head.contentRange = .init(first: 0, total: 1_000)
            head.entityTag = "a"
            return head
        }(), isPart: true)

    private func action(_ status: Int, from offset: Int, _ change: (inout ResponseHead) -> Void) -> ResponseAction {
        var head = ResponseHead()
        change(&head)
        return ResponseAction.on(status: status, head, from: offset, hasRange: true, known: whole)
    }

    @Test func aPartIsTakenFromWhereItWasAsked() {
        #expect(action(206, from: 500) { $0.contentRange = .init(first: 500, total: 1_000) } == .useBody(skipping: 0))
        #expect(action(206, from: 500) { $0.contentRange = .init(first: 400, total: 1_000) } == .useBody(skipping: 100))
        #expect(action(206, from: 500) { $0.contentRange = .init(first: 500, total: nil) } == .useBody(skipping: 0))
    }

    @Test func aPartThatWasNotAskedForIsNotTaken() {
        #expect(
            action(206, from: 500) { $0.contentRange = .init(first: 600, total: 1_000) } == .refused(isLasting: true))
        #expect(action(206, from: 500) { _ in } == .refused(isLasting: true))
    }

    @Test func anotherLengthOrTagIsAnotherFile() {
        #expect(action(206, from: 500) { $0.contentRange = .init(first: 500, total: 900) } == .changed)
        #expect(action(200, from: 500) { $0.entityTag = "b" } == .changed)
        #expect(action(200, from: 500) { $0.bodyByteCount = 1_000 } == .useBody(skipping: 500))
    }

    @Test func behindTheEndItIsEnded() {
        #expect(action(416, from: 900) { $0.contentRange = .init(first: nil, total: 900) } == .ended)
        #expect(action(416, from: 900) { $0.contentRange = .init(first: nil, total: 1_000) } == .ended)
        #expect(action(416, from: 900) { $0.contentRange = .init(first: nil, total: 800) } == .changed)
        #expect(action(416, from: 0) { _ in } == .retryWithoutRange)
    }
}
