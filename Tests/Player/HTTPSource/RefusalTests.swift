import Glibc
import TenfourHTTPSource
import TenfourMediaSource
import TestSupport
import Testing

/// A refused first connection fails at once, with an error that states the remedy.
@Suite(.onItsOwnThread) struct RefusalTests {
    let folder = Folder()
    let server: SoundServer

    init() throws { server = try SoundServer(folder, song: [1, 2, 3]) }

    private func refusal(_ address: String, _ options: HTTPOptions = HTTPOptions()) throws -> String {
        let download = try HTTPByteSource(address, options: options)
        let refusal = download.refusal() ?? "none"
        #expect(download.state.phase == .failed(.failed(refusal)))
        #expect(!refusal.contains { $0.isNewline })
        return refusal
    }

    @Test(arguments: [
        (404, "check its spelling"), (401, "https://user:password@"), (403, "--header"), (500, "try again later"),
    ])
    func theServerRefuses(status: Int, remedy: String) throws {
        let refusal = try refusal(server.address("song", "status=\(status)"))
        #expect(refusal.contains("\(status)") || status == 401)
        #expect(refusal.contains(remedy))
    }

    @Test func nobodyHasThatName() throws {
        let refusal = try refusal("http://nobody.invalid/song")
        #expect(refusal.contains("no host is called nobody.invalid") && refusal.contains("spelling"))
    }

    @Test func nobodyAnswers() throws {
        server.end()
        #expect(
            try refusal(server.address("song")).contains("nobody answers at 127.0.0.1:\(server.port); check the port"))
    }

    @Test func roundInCircles() throws {
        #expect(try refusal(server.address("song", "redirect=-1")).contains("more than 10 times"))
    }

    @Test func aServerLeadsToNoFileOfOurs() throws {
        let hexadecimal = "file:///etc/passwd".utf8.map { String($0, radix: 16) }.joined()
        #expect(try refusal(server.address("song", "leads=\(hexadecimal)")).contains("neither http nor https"))
    }

    @Test func aServerThatNeverAnswersIsWaitedForNoLongerThanThat() throws {
        let start = ContinuousClock.now
        let refusal = try refusal(server.address("song", "late=60"), HTTPOptions(timeout: .milliseconds(300)))
        #expect(refusal.contains("did not answer within 0.3 seconds") && refusal.contains("--timeout"))
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test func aPageInPlaceOfAudioIsRefusedByTheDemuxer() throws {
        let download = try HTTPByteSource(server.address("song", "html"))
        #expect(try download.all().starts(with: Array("<!DOCTYPE".utf8)))
        #expect(download.state.contentType == "text/html")
    }

    @Test(arguments: ["ftp://host/song", "song.mp3", "http://", "https:///song", "http://a b\n/", "-", ""])
    func invalidAddressesAreNotRequested(address: String) {
        #expect(throws: ByteSourceError.self) { _ = try HTTPByteSource(address) }
    }

    @Test func aPasswordIsNotShown() throws {
        let refusal = try refusal("http://joe:secret@127.0.0.1:\(server.port)/status=404/song")
        #expect(!refusal.contains("secret") && refusal.contains("127.0.0.1"))
    }
}

/// Downloads through proxies, and the certificates that are trusted then.
@Suite(.onItsOwnThread) struct ProxyAndCertificateTests {
    let folder = Folder()
    let file = sound(100_000)

    init() { folder.write(file, to: "song") }

    @Test(arguments: ["socks5h", "http"])
    func theProxyIsAskedForTheName(scheme: String) throws {
        let server = try SoundServer(folder)
        let proxy = try ProxyServer()
        let options = HTTPOptions(proxy: "\(scheme)://127.0.0.1:\(proxy.port)")
        let download = try HTTPByteSource(server.address("song", host: "nobody.invalid"), options: options)
        #expect(try download.all() == file)
        #expect(proxy.requests.first?.contains("nobody.invalid") == true)
    }

    @Test(arguments: [("socks5h", "did not connect to 127.0.0.1"), ("http", "403")])
    func theProxyRefuses(scheme: String, sentence: String) throws {
        let server = try SoundServer(folder)
        let proxy = try ProxyServer("refuse")
        let options = HTTPOptions(proxy: "\(scheme)://joe:secret@127.0.0.1:\(proxy.port)")
        let refusal = try HTTPByteSource(server.address("song"), options: options).refusal() ?? ""
        #expect(refusal.contains(sentence) && !refusal.contains("secret"))
        #expect(server.requests.isEmpty)
    }

    @Test func aSilentProxyIsLeft() throws {
        let proxy = try ProxyServer("silent")
        let options = HTTPOptions(proxy: "socks5h://127.0.0.1:\(proxy.port)", timeout: .milliseconds(300))
        let refusal = try HTTPByteSource("http://nobody.invalid/song", options: options).refusal() ?? ""
        #expect(refusal.contains("did not answer within"))
    }

    @Test func noProxyIsThere() throws {
        let options = HTTPOptions(proxy: "socks5h://127.0.0.1:1")
        let refusal = try HTTPByteSource("http://nobody.invalid/song", options: options).refusal() ?? ""
        #expect(refusal.contains("nobody answers at the proxy socks5h://127.0.0.1:1"))
    }

    @Test func oneWhoSignsForHimselfIsNotTrusted() throws {
        let certificate = try Certificate(for: "DNS:localhost", in: folder)
        let server = try SoundServer(folder, certificate: certificate.file, key: certificate.key)
        let refusal = try HTTPByteSource(server.address("song", host: "localhost")).refusal() ?? ""
        #expect(refusal.contains("is not trusted") && refusal.contains("localhost"))

        let options = HTTPOptions(certificates: certificate.file)
        #expect(try HTTPByteSource(server.address("song", host: "localhost"), options: options).all() == file)
        // A host name that the certificate does not contain.
        let other = try HTTPByteSource(server.address("song", host: "127.0.0.1"), options: options).refusal() ?? ""
        #expect(other.contains("is not trusted"))
    }

    @Test func httpsOverAProxyIsStillHttps() throws {
        let certificate = try Certificate(for: "DNS:localhost", in: folder)
        let server = try SoundServer(folder, certificate: certificate.file, key: certificate.key)
        let proxy = try ProxyServer()
        let options = HTTPOptions(proxy: "http://127.0.0.1:\(proxy.port)", certificates: certificate.file)
        #expect(try HTTPByteSource(server.address("song", host: "localhost"), options: options).all() == file)
        #expect(proxy.requests.first?.contains("CONNECT localhost") == true)
        let refusing = try ProxyServer("refuse")
        let others = HTTPOptions(proxy: "http://127.0.0.1:\(refusing.port)", certificates: certificate.file)
        let refusal = try HTTPByteSource(server.address("song", host: "localhost"), options: others).refusal() ?? ""
        #expect(refusal.contains("refuses to connect to localhost"))
    }

    @Test func plainHttpWhereHttpsIsMeant() throws {
        let server = try SoundServer(folder)
        let address = server.address("song").replacing("http:", with: "https:")
        #expect(try HTTPByteSource(address).refusal()?.contains("the TLS connection") == true)
    }
}
