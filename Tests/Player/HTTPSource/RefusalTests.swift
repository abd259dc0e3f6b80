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

    private func refusal(
        _ address: String, _ options: HTTPOptions = HTTPOptions(), is kind: MediaErrorKind
    ) throws -> String {
        let download = try HTTPByteSource(address, options: options)
        let refusal = download.refusal() ?? "none"
        #expect(download.state.phase == .failed(.failed(refusal, kind: kind)))
        #expect(!refusal.contains { $0.isNewline })
        return refusal
    }

    @Test(
        arguments: [
            (404, "check its spelling", .notFound), (410, "check its spelling", .notFound),
            (401, "https://user:password@", .refused(status: 401)), (403, "--header", .refused(status: 403)),
            (500, "try again later", .refused(status: 500)),
        ] as [(Int, String, MediaErrorKind)])
    func theServerRefuses(status: Int, remedy: String, kind: MediaErrorKind) throws {
        let refusal = try refusal(server.address("song", "status=\(status)"), is: kind)
        #expect(refusal.contains("\(status)") || status == 401)
        #expect(refusal.contains(remedy))
    }

    @Test func nobodyHasThatName() throws {
        let refusal = try refusal("http://nobody.invalid/song", is: .nameUnknown)
        #expect(refusal.contains("no host is called nobody.invalid") && refusal.contains("spelling"))
    }

    @Test func nobodyAnswers() throws {
        server.end()
        #expect(
            try refusal(server.address("song"), is: .connectionFailed)
                .contains("nobody answers at 127.0.0.1:\(server.port); check the port"))
    }

    @Test func roundInCircles() throws {
        let refusal = try refusal(server.address("song", "redirect=-1"), is: .tooManyRedirects)
        #expect(refusal.contains("more than 10 times"))
    }

    @Test func aServerLeadsToNoFileOfOurs() throws {
        let hexadecimal = "file:///etc/passwd".utf8.map { String($0, radix: 16) }.joined()
        let refusal = try refusal(server.address("song", "leads=\(hexadecimal)"), is: .unsupportedScheme)
        #expect(refusal.contains("neither http nor https"))
    }

    @Test func aServerThatNeverAnswersIsWaitedForNoLongerThanThat() throws {
        let start = ContinuousClock.now
        let refusal = try refusal(
            server.address("song", "late=60"), HTTPOptions(timeout: .milliseconds(300)), is: .timedOut)
        #expect(refusal.contains("did not answer within 0.3 seconds") && refusal.contains("--timeout"))
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test func aPageInPlaceOfAudioIsRefusedByTheDemuxer() throws {
        let download = try HTTPByteSource(server.address("song", "html"))
        #expect(try download.all().starts(with: Array("<!DOCTYPE".utf8)))
        #expect(download.state.contentType == "text/html")
    }

    @Test(
        arguments: [
            ("ftp://host/song", .unsupportedScheme), ("song.mp3", .unsupportedScheme), ("http://", .invalidAddress),
            ("https:///song", .invalidAddress), ("http://a b\n/", .invalidAddress), ("-", .unsupportedScheme),
            ("", .invalidAddress),
        ] as [(String, MediaErrorKind)])
    func invalidAddressesAreNotRequested(address: String, kind: MediaErrorKind) {
        let error = #expect(throws: ByteSourceError.self) { _ = try HTTPByteSource(address) }
        #expect(error?.kind == kind)
    }

    @Test func aPasswordIsNotShown() throws {
        let refusal = try refusal("http://joe:secret@127.0.0.1:\(server.port)/status=404/song", is: .notFound)
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

    @Test(
        arguments: [
            ("socks5h", "did not connect to 127.0.0.1", .connectionFailed), ("http", "403", .refused(status: 403)),
        ] as [(String, String, MediaErrorKind)])
    func theProxyRefuses(scheme: String, sentence: String, kind: MediaErrorKind) throws {
        let server = try SoundServer(folder)
        let proxy = try ProxyServer("refuse")
        let options = HTTPOptions(proxy: "\(scheme)://joe:secret@127.0.0.1:\(proxy.port)")
        let download = try HTTPByteSource(server.address("song"), options: options)
        let refusal = download.refusal() ?? ""
        #expect(refusal.contains(sentence) && !refusal.contains("secret"))
        #expect(download.refusedRead()?.kind == kind)
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
        let untrusted = try HTTPByteSource(server.address("song", host: "localhost"))
        #expect(untrusted.refusedRead()?.kind == .insecure)
        let refusal = untrusted.refusal() ?? ""
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
