import Glibc
import TenfourAudioCore
import TenfourDBus
import TenfourMediaSource
import TenfourPlayer
import TestSupport
import Testing

@testable import TenfourDesktop

/// A player on a session bus of its own, controlled by playerctl and by programs that mean no good.
@Suite(.serialized, .onItsOwnThread, .inRealTime) struct MPRISServiceTests {
    private let folder = Folder()
    private let bus: SessionBus

    init() throws { bus = try SessionBus() }

    /// Writes a silent WAV file of 8 kHz, mono, which takes no room on the disk.
    private func tone(_ name: String, seconds: Int) -> String {
        let byteCount = seconds * 16_000
        func little(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(number >> ($0 * 8) & 0xFF) } }
        let format = little(16, 4) + little(1, 2) + little(1, 2) + little(8_000, 4) + little(16_000, 4) + little(2, 2)
        let head = Array("RIFF".utf8) + little(36 + byteCount, 4) + Array("WAVEfmt ".utf8) + format + little(16, 2)
        folder.write(head + Array("data".utf8) + little(byteCount, 4), to: name)
        #expect(unsafe truncate(folder(name), 44 + byteCount) == 0)
        return folder(name)
    }

    private func streamer(_ names: [String]) throws -> Streamer {
        var configuration = StreamerConfiguration()
        configuration.output = .clock
        let streamer = try Streamer(configuration)
        streamer.open(names)
        streamer.play()
        return streamer
    }

    private func waiting(_ isTrue: () throws -> Bool) rethrows -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while .now < end {
            if try isTrue() { return true }
            usleep(10_000)
        }
        return false
    }

    @Test func playerctlControlsAPlayer() throws {
        let names = [tone("one.wav", seconds: 600), tone("two.wav", seconds: 500)]
        let streamer = try streamer(names)
        defer { streamer.close() }
        let remote = StreamerRemote(streamer)
        let service = try #require(MPRISService(remote, busAddress: bus.address))
        #expect(try bus.playerctl("status") { $0 == "Playing" })
        #expect(try bus.playerctl("pause") == "")
        #expect(try bus.playerctl("status") { $0 == "Paused" })
        #expect(streamer.state == .paused)
        #expect(try bus.playerctl("position", "100") == "")
        #expect(try bus.playerctl("position") { $0.hasPrefix("100.") })
        #expect(try bus.playerctl("position", "10-") == "")
        #expect(waiting { streamer.progress.position.value == .seconds(90) })
        #expect(try bus.playerctl("play-pause") == "")
        #expect(waiting { streamer.state == .playing })
        #expect(try bus.playerctl("volume", "0.5") == "")
        #expect(waiting { streamer.volume == 0.5 })
        #expect(try bus.playerctl("loop", "Playlist") == "")
        #expect(waiting { streamer.repeats == .all })
        #expect(try bus.playerctl("loop") == "Playlist")
        #expect(try bus.playerctl("loop", "Track") == "")
        #expect(waiting { streamer.repeats == .one })
        #expect(try bus.playerctl("shuffle", "On") == "")
        #expect(waiting { streamer.isShuffled })
        #expect(try bus.playerctl("shuffle") { $0 == "On" })
        #expect(try bus.playerctl("shuffle", "Off") == "")
        #expect(waiting { !streamer.isShuffled })
        #expect(try bus.playerctl("loop", "Playlist") == "")
        #expect(try bus.playerctl("metadata", "xesam:title") == "one.wav")
        #expect(try bus.playerctl("metadata", "xesam:url") == "file://\(names[0])")
        #expect(try bus.playerctl("metadata", "mpris:length") == "600000000")
        #expect(try bus.playerctl("next") == "")
        #expect(try bus.playerctl("metadata", "mpris:length") { $0 == "500000000" })
        #expect(try bus.playerctl("previous") == "")
        #expect(try bus.playerctl("metadata", "mpris:length") { $0 == "600000000" })
        #expect(try bus.playerctl("stop") == "")
        #expect(try bus.playerctl("status") { $0 == "Stopped" })
        #expect(try bus.playerctl("play") == "")
        #expect(try bus.playerctl("status") { $0 == "Playing" })
        #expect(try bus.playerctl("open", "file://\(names[1])") == "")
        #expect(try bus.playerctl("metadata", "mpris:trackid") { $0 == "'/org/tenfour/track/1_0'" })
        #expect(try bus.playerctl("open", "gopher://example.org/") == nil)
        #expect(!remote.hasQuit)
        service.stop()
        #expect(try waiting { try bus.playerctl("status") == nil })
    }

    /// The position that a client reads and the position that is heard differ by the time of the call only.
    @Test func thePositionIsRightWithinFiftyMilliseconds() throws {
        let streamer = try streamer([tone("one.wav", seconds: 600)])
        defer { streamer.close() }
        let service = try #require(MPRISService(StreamerRemote(streamer), busAddress: bus.address))
        defer { service.stop() }
        let client = try MessageBus(address: bus.address, callLimit: .seconds(30))
        #expect(try bus.playerctl("status") { $0 == "Playing" })
        streamer.seek(to: .seconds(200))
        #expect(waiting { streamer.state == .playing && streamer.progress.position.value > .seconds(200) })
        for _ in 0..<50 {
            let before = streamer.progress.position.value
            guard case .int64(let position) = try client.property("Position", of: object) else {
                Issue.record("no position")
                return
            }
            let after = streamer.progress.position.value
            let value = Duration.microseconds(position)
            #expect(
                value > before - .milliseconds(50) && value < after + .milliseconds(50), "\(before) \(value) \(after)")
            usleep(20_000)
        }
    }

    /// Clients hear of changes and jumps without asking.
    @Test func changesAndJumpsAreTold() throws {
        let fake = ControlledPlayer()
        let client = try MessageBus(address: bus.address, callLimit: .seconds(30))
        try client.addMatch("type='signal',path='/org/mpris/MediaPlayer2'")
        let service = try #require(MPRISService(fake, busAddress: bus.address))
        defer { service.stop() }
        #expect(try waiting { try client.owner(of: object.service) != nil })
        // The first look of the service is what clients read at first.
        #expect(try waiting { try client.property("PlaybackStatus", of: object) == .text("Playing") })
        usleep(300_000)
        fake.remoteState.position = .seconds(70)
        // A machine that stands still may make the player's position a jump, too: it does not move while it plays.
        var sought: [BusValue] = []
        #expect(
            try waiting {
                while let signal = try client.nextSignal() {
                    if signal.member == "Seeked" { sought += signal.arguments }
                }
                return sought.contains(.int64(70_000_000))
            }, "\(sought)")
    }

    /// Takes seconds, because a flood that ends at once shows nothing.
    @Test(.timeLimit(.minutes(30))) func aFloodOfCallsDoesNotStopThePlayer() throws {
        let streamer = try streamer([tone("one.wav", seconds: 600)])
        defer { streamer.close() }
        let service = try #require(MPRISService(StreamerRemote(streamer), busAddress: bus.address))
        defer { service.stop() }
        #expect(try bus.playerctl("status") { $0 == "Playing" })
        let memory = residentMemory
        let flood = try Program(
            "env",
            [
                "/usr/bin/python3", "-B", Repository.path("Tests/TestSupport/Servers/mprisflood.py"),
                object.service, "20000",
            ], environment: bus.environment)
        let start = streamer.progress.position.value
        #expect(flood.wait(.seconds(240)) == .code(0), "\(flood.errors)")
        #expect(flood.errors.contains("answered"), "\(flood.errors)")
        #expect(streamer.state == .playing)
        #expect(streamer.progress.position.value > start)
        #expect(residentMemory - memory < 32 << 20, "\(memory) \(residentMemory)")
        #expect(try bus.playerctl("status") == "Playing")
    }

    /// A daemon that stands still, and one that dies, are no concern of the player.
    @Test func aBusThatHangsOrDiesDoesNotStopThePlayer() throws {
        let streamer = try streamer([tone("one.wav", seconds: 600)])
        defer { streamer.close() }
        let service = try #require(MPRISService(StreamerRemote(streamer), busAddress: bus.address))
        #expect(try bus.playerctl("status") { $0 == "Playing" })
        let client = try MessageBus(address: bus.address, callLimit: .seconds(30))
        let answer = try client.answer(
            to: "GetConnectionUnixProcessID", of: .bus, .text("org.freedesktop.DBus"))
        guard case .uint32(let daemon)? = answer.first else {
            Issue.record("no process")
            return
        }
        kill(pid_t(daemon), SIGSTOP)
        streamer.volume = 0.25
        let start = streamer.progress.position.value
        #expect(waiting { streamer.progress.position.value > start + .seconds(1) })
        #expect(streamer.state == .playing)
        kill(pid_t(daemon), SIGCONT)
        #expect(try bus.playerctl("volume") { $0.hasPrefix("0.25") })
        bus.stop()
        let death = streamer.progress.position.value
        #expect(waiting { streamer.progress.position.value > death + .seconds(1) })
        #expect(streamer.state == .playing)
        service.stop()
    }

    /// The headers that the user typed are for the addresses that the user typed.
    @Test func anAddressFromAnotherProgramGetsNoHeaders() throws {
        _ = tone("one.wav", seconds: 60)
        var configuration = StreamerConfiguration()
        configuration.output = .clock
        configuration.download.headers = ["X-Key: 7"]
        for isTyped in [true, false] {
            let server = try SoundServer(folder)
            let streamer = try Streamer(configuration)
            let address = server.address("one.wav")
            if isTyped {
                streamer.open(address)
                streamer.play()
            } else {
                #expect(StreamerRemote(streamer).perform(.open(address)) == nil)
            }
            #expect(waiting { streamer.state == .playing })
            streamer.close()
            let said = server.requests.map { $0.joined(separator: " ") }
            #expect(!said.isEmpty && said.allSatisfy { $0.contains("X-Key") == isTyped }, "\(said)")
        }
    }

    #if FFmpeg
        /// A live HLS stream can be sought in its window, and has no length.
        @Test func aLiveStreamWithAWindowCanBeSought() throws {
            let list = folder("live.m3u8")
            let packing = try Program.run(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "sine", "-t", "12", "-c:a", "aac", "-f", "hls", "-hls_time",
                    "1", "-hls_list_size", "0", "-hls_flags", "omit_endlist", list,
                ], for: .seconds(60))
            #expect(packing.end == .code(0), "\(packing.errors)")
            let streamer = try streamer([list])
            defer { streamer.close() }
            let remote = StreamerRemote(streamer)
            #expect(waiting { remote.remoteState.isSeekable })
            #expect(remote.remoteState.item?.length == nil && streamer.progress.isLive)
            let outcome = remote.perform(.seekTo(.seconds(2)))
            #expect(outcome == nil)
            #expect(waiting { (2.0..<6).contains(streamer.progress.position.value.inSeconds) })
        }
    #endif

    @Test func withoutASessionBusThereIsNoService() {
        #expect(MPRISService(ControlledPlayer(), busAddress: nil) == nil)
    }

    /// `tenfour play` from its start to the `Quit` of another program.
    @Test func theCommandIsControlled() throws {
        let names = [tone("one.wav", seconds: 600), tone("two.wav", seconds: 500)]
        folder.write("pcm.!default { type null }", to: "asound.conf")
        let environment = bus.environment.merging(["ALSA_CONFIG_PATH": folder("asound.conf")]) { $1 }
        let player = try Program("tenfour", ["play"] + names, environment: environment)
        #expect(try bus.playerctl("status") { $0 == "Playing" })
        #expect(try bus.playerctl("stop") == "")
        #expect(try bus.playerctl("status") { $0 == "Stopped" })
        usleep(300_000)
        #expect(player.isRunning)
        #expect(try bus.playerctl("play") == "")
        #expect(try bus.playerctl("status") { $0 == "Playing" })
        #expect(try bus.playerctl("next") == "")
        #expect(player.says("2/2 \(names[1])"))
        let client = try MessageBus(address: bus.address, callLimit: .seconds(30))
        let root = BusObject(
            service: "org.mpris.MediaPlayer2.tenfour.instance\(player.processID)", path: object.path,
            interface: "org.mpris.MediaPlayer2")
        try client.call("Quit", of: root)
        #expect(player.wait(.seconds(30)) == .code(0), "\(player.errors)")
    }

    @Test func theCommandCanStayAlone() throws {
        let name = tone("one.wav", seconds: 600)
        folder.write("pcm.!default { type null }", to: "asound.conf")
        let environment = bus.environment.merging(["ALSA_CONFIG_PATH": folder("asound.conf")]) { $1 }
        let player = try Program("tenfour", ["play", name, "--no-mpris"], environment: environment)
        #expect(player.says(name))
        usleep(500_000)
        #expect(try bus.playerctl("status") == nil)
        player.send(SIGINT)
        #expect(player.wait(.seconds(30)) == .code(0))
        // A bus that is not there is no reason to say anything.
        let dead = try Program(
            "tenfour", ["play", name, "--duration", "1"],
            environment: environment.merging(["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder("none"))"]) { $1 })
        #expect(dead.wait(.seconds(30)) == .code(0))
        #expect(!dead.errors.replacing(name, with: "").contains("bus"), "\(dead.errors)")
    }

    /// The object of a service in this process.
    private var object: BusObject {
        BusObject(
            service: "org.mpris.MediaPlayer2.tenfour.instance\(getpid())", path: "/org/mpris/MediaPlayer2",
            interface: "org.mpris.MediaPlayer2.Player")
    }

    /// The resident memory of this process, in bytes.
    private var residentMemory: Int {
        let pages = Folder.text(of: "/proc/self/statm").split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (pages ?? 0) * 4_096
    }
}
