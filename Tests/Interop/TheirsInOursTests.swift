import TestSupport
import Testing

/// Tests other senders with our receiver.
@Suite(.onItsOwnThread, .inRealTime) struct TheirsInOursTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    /// Deep enough that nothing of a sender who is late now and then is missed.
    private static let patient = ["--jitter", "300ms"]

    /// Receives while `sender` sends, then ends as by Ctrl-C.
    private func receive(_ source: [String], _ options: [String] = patient, from sender: Command) throws {
        let receiver = try Program("tenfour", ["recv"] + source + ["-o", "heard.wav"] + options, in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let player = try sender.start(in: folder)
        // GStreamer's rtpbin waits for ever, now and then, when its sound has ended.
        player.wait(.seconds(20)) { !player.isRunning }
        player.send(2)
        #expect(player.wait(.seconds(20)) == .code(0), "\(player.errors)")
        receiver.wait(.seconds(1)) { false }
        receiver.send(2)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
    }

    /// A tone of four seconds in real time, in blocks of a given size. ffmpeg's own tone would have an eighth of full
    /// scale, and with `-re` FFmpeg 7 would send the first half second at once.
    private func ffmpeg(_ options: [String] = [], pieces: Int = 960) -> Command {
        let tone = "sine=\(Int(Tone.telling)):r=48000:d=4,volume=12dB,asetnsamples=\(pieces),arealtime"
        let input = ["-hide_banner", "-loglevel", "warning", "-f", "lavfi", "-i", tone]
        return Command("ffmpeg", input + ["-c:a", "libopus"] + options + ["-f", "rtp", "rtp://127.0.0.1:\(port)"])
    }

    private func gstreamer(_ pipeline: String) -> Command { Command("gst-launch-1.0", words: "-q " + pipeline) }

    private let gstreamerTone = """
        audiotestsrc is-live=true freq=\(Int(Tone.telling)) volume=0.5 samplesperbuffer=960 num-buffers=200 \
        ! audio/x-raw,rate=48000,channels=1 ! opusenc bitrate=64000
        """

    @Test func weHearFfmpegByItsPayloadType() throws {
        try receive(["rtp://:\(port)", "--payload-type", "97"], from: ffmpeg())
        try expect(inFile: folder("heard.wav"))
    }

    @Test func weHearFfmpegFromItsSDP() throws {
        // ffmpeg writes it when it begins to send, and we are to be there before that: so it is written once for nothing.
        let early = try ffmpeg(["-t", "0.1", "-sdp_file", "theirs.sdp"]).run(in: folder)
        #expect(early.end == .code(0), "\(early.errors)")
        try receive(["theirs.sdp"], from: ffmpeg())
        try expect(inFile: folder("heard.wav"))
    }

    @Test(arguments: ["pcm_mulaw", "pcm_alaw"]) func weHearFfmpegInG711(codec: String) throws {
        try receive(["rtp://:\(port)"], from: ffmpeg(["-c:a", codec, "-ar", "8000"]))
        try expect(inFile: folder("heard.wav"))
    }

    @Test(arguments: ["mulawenc ! rtppcmupay", "alawenc ! rtppcmapay"]) func weHearGStreamerInG711(coder: String) throws
    {
        let sender = gstreamer(
            """
            audiotestsrc is-live=true freq=\(Int(Tone.telling)) volume=0.5 samplesperbuffer=160 num-buffers=200 \
            ! audio/x-raw,rate=8000,channels=1 ! \(coder) min-ptime=20000000 max-ptime=20000000 \
            ! udpsink host=127.0.0.1 port=\(port)
            """)
        try receive(["rtp://:\(port)"], from: sender)
        try expect(inFile: folder("heard.wav"))
    }

    /// ffmpeg halves the power for each of two channels, and we take the mean of both.
    @Test func weHearFfmpegInStereoWithOneEar() throws {
        try receive(["rtp://:\(port)", "--payload-type", "97"], from: ffmpeg(["-ac", "2", "-b:a", "96k"]))
        try expect(Heard(level: -12.04), inFile: folder("heard.wav"))
        #expect(try Recording(wav: folder("heard.wav")).channels.count == 1)
    }

    @Test func weHearFfmpegInStereo() throws {
        try receive(["rtp://:\(port)", "--payload-type", "97", "-c", "2"], from: ffmpeg(["-ac", "2", "-b:a", "96k"]))
        for channel in 0...1 { try expect(Heard(channel: channel, level: -12.04), inFile: folder("heard.wav")) }
    }

    @Test(arguments: ["2.5", "10", "60"])
    func weHearFfmpegInPacketsOfItsOwn(frame: String) throws {
        let sender = ffmpeg(["-frame_duration", frame, "-b:a", "64k"])
        try receive(["rtp://:\(port)", "--payload-type", "97"], from: sender)
        try expect(inFile: folder("heard.wav"))
    }

    /// Pieces that do not fit the packets make them jitter by 20 ms, and a busy machine makes it more. The buffer learns that
    /// as it goes, and changes the pitch by half a percent at most.
    @Test func ffmpegPlaysWithAutomaticBuffering() throws {
        try receive(["rtp://:\(port)", "--payload-type", "97"], ["--jitter", "auto"], from: ffmpeg(pieces: 1_024))
        let tone = try #require(Tone(in: try Recording(wav: folder("heard.wav")).channels[0]))
        #expect(abs(tone.frequency - Tone.telling) < 5 && abs(tone.level + 9.03) < 1, "\(tone)")
        #expect(abs(tone.duration - 4) < 0.5 && tone.holes.count < 160, "four tenths of a second are missing: \(tone)")
    }

    @Test(arguments: [96, 111])
    func weHearGStreamer(payloadType: Int) throws {
        let sender = "\(gstreamerTone) ! rtpopuspay pt=\(payloadType) ! udpsink host=127.0.0.1 port=\(port)"
        try receive(["rtp://127.0.0.1:\(port)", "--payload-type", "\(payloadType)"], from: gstreamer(sender))
        try expect(inFile: folder("heard.wav"))
    }

    /// Reports go to the port above ours, and we answer them.
    @Test func weHearGStreamerWithItsReports() throws {
        let sender = """
            rtpbin name=bin \(gstreamerTone) ! rtpopuspay pt=96 ! bin.send_rtp_sink_0 \
            bin.send_rtp_src_0 ! udpsink host=127.0.0.1 port=\(port) \
            bin.send_rtcp_src_0 ! udpsink host=127.0.0.1 port=\(port + 1) sync=false async=false
            """
        try receive(["rtp://127.0.0.1:\(port)", "--payload-type", "96"], from: gstreamer(sender))
        try expect(inFile: folder("heard.wav"))
    }
}
