import TenfourAudioCore
import TenfourMediaSource
import TenfourSystem
import Testing

@testable import TenfourHLSSource

/// Keys, segments and reloads of a live stream, with a server that answers by a script and a clock that the test sets.
struct HLSSessionTests {
    private let server = ScriptedServer()
    private let address = Resource.http(address: "http://host/l")

    /// A live playlist of segments of 2 s.
    private func text(_ numbers: Range<Int>) -> [UInt8] {
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        return Array((head + numbers.map { "#EXTINF:2,\n\($0).ts\n" }.joined()).utf8)
    }

    private func list(_ numbers: Range<Int>) throws -> HLSMediaPlaylist {
        guard case .media(let media) = try HLSPlaylist(parsing: text(numbers).span, from: address) else {
            throw HLSPlaylistError.nested
        }
        return media
    }

    private func session(_ numbers: Range<Int>) throws -> HLSSession {
        let fetches = HLSFetches(server.services, limits: BufferLimits(), state: ByteSourceState())
        return HLSSession(try list(numbers), from: address, requestedAt: server.now, fetches)
    }

    private func head(_ chain: HLSChain) throws -> HLSSlot? {
        if case .slot(let slot) = try chain.head() { slot } else { nil }
    }

    /// The attempts at a segment lie half a second and more apart.
    @Test func aKeyThatFailsOnceIsThereAtTheNextAttempt() throws {
        let session = try session(0..<10)
        let key = Resource.http(address: "http://host/key")
        server.answer("http://host/key", [.failed(.failed("status 503")), .bytes([1, 2, 3])])
        func fetch() throws(ByteSourceError) -> [UInt8]? { try session.file(key, nil, limit: 16) }
        #expect(try fetch() == nil)
        for _ in 0..<3 { #expect(throws: ByteSourceError.failed("status 503")) { _ = try fetch() } }
        #expect(server.requests.count == 1, "segments that come at the same time share the failure")
        server.advance(.milliseconds(500))
        #expect(try fetch() == nil)
        #expect(try fetch() == [1, 2, 3])
    }

    @Test func aKeyThatDoesNotArriveIsNotWaitedForAgainAndAgain() throws {
        let session = try session(0..<10)
        let key = Resource.http(address: "http://host/key")
        server.answer("http://host/key", [.failed(.failed("late", kind: .timedOut)), .bytes([1])])
        #expect(try session.file(key, nil, limit: 16) == nil)
        for _ in 0..<4 {
            #expect(throws: ByteSourceError.self) { try session.file(key, nil, limit: 16) }
            server.advance(.seconds(1))
        }
        server.advance(.seconds(2))
        #expect(try session.file(key, nil, limit: 16) == nil)
    }

    @Test func aPlaylistThatDoesNotChangeIsGivenUp() throws {
        var reloads = HLSReloadSchedule()
        let list = try list(0..<3)
        reloads.loaded(list, isChanged: true, requestedAt: .start)
        for second in 1...60 {
            #expect(!reloads.isDead(at: .start + .seconds(second), after: .seconds(60)))
            reloads.loaded(list, isChanged: false, requestedAt: .start + .seconds(second))
        }
        #expect(reloads.isDead(at: .start + .seconds(61), after: .seconds(60)))
        #expect(!reloads.isDead(at: .start + .seconds(1_000), after: nil))
        reloads.loaded(list, isChanged: true, requestedAt: .start + .seconds(61))
        #expect(!reloads.isDead(at: .start + .seconds(1_000), after: .seconds(60)))
    }

    @Test func aPauseIsNoStall() throws {
        let session = try session(0..<10)
        server.answer("http://host/7.ts", [.beginning([1, 2, 3])])
        let chain = HLSChain(session, at: session.timeline.startPlace)
        for _ in 0..<3 { chain.poll(at: server.now) }
        session.fetches.pause(true)
        server.advance(.seconds(3_600))
        session.fetches.pause(false)
        chain.poll(at: server.now)
        #expect(try head(chain)?.source != nil)
        func requestCount() -> Int { server.requests.count { $0.hasSuffix("7.ts") } }
        #expect(requestCount() == 1)
        for _ in 0..<10 {
            server.advance(.seconds(1))
            chain.poll(at: server.now)
        }
        #expect(requestCount() > 1, "without a pause it is one")
    }

    /// A listener far behind the live edge loses as little as possible, and one at the edge stays there.
    @Test func afterAGapPlaybackGoesOnAtTheNearestSegment() throws {
        for (start, isAtEdge) in [(10, false), (97, true)] {
            let session = try session(0..<100)
            let chain = HLSChain(session, at: HLSTimeline.Place(epoch: 0, number: start))
            chain.poll(at: server.now)
            while let slot = try head(chain), slot.place.number < 100 {
                chain.remove(slot)
                if !isAtEdge, slot.place.number > 11 { break }
                chain.poll(at: server.now)
            }
            while let slot = try head(chain) { chain.remove(slot) }
            server.answer("http://host/l", [.bytes(text(150..<250))])
            server.advance(.seconds(3))
            for _ in 0..<3 { session.poll(at: server.now) }
            #expect(session.timeline.playlist.firstNumber == 150)
            chain.poll(at: server.now)
            #expect(try head(chain)?.place.number == (isAtEdge ? 247 : 150))
        }
    }
}

/// Answers requests by a script. An address without an answer never sends a byte.
private final class ScriptedServer: Sendable {
    enum Answer: Sendable {
        case bytes([UInt8])
        /// These bytes, and then nothing more.
        case beginning([UInt8])
        case failed(ByteSourceError)
    }

    private struct Contents: Sendable {
        var now = Instant.start
        var answers: [String: [Answer]] = [:]
        var requests: [String] = []
    }

    private let contents = Locked(Contents())

    var now: Instant { contents.withLock(\.now) }
    var requests: [String] { contents.withLock(\.requests) }

    func advance(_ duration: Duration) { contents.withLock { $0.now = $0.now + duration } }
    func answer(_ address: String, _ answers: [Answer]) { contents.withLock { $0.answers[address] = answers } }

    var services: HLSServices {
        var services = HLSServices(
            open: { [self] (resource, _, _) throws(ByteSourceError) in
                contents.withLock { contents in
                    let address = "\(resource)"
                    contents.requests.append(address)
                    guard let answer = contents.answers[address]?.first else { return ScriptedBytes(.beginning([])) }
                    contents.answers[address]?.removeFirst()
                    return ScriptedBytes(answer)
                }
            },
            makeDecryption: { (_, _) throws(ByteSourceError) in { _ in } },
            openReader: { (_, _) throws(ReaderError) in throw .undecodable("there is no audio") },
            now: { [self] in now })
        services.bufferedDuration = .seconds(4)
        return services
    }
}

/// The bytes of an answer, all of which have arrived.
private final class ScriptedBytes: ByteSource {
    private let bytes: [UInt8]
    private let phase: ByteSourceState.Phase

    init(_ answer: ScriptedServer.Answer) {
        switch answer {
        case .bytes(let bytes): (self.bytes, phase) = (bytes, .ended)
        case .beginning(let bytes): (self.bytes, phase) = (bytes, .receiving)
        case .failed(let error): (bytes, phase) = ([], .failed(error))
        }
    }

    var state: ByteSourceState { ByteSourceState(phase: phase, available: 0..<bytes.count) }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        let count = max(min(buffer.count, bytes.count - offset), 0)
        if count > 0 { unsafe buffer.copyBytes(from: bytes[offset..<offset + count]) }
        return count
    }
}
