import TestSupport
import Testing

/// A program that holds keys leaves no memory behind if it crashes.
@Suite(.onItsOwnThread) struct CoreDumpTests {
    private let folder = Folder()

    @Test func aRelayLeavesNoCoreDump() throws {
        let relay = try Program(
            "prlimit",
            [
                "--core=unlimited", "--", try Program.path(of: "tenfour"), "relay", "--bind", "127.0.0.1:0", "--rtp-in",
                "studio=127.0.0.1:\(UDPPort.free())", "--rtp-out", "studio=127.0.0.1:9", "--status-socket",
                "relay.sock",
            ], in: folder)
        try #require(relay.says("relaying"), "\(relay.errors)")
        let limits = Folder.text(of: "/proc/\(relay.processID)/limits").split(separator: "\n")
        let line = try #require(limits.first { $0.hasPrefix("Max core file size") })
        #expect(line.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(line)")
    }
}
