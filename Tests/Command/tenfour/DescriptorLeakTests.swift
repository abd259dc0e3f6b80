import Glibc
import TestSupport
import Testing

extension Program {
    /// The number of descriptors that it has open.
    var openDescriptorCount: Int { Folder.entries(of: "/proc/\(processID)/fd").count }
}

/// Programs that run for long close the descriptors of each item and listener. `TalkLobbyTests` counts those of calls.
@Suite(.onItsOwnThread, .inRealTime) struct DescriptorLeakTests {
    private let folder = Folder()

    @Test func aPlayerClosesTheFileOfEachItem() throws {
        for name in ["1.wav", "2.wav", "3.wav"] {
            folder.write(Recording(channels: [Tone.samples(seconds: 0.3)]).wav(), to: name)
        }
        folder.write("pcm.!default { type null }", to: "asound.conf")
        let player = try Program(
            "tenfour", ["play", "--repeat", "all", "1.wav", "2.wav", "3.wav"], in: folder,
            environment: ["ALSA_CONFIG_PATH": folder("asound.conf")])
        /// The most descriptors that are open until the player has shown `count` items.
        func most(until count: Int) -> Int {
            var most = 0
            let isShown = player.wait(.seconds(60)) {
                most = max(most, player.openDescriptorCount)
                return player.errors.split(separator: ".wav").count > count
            }
            #expect(isShown, "\(player.errors)")
            return most
        }
        let early = most(until: 10)
        // Reading ahead, it may have one more item open at one time than at another.
        #expect(most(until: 40) < early + 5)
    }

    @Test func aRelayClosesTheConnectionsOfListeners() throws {
        folder.write(longTone, to: "tone.wav")
        let (plain, http) = (UDPPort.free(), UDPPort.free())
        let relay = try Program(
            "tenfour",
            [
                "relay", "--bind", "127.0.0.1:0", "--rtp-in", "studio=127.0.0.1:\(plain)",
                "--http", "127.0.0.1:\(http)", "--web", "studio",
            ], in: folder)
        try #require(relay.says("listeners over HTTP connect to"), "\(relay.errors)")
        let talker = try Program("tenfour", ["send", "--input", "tone.wav", "rtp://127.0.0.1:\(plain)"], in: folder)
        func listen(_ count: Int) {
            let listeners = (0..<count).map { _ in HTTPExchange("/studio.ogg", port: http) }
            for listener in listeners { #expect(listener.read { $0.body.count > 1_000 }, "\(relay.errors)") }
        }
        listen(1)
        let count = relay.openDescriptorCount
        for _ in 0..<3 { listen(20) }
        #expect(relay.wait(.seconds(60)) { relay.openDescriptorCount <= count }, "\(relay.openDescriptorCount)")
        withExtendedLifetime(talker) {}
    }
}
