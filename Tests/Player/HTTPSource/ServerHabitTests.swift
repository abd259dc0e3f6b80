import TenfourHTTPSource
import TenfourMediaSource
import TestSupport
import Testing

/// Servers that ask for cookies, refuse ranges, or compress what was requested uncompressed.
@Suite(.onItsOwnThread, .timeLimit(.minutes(5))) struct ServerHabitTests {
    let folder = Folder()
    let file = sound(300_000)
    let server: SoundServer

    init() throws { server = try SoundServer(folder, song: file) }

    private func leading(to address: String) -> String {
        "leads=" + address.utf8.map { String($0, radix: 16) }.joined()
    }

    /// Each request has its cookies as `Cookie=…`.
    private func cookies(at server: SoundServer) -> [Substring?] {
        server.requests.map { $0.first { $0.hasPrefix("Cookie=") } }
    }

    @Test func aCookieOfARedirectReachesItsTarget() throws {
        #expect(try HTTPByteSource(server.address("song", "cookie")).all() == file)
        #expect(cookies(at: server) == [nil, "Cookie=sid=abc"])
        // Nothing is kept for another address.
        #expect(try HTTPByteSource(server.address("song")).all() == file)
        #expect(cookies(at: server).last == .some(nil))
    }

    /// The same machine under another name is another host (RFC 6265 section 5.1.3).
    @Test func aCookieReachesNoOtherHost() throws {
        let other = try SoundServer(folder)
        let last = other.address("song", host: "localhost")
        let address = server.address("song", leading(to: server.address("song", "cookie")))
        #expect(try HTTPByteSource(address).all() == file)
        let away = server.address("song", leading(to: last))
        #expect(try HTTPByteSource(away).all() == file)
        #expect(cookies(at: other) == [nil])
    }

    @Test(arguments: [400, 403, 405, 406, 412, 416, 501])
    func aServerThatRefusesRangesIsAskedWithoutOne(_ status: Int) throws {
        let download = try HTTPByteSource(server.address("song", "refuserange=\(status)"))
        #expect(try download.all() == file)
        #expect(server.ranges == ["0-", ""])
        #expect(!download.state.isSeekable)
    }

    @Test(arguments: [400, 403, 404, 406])
    func aServerThatRefusesEverythingIsAskedTwiceAtMost(_ status: Int) throws {
        let refusal = try HTTPByteSource(server.address("song", "status=\(status)")).refusal() ?? "none"
        #expect(refusal.contains("\(status)"), "\(refusal)")
        #expect(server.requests.count == (status == 404 ? 1 : 2))
    }

    @Test func aCompressedBodyIsDecompressed() throws {
        let download = try HTTPByteSource(server.address("song", "packed"))
        #expect(try download.all() == file)
        #expect(download.state.byteCount == file.count && !download.state.isSeekable)
        #expect(server.requests[0].contains("Accept-Encoding=identity"))
    }

    /// Some servers write a character set, or a compression that is none.
    @Test(arguments: ["none", "identity", "utf-8", "binary", "audio%2Fmpeg"])
    func aHeaderThatNamesNoCompressionMeansNone(_ encoding: String) throws {
        #expect(try HTTPByteSource(server.address("song", "encoding=\(encoding)")).all() == file)
    }

    /// The page that comes with a redirect does not matter.
    @Test(arguments: ["gzip", "deflate", "br", "utf-8"])
    func aRedirectIsFollowedWhateverItsPageIsCompressedBy(_ encoding: String) throws {
        let address = server.address("song", "encoding=\(encoding)", leading(to: server.address("song")))
        #expect(try HTTPByteSource(address).all() == file)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [[], ["norange"]]) func aLengthOf2To60BytesIsNotReserved(_ how: [String]) throws {
        let part = ["claim=\(1 << 60)"]
        let stalled = server.address((how + part + ["stall=1000", "song"]).joined(separator: "/"))
        let download = try HTTPByteSource(stalled, options: HTTPOptions(timeout: .seconds(600)), limits: .all)
        #expect(try download.bytes(from: 0, 1_000) == Array(file[..<1_000]))
        #expect(download.state.byteCount == 1 << 60)
        download.stop()
        let whole = server.address((how + part + ["song"]).joined(separator: "/"))
        #expect(try HTTPByteSource(whole, limits: .all).all() == file)
    }

    @Test func bytesThatGrowAHundredfoldAreRefused() throws {
        // On a busy machine the server compresses them for long.
        let address = server.address("song", "bomb=100000000")
        let download = try HTTPByteSource(address, options: HTTPOptions(timeout: .seconds(600)), limits: .all)
        let error = #expect(throws: ByteSourceError.self) { try download.all() }
        guard case .failed(let sentence, .invalidResponse) = try #require(error) else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(sentence.contains("a hundred times larger"))
        #expect(download.state.held.count < 70_000_000)
    }

    @Test func damagedCompressedBytesAreRefused() throws {
        let refusal = try HTTPByteSource(server.address("song", "encoding=gzip")).refusal() ?? "none"
        #expect(refusal.contains("compressed data (gzip)") && refusal.contains("decompressed"), "\(refusal)")
    }
}
