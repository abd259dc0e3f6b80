import TenfourHTTPSource
import TenfourMediaSource
import TestSupport
import Testing

/// Credentials given for one server are sent to no other.
@Suite(.onItsOwnThread) struct CredentialTests {
    let folder = Folder()
    let file = sound(50_000)
    let first: SoundServer
    let other: SoundServer

    init() throws {
        first = try SoundServer(folder, song: file)
        other = try SoundServer(folder, song: file)
    }

    private static let options = HTTPOptions(headers: ["X-Key: 7", "Authorization: Bearer abc", "Cookie: d=e"])

    private func leading(to address: String) -> String {
        "leads=" + address.utf8.map { String($0, radix: 16) }.joined()
    }

    private func said(to server: SoundServer) -> String {
        server.requests.map { $0.joined(separator: " ") }.joined(separator: "\n")
    }

    private func expectNothing(at server: SoundServer, _ location: SourceLocation = #_sourceLocation) {
        let said = said(to: server)
        #expect(!server.requests.isEmpty, sourceLocation: location)
        for secret in ["X-Key", "Authorization", "Cookie"] {
            #expect(!said.contains(secret), "\(said)", sourceLocation: location)
        }
    }

    @Test func aServerThatLeadsToAnotherTakesNothingAlong() throws {
        let address = first.address("song", leading(to: other.address("song")))
        #expect(try HTTPByteSource(address, options: Self.options).all() == file)
        for secret in ["X-Key=7", "Bearer abc", "d=e"] { #expect(said(to: first).contains(secret)) }
        expectNothing(at: other)
    }

    /// The other server is the same host under another name, and then the same name with another port.
    @Test(arguments: ["localhost", "127.0.0.1"])
    func anotherNameOrPortIsAnotherServer(host: String) throws {
        let address = first.address("song", leading(to: other.address("song", host: host)))
        #expect(try HTTPByteSource(address, options: Self.options).all() == file)
        expectNothing(at: other)
    }

    @Test func aUserAndPasswordStayWithTheirHost() throws {
        let here = first.address("song", "slow=10000000")
        let leads = first.address("song", leading(to: here)).replacing("http://", with: "http://joe:secret@")
        #expect(try HTTPByteSource(leads).all() == file)
        #expect(first.requests.count == 2)
        #expect(first.requests.allSatisfy { $0.contains { $0.hasPrefix("Authorization=") } })

        let away = first.address("song", leading(to: other.address("song")))
            .replacing("http://", with: "http://joe:secret@")
        #expect(try HTTPByteSource(away).all() == file)
        expectNothing(at: other)
    }

    /// Fetches the file as an entry of a playlist at another host.
    @Test func credentialsGoToNoOtherHost() throws {
        var options = Self.options
        options.trusted = try Resource(first.address("list.m3u").replacing("http://", with: "http://joe:secret@"))
        options.headers = ["X-Key: 7"]
        #expect(try HTTPByteSource(other.address("song"), options: options).all() == file)
        expectNothing(at: other)
        #expect(try HTTPByteSource(first.address("song"), options: options).all() == file)
        #expect(said(to: first).contains("X-Key=7") && said(to: first).contains("Authorization=Basic"))
        options.trusted = .file(path: "/list.m3u")
        #expect(try HTTPByteSource(other.address("song"), options: options).all() == file)
        expectNothing(at: other)
    }

    @Test func noServerLeadsFromHttpsToHttpUnlessThatIsAllowed() throws {
        let certificate = try Certificate(for: "DNS:localhost", in: folder)
        let secure = try SoundServer(folder, certificate: certificate.file, key: certificate.key)
        var options = Self.options
        options.certificates = certificate.file
        let address = secure.address("song", leading(to: other.address("song")), host: "localhost")
        let refusal = try HTTPByteSource(address, options: options).refusal() ?? "none"
        #expect(refusal.contains("from https to http") && refusal.contains("--allow-http"), "\(refusal)")
        #expect(other.requests.isEmpty)
        options.allowsDowngrade = true
        #expect(try HTTPByteSource(address, options: options).all() == file)
        expectNothing(at: other)
    }

    /// Origins differ even if only the scheme differs.
    @Test func theSchemeBelongsToTheOrigin() throws {
        let origins = try [
            "http://h:443/", "https://h/", "https://H:443/x", "http://h/", "https://h.:443", "https://u:p@h",
        ]
        .map { try Resource($0).origin }
        #expect(origins[1] == origins[2] && origins[1] == origins[4] && origins[1] == origins[5])
        #expect(origins[0] != origins[1] && origins[0] != origins[3] && origins[1] != origins[3])
        #expect(try Resource("http://[::1]:8000/a").origin != Resource("http://[::1]/a").origin)
        #expect(try Resource("http://good.org@bad.org/").origin == Resource("http://bad.org").origin)
        #expect(try Resource("http://h:99999/").origin == nil)
    }

    @Test func aConnectionThatStaysAwayIsGivenUp() throws {
        var options = HTTPOptions(timeout: .milliseconds(300))
        options.giveUpAfter = .milliseconds(900)
        let download = try HTTPByteSource(first.address("song", "cut=20000"), options: options)
        #expect(try download.bytes(from: 0, 10_000) == Array(file[..<10_000]))
        first.end()
        do {
            _ = try download.all()
            Issue.record("the download did not fail")
        } catch {
            #expect("\(error)".contains("--give-up-after"), "\(error)")
        }
    }

    /// A live stream is retried forever by default.
    @Test func aStationIsGivenUpOnlyWhereThatIsAsked() throws {
        for limit in [nil, Duration.milliseconds(700)] {
            let server = try SoundServer(folder)
            var options = HTTPOptions(timeout: .milliseconds(300))
            (options.giveUpAfter, options.giveUpLiveAfter) = (.milliseconds(100), limit)
            let download = try HTTPByteSource(server.address("song", "icy=1000", "slow=20000"), options: options)
            _ = try download.bytes(from: 0, 10_000)
            server.end()
            let hasFailed = download.wait(.seconds(limit == nil ? 2 : 20)) {
                if case .failed = $0.phase { true } else { false }
            }
            #expect(hasFailed == (limit != nil))
        }
    }
}
