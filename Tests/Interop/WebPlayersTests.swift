import Glibc
import TestSupport
import Testing

/// A relay's channel in players, over HTTP and by its session description.
@Suite(.onItsOwnThread, .inRealTime) struct WebPlayersTests {
    private let folder = Folder()
    private let group = "239.0.1.\(Int.random(in: 11...250)):\(UDPPort.free())"
    private let httpPort = UDPPort.free()
    private let relay: Program
    private let talker: Program

    /// Starts a relay with a plain channel, and a talker whose tone lasts for 40 s.
    init() throws {
        let plainPort = UDPPort.free()
        folder.write(Recording(channels: [Tone.samples(seconds: 40)]).wav(), to: "tone.wav")
        relay = try Program(
            "tenfour",
            [
                "relay", "--bind", "0.0.0.0:\(UDPPort.free())", "--status-socket", folder("status"),
                "--rtp-in", "news=127.0.0.1:\(plainPort)", "--rtp-out", "news=\(group)",
                "--http", "127.0.0.1:\(httpPort)", "--web", "news",
            ], in: folder)
        try #require(relay.says("receiving for news"), "\(relay.errors)")
        talker = try Program("tenfour", ["send", "--input", "tone.wav", "rtp://127.0.0.1:\(plainPort)"], in: folder)
        let stream = HTTPExchange("/news/events", port: httpPort)
        #expect(stream.read { $0.text.contains("\"talker\": {") }, "\(stream.text)")
    }

    private var address: String { "http://127.0.0.1:\(httpPort)/news" }

    /// Expects a tone of about two seconds in a file.
    private func expectTone(in file: String, errors: String) throws {
        let recording = try Recording(wav: folder(file))
        let tone = try #require(Tone(in: recording.channels[0], rate: recording.rate), "\(errors)")
        #expect(abs(tone.frequency - Tone.telling) < 1 && tone.duration > 1.5, "\(tone)")
        #expect(tone.holes == [] && tone.seams == [], "\(tone)")
    }

    @Test(arguments: ["ogg", "webm"])
    func mpvHearsTheStream(container: String) throws {
        let mpv = try Program(
            "mpv",
            [
                "--no-config", "--no-video", "--no-terminal", "--ao=pcm", "--ao-pcm-file=heard.wav", "--length=2.5",
                "\(address).\(container)",
            ], in: folder)
        #expect(mpv.wait(.seconds(20)) == .code(0), "\(mpv.errors)")
        try expectTone(in: "heard.wav", errors: mpv.errors)
    }

    @Test(arguments: ["ogg", "webm"])
    func gstreamerHearsTheStream(container: String) throws {
        let player = try Program(
            "gst-launch-1.0",
            [
                "-q", "-e", "souphttpsrc", "location=\(address).\(container)", "is-live=true", "!", "decodebin", "!",
                "audioconvert", "!", "audio/x-raw,format=S16LE", "!", "wavenc", "!", "filesink", "location=heard.wav",
            ], in: folder)
        player.wait(.seconds(4)) { !player.isRunning }
        player.send(SIGINT)
        #expect(player.wait(.seconds(20)) == .code(0), "\(player.errors)")
        try expectTone(in: "heard.wav", errors: player.errors)
    }

    @Test func vlcHearsTheStream() throws {
        // VLC refuses to run as root. It writes silence for the part of the stream before it listened, and takes seconds to
        // start: the run is long enough for both.
        unsafe chmod(folder.path, 0o777)
        let file = "std{access=file,mux=wav,dst=\(folder("vlc.wav"))}"
        let out = "#transcode{acodec=s16l,channels=1,samplerate=48000}:\(file)"
        let vlc = try OrdinaryUser().start(
            "cvlc",
            ["--no-plugins-cache", "--run-time", "14", "--sout", out, "\(address).ogg", "vlc://quit"],
            environment: ["HOME": folder.path])
        #expect(vlc.wait(.seconds(60)) == .code(0), "\(vlc.errors)")
        try expectTone(in: "vlc.wav", errors: vlc.errors)
    }

    @Test func ffmpegAndGStreamerHearTheGroup() throws {
        let description = HTTPExchange.get("/news.sdp", port: httpPort)
        #expect(description.head.contains("Content-Type: application/sdp"))
        #expect(description.text.contains("c=IN IP4 \(group.prefix { $0 != ":" })/1\r\n"), "\(description.text)")
        folder.write(description.body, to: "news.sdp")
        let ffmpeg = try Program(
            "ffmpeg",
            [
                "-v", "warning", "-protocol_whitelist", "file,udp,rtp", "-i", "news.sdp", "-t", "2.5", "-y",
                "ffmpeg.wav",
            ], in: folder)
        let gstreamer = try Program(
            "gst-launch-1.0",
            [
                "-q", "-e", "filesrc", "location=news.sdp", "!", "sdpdemux", "!", "rtpopusdepay", "!", "opusdec", "!",
                "audioconvert", "!", "audio/x-raw,format=S16LE", "!", "wavenc", "!", "filesink", "location=gst.wav",
            ], in: folder)
        #expect(ffmpeg.wait(.seconds(20)) == .code(0), "\(ffmpeg.errors)")
        gstreamer.wait(.seconds(2)) { !gstreamer.isRunning }
        gstreamer.send(SIGINT)
        #expect(gstreamer.wait(.seconds(20)) == .code(0), "\(gstreamer.errors)")
        try expectTone(in: "ffmpeg.wav", errors: ffmpeg.errors)
        try expectTone(in: "gst.wav", errors: gstreamer.errors)
    }
}
