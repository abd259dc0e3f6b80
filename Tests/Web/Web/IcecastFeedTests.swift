import Foundation
import Synchronization
import TenfourWeb
import TestSupport
import Testing

/// Feeds of a real icecast2, and of servers that misbehave.
@Suite(.onItsOwnThread) struct IcecastFeedTests {
    private let folder = Folder()

    private func settings(_ port: UInt16, mount: String = "/family.ogg", password: String = "hackme") -> IcecastSettings
    {
        var settings = IcecastSettings(host: "127.0.0.1", mount: mount, password: password)
        settings.port = port
        settings.name = "Family"
        return settings
    }

    /// Waits until `isThere` is true for the status, and returns the status.
    @discardableResult
    private func wait(
        _ feed: IcecastFeed, for time: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation,
        until isThere: (IcecastStatus) -> Bool
    ) -> IcecastStatus {
        let deadline = ContinuousClock.now + time
        while ContinuousClock.now < deadline {
            if isThere(feed.status) { return feed.status }
            usleep(10_000)
        }
        Issue.record("the condition did not become true: \(feed.status)", sourceLocation: sourceLocation)
        return feed.status
    }

    @Test func aPlayerHearsTheMountPoint() throws {
        let server = try IcecastServer()
        let tone = try OggTone(seconds: 12)
        let feed = try IcecastFeed(channel: "family", settings(server.port))
        try tone.play(into: feed) {
            wait(feed) { $0.isConnected && $0.sentByteCount > 4_000 }
            let player = try Program.run(
                "ffmpeg", ["-v", "error", "-t", "3", "-i", server.url("/family.ogg"), "-ac", "1", "heard.wav"],
                in: folder)
            #expect(player.end == .code(0), "\(player.errors)")
        }
        let heard = try #require(Tone(in: Recording(wav: folder("heard.wav")).channels[0]))
        #expect(abs(heard.frequency - Tone.telling) < 5 && heard.duration > 2 && heard.holes.isEmpty, "\(heard)")
        let status = feed.status
        #expect(
            status.connectedCount == 1 && status.failures.isEmpty
                && status.sentence == "feeds 127.0.0.1:\(server.port)/family.ogg")
    }

    @Test func itComesBackAfterTheServersRestart() throws {
        let server = try IcecastServer()
        let tone = try OggTone(seconds: 60)
        let feed = try IcecastFeed(channel: "family", settings(server.port))
        try tone.play(into: feed) {
            wait(feed) { $0.isConnected }
            server.kill()
            #expect(wait(feed) { $0.failures[.ended] == 1 }.isConnected == false)
            wait(feed) { $0.failures[.unreachable] ?? 0 > 0 }
            #expect(feed.status.sentence.contains("the server cannot be reached"))
            try server.start()
            let status = wait(feed) { $0.isConnected && $0.connectedCount == 2 && $0.lastFailure == nil }
            wait(feed) { $0.sentByteCount > status.sentByteCount + 4_000 }
        }
    }

    @Test func aWrongPasswordAndAnOccupiedMountPointAreToldApart() throws {
        let server = try IcecastServer()
        let tone = try OggTone(seconds: 2)
        let wrong = try IcecastFeed(channel: "family", settings(server.port, password: "guess"))
        wait(wrong) { $0.failures[.password] == 1 }
        #expect(
            wrong.status.sentence == "cannot feed 127.0.0.1:\(server.port)/family.ogg: "
                + "the server refuses the user or the password; check both in the file")
        let first = try IcecastFeed(channel: "family", settings(server.port))
        first.begin(header: tone.header)
        for page in tone.pages { first.append(page) }
        wait(first) { $0.isConnected && $0.sentByteCount > 0 }
        let second = try IcecastFeed(channel: "family", settings(server.port))
        wait(second) { $0.failures[.mountInUse] == 1 }
        #expect(second.status.sentence.contains("another source feeds this mount point"))
        #expect(first.status.isConnected)
    }

    @Test func aServerThatIsNotThereIsTriedAgain() throws {
        let feed = try IcecastFeed(channel: "family", settings(UDPPort.free()))
        wait(feed) { $0.failures[.unreachable] ?? 0 >= 2 }
        #expect(!feed.status.isConnected && feed.status.connectedCount == 0)
    }

    @Test func aServerThatNeverAnswersIsGivenUp() throws {
        let server = try StubServer()
        let feed = try IcecastFeed(channel: "family", settings(server.port))
        wait(feed) { $0.failures[.silent] == 1 }
        #expect(feed.status.sentence.contains("does not answer"))
    }

    @Test func anAnswerThatNoIcecastServerGivesIsCounted() throws {
        let server = try StubServer(answer: "HTTP/1.0 426 Upgrade Required\r\n\r\n")
        let feed = try IcecastFeed(channel: "family", settings(server.port))
        wait(feed) { $0.failures[.other] == 1 }
    }

    /// libshout would abort the process.
    @Test func aFeedBeginsOnlyWithADescriptorBelow1024() async {
        await #expect(processExitsWith: .success) {
            var files: [Int32] = []
            while files.last ?? 0 < 1000, let file = Optional(open("/dev/null", O_RDONLY)), file >= 0 {
                files.append(file)
            }
            let feed = try IcecastFeed(
                channel: "family", IcecastSettings(host: "127.0.0.1", mount: "/b", password: "c"))
            let deadline = ContinuousClock.now + .seconds(60)
            while feed.status.failures.isEmpty, ContinuousClock.now < deadline { usleep(10_000) }
            #expect(feed.status.lastFailure == .tooManyOpenFiles)
            for file in files { close(file) }
        }
    }

    /// Adding pages never waits, and what waits for the server is bounded.
    @Test func aServerThatStopsReadingIsGivenUp() throws {
        let server = try StubServer(answer: "HTTP/1.0 200 OK\r\n\r\n")
        let feed = try IcecastFeed(channel: "family", settings(server.port))
        feed.begin(header: [1, 2, 3])
        wait(feed) { $0.isConnected }
        var longest = Duration.zero
        let deadline = ContinuousClock.now + .seconds(60)
        while feed.status.failures[.stalled] == nil, ContinuousClock.now < deadline {
            let time = ContinuousClock().measure { feed.append([UInt8](repeating: 0, count: 32 << 10)) }
            longest = max(longest, time)
            usleep(1_000)
        }
        #expect(feed.status.failures[.stalled] == 1 && longest < .milliseconds(500), "\(feed.status), \(longest)")
        for _ in 0..<20 { feed.append([UInt8](repeating: 0, count: 32 << 10)) }
        #expect(feed.status.droppedByteCount >= 512 << 10, "\(feed.status)")
    }
}

