import Foundation
import TestSupport
import Testing

/// Tests the end of `send` and its summary of reports.
@Suite(.onItsOwnThread) struct SendEndTests {
    private let folder = Folder()

    init() { folder.write(Recording(channels: [Tone.samples(seconds: 2)]).wav(), to: "in.wav") }

    @Test func aPortWhereNobodyListensIsAFailure() throws {
        let result = try tenfour(["send", "--input", "in.wav", "rtp://127.0.0.1:\(UDPPort.free())"], in: folder)
        #expect(result.end == .code(69), "\(result.errors)")
        #expect(result.errors.contains(/tenfour: every packet was refused \(127\.0\.0\.1:\d+: connection refused\)/))
        #expect(result.errors.contains("start the receiver first"), "\(result.errors)")
        #expect(result.errors.contains(", no reports received"), "\(result.errors)")
    }

    @Test func anInputThatFailsIsReportedAlsoWhereNobodyListens() throws {
        let server = "127.0.0.1:\(UDPPort.free())"
        let result = try tenfour(
            ["send", "--input", "http://\(server)/live.ogg", "rtp://127.0.0.1:\(UDPPort.free())"], in: folder)
        #expect(result.end == .code(69), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").last?.contains(server) == true, "\(result)")
        #expect(!result.errors.contains("every packet was refused"), "\(result.errors)")
    }

    @Test func aSilentReceiverIsNoFailureAndGivesNoScore() throws {
        let socket = PlainSocket()
        let result = try tenfour(
            ["send", "--input", "in.wav", "rtp://127.0.0.1:\(socket.port)", "--report", "sent.json"], in: folder)
        #expect(result.end == .code(0), "\(result.errors)")
        #expect(
            result.errors.contains(", no reports received") && !result.errors.contains("lost"), "\(result.errors)")
        let json = try JSONSerialization.jsonObject(with: Data(Folder.bytes(of: folder("sent.json")))) as? [String: Any]
        let whole = try #require(json?["whole"] as? [String: Any])
        #expect(whole["score"] is NSNull && (whole["sent"] as? [String: Any])?["score"] is NSNull, "\(whole)")
    }

    /// As play and plot do: 1 after a part was sent, 69 if there was nothing to send.
    @Test func anInputOfWhichAPartIsMissingIsAFailureAfterTheRestWasSent() throws {
        let whole = Folder.bytes(of: folder("in.wav"))
        folder.write(Array(whole.prefix(whole.count / 2)), to: "cut.wav")
        folder.write(Array(whole.prefix(44)), to: "empty.wav")
        for (name, code, text) in [
            ("cut.wav", 1, "cut.wav: the end from 1.0 s on (of 2.0 s) is missing"),
            ("empty.wav", 69, "contains no audio"),
        ] {
            let socket = PlainSocket()
            for arguments in [
                ["send", "--input", name, "rtp://127.0.0.1:\(socket.port)"], ["play", name, "-o", "heard.wav"],
                ["plot", name],
            ] {
                let result = try tenfour(arguments, in: folder)
                #expect(result.end == .code(Int32(code)), "\(arguments): \(result.errors)")
                #expect(result.errors.contains(text), "\(arguments): \(result.errors)")
            }
        }
    }

    @Test func oneWhoReportsIsQuoted() throws {
        let receiver = try Receiver()
        let result = try tenfour(["send", "--input", "in.wav", receiver.uri], in: folder)
        #expect(result.end == .code(0), "\(result.errors)")
        #expect(result.errors.contains(", 0 of them lost"), "\(result.errors)")
        _ = try receiver.tone()
    }
}
