import TestSupport
import Testing

/// Our streams in other players, by the SDP files that we write.
@Suite(.onItsOwnThread, .inRealTime) struct OursInOthersTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private let ffmpeg = Command(
        "ffmpeg",
        words: "-hide_banner -loglevel warning -protocol_whitelist file,udp,rtp -i live.sdp -y heard.wav")

    /// Starts `player` and sends it a tone.
    private func play(
        on player: Command, at host: String = "127.0.0.1", _ options: [String] = [],
        channels: [[Float]]? = nil
    ) throws {
        let uri = "rtp://\(host):\(port)"
        folder.write(channels.map { Recording(channels: $0).wav() } ?? toneFile, to: "tone.wav")
        try describe(uri, options, in: folder)
        let player = try player.start(in: folder)
        try #require(player.takes(port: port), "\(player.errors)")
        try sendTone(to: uri, options, in: folder)
        end(player)
    }

    @Test(arguments: ["2.5ms", "5ms", "10ms", "20ms", "40ms", "60ms"])
    func ffmpegHearsEveryLengthOfPacket(frame: String) throws {
        try play(on: ffmpeg, ["--frame", frame])
        try expect(inFile: folder("heard.wav"))
    }

    @Test(arguments: ["next", "off"])
    func ffmpegHearsUsWhereverReportsGo(control: String) throws {
        try play(on: ffmpeg, ["--rtcp", control])
        try expect(inFile: folder("heard.wav"))
    }

    @Test(arguments: [
        ["--payload-type", "96"], ["--fec", "on", "--expect-loss", "10"], ["-b", "12k"], ["-b", "128k"],
    ])
    func ffmpegHearsUsHoweverWeCode(options: [String]) throws {
        try play(on: ffmpeg, options)
        try expect(inFile: folder("heard.wav"))
    }

    @Test func ffmpegHearsLeftOnTheLeft() throws {
        try play(
            on: ffmpeg, ["--music", "-c", "2", "-b", "96k"],
            channels: [Tone.samples(), Tone.samples(1_320, amplitude: 0.25)])
        try expect(inFile: folder("heard.wav"))
        try expect(Heard(frequency: 1_320, channel: 1, level: -15.05), inFile: folder("heard.wav"))
    }

    @Test func ffmpegHearsTheMusicProfile() throws {
        try play(on: ffmpeg, ["--profile", "music"], channels: [Tone.samples(), Tone.samples(1_320)])
        try expect(inFile: folder("heard.wav"))
        try expect(Heard(frequency: 1_320, channel: 1), inFile: folder("heard.wav"))
    }

    @Test(arguments: ["mux", "next"])
    func mpvHearsUs(control: String) throws {
        let mpv = Command(
            "mpv", words: "--no-config --no-video --no-terminal --ao=pcm --ao-pcm-file=heard.wav live.sdp")
        try play(on: mpv, ["--rtcp", control])
        try expect(inFile: folder("heard.wav"))
    }

    @Test(arguments: ["mux", "next"])
    func gstreamerHearsUsFromTheFile(control: String) throws {
        try play(on: gstreamer("filesrc location=live.sdp ! sdpdemux"), ["--rtcp", control])
        try expect(inFile: folder("heard.wav"))
    }

    @Test func gstreamerHearsUsFromTheURI() throws {
        try play(on: gstreamer("sdpsrc location=sdp://\(folder("live.sdp"))"))
        try expect(inFile: folder("heard.wav"))
    }

    @Test func gstreamerHearsUsFromThePortAlone() throws {
        let caps = "application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,payload=111"
        try play(on: gstreamer("udpsrc port=\(port) caps=\(caps) ! rtpjitterbuffer"))
        try expect(inFile: folder("heard.wav"))
    }

    @Test func ffmpegHearsUsOverIPv6() throws {
        try play(on: ffmpeg, at: "[::1]")
        try expect(inFile: folder("heard.wav"))
    }

    @Test(arguments: ["pcmu", "pcma"], ["10ms", "20ms", "60ms"])
    func ffmpegHearsUsInG711(codec: String, frame: String) throws {
        try play(on: ffmpeg, ["--codec", codec, "--frame", frame])
        try expect(inFile: folder("heard.wav"))
    }

    @Test(arguments: [("pcmu", "rtppcmudepay ! mulawdec"), ("pcma", "rtppcmadepay ! alawdec")])
    func gstreamerHearsUsInG711(codec: String, decoder: String) throws {
        try play(on: gstreamer("filesrc location=live.sdp ! sdpdemux", decoder), ["--codec", codec])
        try expect(inFile: folder("heard.wav"))
    }

    /// G.711 needs no SDP: its payload types are assigned.
    @Test func gstreamerHearsUsInG711FromThePortAlone() throws {
        let caps = "application/x-rtp,media=audio,encoding-name=PCMA,clock-rate=8000,payload=8"
        let source = "udpsrc port=\(port) caps=\(caps) ! rtpjitterbuffer"
        try play(on: gstreamer(source, "rtppcmadepay ! alawdec"), ["--codec", "pcma"])
        try expect(inFile: folder("heard.wav"))
    }
}

/// Returns a pipeline that decodes the RTP stream of `source` with `decoder` and writes it to a file. With `-e`, Ctrl-C
/// completes the file.
private func gstreamer(_ source: String, _ decoder: String = "rtpopusdepay ! opusdec") -> Command {
    let rest = "\(decoder) ! audioconvert ! audio/x-raw,format=S16LE ! wavenc ! filesink location=heard.wav"
    return Command("gst-launch-1.0", words: "-q -e \(source) ! \(rest)")
}
