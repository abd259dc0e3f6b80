import Glibc
import TenfourAudioCore
import TenfourHTTPServer
import TenfourSession
import TenfourUV
import TestSupport
import Testing

@Suite(.onItsOwnThread) struct HTTPStreamTests {
    private let server: RunningServer

    init() throws { server = try RunningServer(capacity: 16_384) }

    /// Connects to `path` and returns once the server counts `count` listeners.
    private func listener(_ path: String = "/live", count: Int = 1, receiveBufferSize: Int32? = nil) -> Client {
        let client = Client(server.port, receiveBufferSize: receiveBufferSize)
        client.get(path)
        let deadline = BareClock.now + 60
        while server.perform({ $0.live.listenerCount + $0.events.listenerCount }) < count, BareClock.now < deadline {
            usleep(1_000)
        }
        return client
    }

    @Test func listenerGetsPreambleNewestStartPointAndWhatFollows() {
        server.append("old|")
        server.append("start|")
        server.append("middle|", isStartPoint: false)
        let client = listener()
        server.append("next|")
        let answer = client.read { $0.hasSuffix("next|") }
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("Content-Type: audio/ogg; codecs=opus\r\n"))
        #expect(answer.hasSuffix("\r\n\r\nheader|start|middle|next|"))
        #expect(!answer.contains("chunked") && answer.contains("Connection: close"))
    }

    @Test func manyListenersGetTheSame() {
        let clients = (1...30).map { listener(count: $0) }
        for number in 0..<10 { server.append("\(number)|") }
        for client in clients {
            #expect(client.read { $0.hasSuffix("9|") }.hasSuffix("header|0|1|2|3|4|5|6|7|8|9|"))
        }
    }

    @Test func eventIsSentAtOnce() {
        let client = listener("/events")
        server.perform { $0.events.append([UInt8]("data: 1\n\n".utf8).span) }
        #expect(client.read { $0.hasSuffix("data: 1\n\n") }.hasSuffix("\r\n\r\nretry: 1000\n\ndata: 1\n\n"))
    }

    @Test func listenerThatClosesIsForgotten() {
        do { _ = listener("/events") }
        let deadline = BareClock.now + 60
        while server.perform({ $0.events.listenerCount }) > 0, BareClock.now < deadline { usleep(10_000) }
        #expect(server.perform { $0.events.listenerCount } == 0)
        while server.perform({ $0.server.connectionCount }) > 0, BareClock.now < deadline { usleep(10_000) }
        #expect(server.perform { $0.server.connectionCount } == 0)
    }

    @Test func disconnectingEndsTheAnswer() {
        let client = listener()
        server.perform { $0.live.disconnectAll() }
        #expect(client.isClosed(within: 5))
        #expect(server.perform { $0.live.listenerCount } == 0)
    }

    @Test func serverEndsWhileOthersListen() {
        let client = listener()
        server.perform { $0.server.close() }
        #expect(client.isClosed(within: 5))
    }

    @Test func serverThatNobodyClosesEndsItsAnswersWhenItIsDeinitialised() throws {
        let loop = try EventLoop()
        defer { loop.closeAll() }
        let events = try HTTPStream(on: loop, period: .zero, beginning: .nextAppend) { [] }
        var limits = HTTPLimits()
        limits.hosts = HTTPHosts(["relay"])
        let any = Endpoint(.loopbackV4, port: 0)
        var server: HTTPServer? = try HTTPServer(on: loop, listeningAt: any, limits: limits) { _ in
            .stream(events, contentType: "text/event-stream")
        }
        let client = Client(try #require(server).endpoint.port)
        client.get("/")
        var timer: LoopTimer?
        timer = try loop.makeTimer {
            if events.listenerCount > 0 { loop.stop() } else { timer?.arm(at: loop.now + .milliseconds(10)) }
        }
        timer?.arm(at: loop.now)
        loop.run()
        server = nil
        #expect(client.isClosed(within: 5))
    }
}
