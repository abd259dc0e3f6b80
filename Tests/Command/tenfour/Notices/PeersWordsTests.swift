import Glibc
import TestSupport
import Testing

/// Texts sent by peers are shown, but cannot control the terminal.
@Suite(.onItsOwnThread, .inRealTime) struct PeersWordsTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    @Test func anSDPsNameIsShownWithoutItsControlCharacters() throws {
        folder.write(
            "v=0\ns=Red \u{1B}[31malert\u{7}\u{202E}\nc=IN IP4 127.0.0.1\nm=audio \(port) RTP/AVP 111\na=rtpmap:111 opus/48000/2\n",
            to: "evil.sdp")
        let result = try tenfour(["recv", "evil.sdp", "-o", "x.wav", "-d", "0.2"], in: folder)
        #expect(result.end == .code(0), "\(result.errors)")
        #expect(
            result.errors.contains("receiving 'Red \u{FFFD}[31malert\u{FFFD}\u{FFFD}' on port \(port)"),
            "\(result.errors)")
        expectHarmless(result.errors)
    }

    @Test func anSDPsTransportIsShownWithoutItsControlCharacters() throws {
        folder.write("v=0\nc=IN IP4 127.0.0.1\nm=audio 5004 \u{1B}]0;owned\u{7} 111\n", to: "evil.sdp")
        let result = try tenfour(["recv", "evil.sdp"], in: folder)
        #expect(result.end == .code(69))
        #expect(result.errors.contains("line 3") && result.errors.contains("owned"), "\(result.errors)")
        expectHarmless(result.errors)
    }

    @Test func aPeersNameIsShownWithoutItsControlCharacters() throws {
        let receiver = try Program("tenfour", ["recv", "-p", "\(port)", "-o", "x.wav"], in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let peer = Peer(port: port)
        for number in 0..<5 { peer.sendSound(number) }
        try #require(receiver.says("hearing 127.0.0.1:"), "\(receiver.errors)")
        peer.sendName("Eve\u{1B}[2J\r\n\u{9B}1mBob")
        #expect(receiver.says("is Eve\u{FFFD}[2J\u{FFFD}\u{FFFD}\u{FFFD}1mBob"), "\(receiver.errors)")
        peer.sendGoodbye("so long\u{1B}c")
        #expect(receiver.says("has left: so long\u{FFFD}c"), "\(receiver.errors)")
        receiver.send(SIGINT)
        #expect(receiver.wait() == .code(0))
        expectHarmless(receiver.errors)
    }

    @Test func aPeerThatChangesItsNameAllTheTimeFillsNoTerminal() throws {
        let receiver = try Program("tenfour", ["recv", "-p", "\(port)", "-o", "x.wav"], in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let peer = Peer(port: port)
        for number in 0..<5 { peer.sendSound(number) }
        try #require(receiver.says("hearing 127.0.0.1:"), "\(receiver.errors)")
        for number in 0..<200 {
            peer.sendName("Eve \(number)")
            usleep(5_000)
        }
        receiver.wait(.milliseconds(500)) { false }
        receiver.send(SIGINT)
        #expect(receiver.wait() == .code(0))
        let shownCount = receiver.errors.split(separator: "\n").count { $0.contains(" is Eve ") }
        #expect((5...30).contains(shownCount), "\(receiver.errors)")
        #expect(receiver.errors.contains("more lines are not shown: strangers came"), "\(receiver.errors)")
    }

    private func expectHarmless(_ text: String) {
        #expect(
            text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) },
            "\(text)")
    }
}

/// A peer that sends RTP and RTCP byte by byte, with arbitrary names and reasons.
private final class Peer {
    private let socket: Int32
    private let port: UInt16
    private static let ssrc: [UInt8] = [0xE7, 0x11, 0x00, 0x66]

    init(port: UInt16) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.port = port
    }

    deinit { close(socket) }

    /// Sends an Opus packet with 20 ms of silence; the first one has the marker bit.
    func sendSound(_ number: Int) {
        let marker: UInt8 = number == 0 ? 0x80 : 0
        let timestamp = 960 * number
        send(
            [0x80, marker | 111, 0, UInt8(number), 0, 0, UInt8(timestamp >> 8), UInt8(timestamp & 255)] + Self.ssrc + [
                0xF8, 0xFF, 0xFE,
            ])
    }

    func sendName(_ name: String) {
        let bytes = Array(name.utf8)
        var chunk = Self.ssrc + [1, 1, UInt8(ascii: "x"), 2, UInt8(bytes.count)] + bytes + [0]
        while chunk.count % 4 != 0 { chunk.append(0) }
        send(report + [0x81, 202, 0, UInt8(chunk.count / 4)] + chunk)
    }

    func sendGoodbye(_ reason: String) {
        var rest = Self.ssrc + [UInt8(reason.utf8.count)] + Array(reason.utf8)
        while rest.count % 4 != 0 { rest.append(0) }
        send(report + [0x81, 203, 0, UInt8(rest.count / 4)] + rest)
    }

    /// An empty receiver report, with which every compound packet begins.
    private var report: [UInt8] { [0x80, 201, 0, 1] + Self.ssrc }

    private func send(_ bytes: [UInt8]) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bytes.withUnsafeBytes { unsafe sendto(socket, $0.baseAddress, $0.count, 0, address, length) }
            }
        }
        precondition(count == bytes.count, "loopback takes datagrams")
    }
}