/// A tone as Ogg Opus pages of a tenth of a second, from ffmpeg.
struct OggTone {
    var header: [UInt8] = []
    var pages: [[UInt8]] = []

    init(seconds: Int) throws {
        let result = Folder()
        let made = try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "sine=\(Tone.telling):r=48000:d=\(seconds)", "-c:a", "libopus",
                "-b:a",
                "32k", "-page_duration", "100000", "-f", "ogg", result("tone.ogg"),
            ])
        try #require(made.end == .code(0), "\(made.errors)")
        let bytes = Folder.bytes(of: result("tone.ogg"))
        var start = 0
        while start + 27 <= bytes.count {
            let segments = Int(bytes[start + 26])
            let end = start + 27 + segments + bytes[(start + 27)..<(start + 27 + segments)].reduce(0) { $0 + Int($1) }
            pages.append(Array(bytes[start..<end]))
            start = end
        }
        header = pages[0] + pages[1]
        pages.removeFirst(2)
    }

    /// Adds the pages to the feed at their pace, on another thread, while `body` runs.
    func play<Result>(into feed: IcecastFeed, _ body: () throws -> Result) rethrows -> Result {
        feed.begin(header: header)
        let pages = pages
        let isOver = Flag()
        defer { isOver.set() }
        Thread.detachNewThread {
            let start = ContinuousClock.now
            for (index, page) in pages.enumerated() {
                let due = start + .milliseconds(100 * index)
                while ContinuousClock.now < due { usleep(5_000) }
                if isOver.isSet { return }
                feed.append(page)
            }
        }
        return try body()
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}
