import Glibc
import TestSupport
import Testing

/// A relay that reaches its limit of open files, which are mostly the connections of listeners over HTTP.
@Suite(.onItsOwnThread, .inRealTime) struct OpenFilesTests {
    private let folder = Folder()
    private let plain = UDPPort.free()
    private let http = UDPPort.free()

    /// Starts a relay with a plain channel that can be heard over HTTP, under limits such as `64:64`, soft and hard.
    private func relay(limit: String, _ options: [String] = []) throws -> Program {
        let relay = try Program(
            "prlimit",
            [
                "--nofile=\(limit)", "--", try Program.path(of: "tenfour"), "relay", "--bind", "127.0.0.1:0",
                "--rtp-in",
                "studio=127.0.0.1:\(plain)", "--rtp-out", "studio=127.0.0.1:9", "--http", "127.0.0.1:\(http)", "--web",
                "studio", "--web-proxy", "127.0.0.1", "--status-socket", "relay.sock",
            ] + options, in: folder)
        try #require(relay.says("listeners over HTTP connect to"), "\(relay.errors)")
        return relay
    }

    @Test func theRelayMayOpenAsManyFilesAsTheSystemGrants() throws {
        let relay = try relay(limit: "100:300")
        let limits = Folder.text(of: "/proc/\(relay.processID)/limits").split(separator: "\n")
        let line = try #require(limits.first { $0.hasPrefix("Max open files") })
        #expect(line.split(separator: " ").dropFirst(3).prefix(2) == ["300", "300"], "\(line)")
    }

    @Test func withoutFreeFilesNewListenersWaitAndTheOthersHearOn() throws {
        folder.write(longTone, to: "tone.wav")
        let relay = try relay(limit: "64:64")
        let talker = try Program("tenfour", ["send", "--input", "tone.wav", "rtp://127.0.0.1:\(plain)"], in: folder)
        let listener = HTTPExchange("/studio.ogg", port: http)
        try #require(listener.read { $0.body.count > 5_000 }, "\(relay.errors)\(talker.errors)")
        func isHeardOn() -> Bool {
            let before = listener.body.count
            return listener.read(seconds: 5) { $0.body.count > before + 5_000 }
        }
        var others = (0..<80).map { _ in HTTPExchange("/studio.ogg", port: http) }
        let last = try #require(others.last)
        #expect(!last.read(seconds: 1) { $0.status != 0 })
        #expect(isHeardOn())
        // The waiting listeners are served as soon as others have disconnected.
        others.removeFirst(60)
        #expect(last.read(seconds: 5) { $0.status == 200 })
        #expect(isHeardOn() && relay.isRunning)
    }

    /// libshout waits with select(2), which cannot take a descriptor above 1023.
    @Test(.enabled(if: Self.mayOpenThousands, "needs the right to open 4096 files"))
    func anIcecastServerIsFedBesideAThousandListeners() throws {
        let server = UDPPort.free()
        folder.write("host 127.0.0.1\nport \(server)\nmount /studio.ogg\npassword hackme\n", to: "icecast.conf")
        unsafe chmod(folder("icecast.conf"), 0o600)
        let relay = try relay(limit: "4096:4096", ["--icecast", "studio=icecast.conf"])
        let listeners = try Program(
            "python3",
            [
                "-c",
                """
                import resource, socket, sys, time
                limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
                listeners = []
                for _ in range(1100):
                    listeners.append(socket.create_connection(("127.0.0.1", \(http))))
                    listeners[-1].sendall(b"GET /studio.ogg HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                    assert listeners[-1].recv(12).endswith(b"200")
                print("all listen", file=sys.stderr, flush=True)
                time.sleep(60)
                """,
            ])
        try #require(listeners.says("all listen"), "\(listeners.errors)")
        let icecast = try IcecastServer(port: server)
        #expect(relay.says("channel studio feeds 127.0.0.1:\(server)/studio.ogg"), "\(relay.errors)")
        withExtendedLifetime(icecast) {}
    }

    private static let mayOpenThousands: Bool = {
        var limit = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 && limit.rlim_max >= 4_096
    }()
}
