import TestSupport
import Testing

/// Our own sender and receiver over paths other than plain IPv4 unicast.
@Suite(.onItsOwnThread, .inRealTime) struct OursInOursTests {
    private let folder = Folder()
    private let port = UDPPort.free()
    /// The options of a receiver that ends after its first source has sent BYE.
    private static let once = ["--oneshot", "--jitter", "300ms"]

    init() { folder.write(toneFile, to: "tone.wav") }

    @Test func twoStationsHearOneMulticast() throws {
        let uri = "rtp://@239.255.\(port >> 8).\(port & 255):\(port)"
        let receivers = try ["one.wav", "two.wav"].map {
            try Program("tenfour", ["recv", uri, "--interface", "lo", "-o", $0] + Self.once, in: folder)
        }
        for receiver in receivers { try #require(receiver.says("Ctrl-C ends it"), "\(receiver.errors)") }
        try sendTone(to: uri, ["--interface", "lo"], in: folder)
        for receiver in receivers { #expect(receiver.wait() == .code(0), "\(receiver.errors)") }
        for name in ["one.wav", "two.wav"] { try expect(inFile: folder(name)) }
    }

    @Test func aMulticastIsFoundByItsSDP() throws {
        let uri = "rtp://@239.255.\(port >> 8).\(port & 255):\(port)"
        try describe(uri, ["--interface", "lo"], in: folder)
        let receiver = try Program(
            "tenfour", ["recv", "live.sdp", "--interface", "lo", "-o", "heard.wav"] + Self.once, in: folder)
        try #require(receiver.says("Ctrl-C ends it"), "\(receiver.errors)")
        try sendTone(to: uri, ["--interface", "lo"], in: folder)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        try expect(inFile: folder("heard.wav"))
    }

    @Test func soundGoesOverIPv6() throws {
        let receiver = try Program(
            "tenfour", ["recv", "rtp://[::1]:\(port)", "-o", "heard.wav"] + Self.once, in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        try sendTone(to: "rtp://[::1]:\(port)", [], in: folder)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        try expect(inFile: folder("heard.wav"))
    }

    /// A receiver bound to the unspecified address accepts IPv4 and IPv6.
    @Test func oneSocketHearsBothFamilies() throws {
        for host in ["127.0.0.1", "[::1]"] {
            let receiver = try Program("tenfour", ["recv", "-p", "\(port)", "-o", "heard.wav"] + Self.once, in: folder)
            try #require(receiver.takes(port: port), "\(receiver.errors)")
            try sendTone(to: "rtp://\(host):\(port)", [], in: folder)
            #expect(receiver.wait() == .code(0), "\(receiver.errors)")
            try expect(inFile: folder("heard.wav"))
        }
    }

    @Test(arguments: ["2.5ms", "60ms"])
    func theShortestAndTheLongestPacketsGoThrough(frame: String) throws {
        let receiver = try Program("tenfour", ["recv", "-p", "\(port)", "-o", "heard.wav"] + Self.once, in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        try sendTone(to: "rtp://127.0.0.1:\(port)", ["--frame", frame], in: folder)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        try expect(inFile: folder("heard.wav"))
    }

    @Test(arguments: ["pcmu", "pcma"]) func g711GoesThrough(codec: String) throws {
        let receiver = try Program("tenfour", ["recv", "-p", "\(port)", "-o", "heard.wav"] + Self.once, in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        try sendTone(to: "rtp://127.0.0.1:\(port)", ["--codec", codec], in: folder)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        try expect(inFile: folder("heard.wav"))
    }

    /// Our SDP file tells `recv` the port to listen on, and `send` which codec the receiver accepts.
    @Test func g711IsFoundByItsSDP() throws {
        let uri = "rtp://127.0.0.1:\(port)"
        try describe(uri, ["--codec", "pcma"], in: folder)
        let receiver = try Program("tenfour", ["recv", "live.sdp", "-o", "heard.wav"] + Self.once, in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        try sendTone(to: "live.sdp", ["--codec", "pcma"], in: folder)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        try expect(inFile: folder("heard.wav"))
        let refused = try Program.run("tenfour", ["send", "--input", "tone.wav", "live.sdp"], in: folder)
        #expect(refused.end == .code(69) && refused.errors.contains("write --codec pcma"), "\(refused.errors)")
    }
}
