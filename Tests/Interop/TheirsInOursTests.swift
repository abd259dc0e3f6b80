import Foundation
import TestSupport
import Testing

/// Streams of other senders in our receiver.
@Suite(.onItsOwnThread, .inRealTime) struct TheirsInOursTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    /// A playout delay long enough that no packet is lost if the sender is late at times.
    private static let patient = ["--jitter", "300ms"]

    /// Receives until `sender` ends, then interrupts the receiver as Ctrl-C does. Returns the receiver's messages.
    @discardableResult
    private func receive(_ source: [String], _ options: [String] = patient, from sender: Command) throws -> String {
        let receiver = try Program("tenfour", ["recv"] + source + ["-o", "heard.wav"] + options, in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let player = try sender.start(in: folder)
        // GStreamer's rtpbin sometimes waits forever at the end of its stream.
        player.wait(.seconds(20)) { !player.isRunning }
        player.send(2)
        #expect(player.wait(.seconds(20)) == .code(0), "\(player.errors)")
        receiver.wait(.seconds(1)) { false }
        receiver.send(2)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        return receiver.errors
    }

    /// Returns a command that sends a tone of four seconds in real time, in blocks of `pieces` frames. ffmpeg's own
    /// level would be an eighth of full scale, and with `-re` FFmpeg 7 would send the first half second all at once.
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

    /// Nobody names the payload type. The packets show that it is Opus; the first ten are not heard.
    @Test func weHearFfmpegWithoutBeingAsked() throws {
        try expectRecognition(of: 97, receive(["rtp://:\(port)"], from: ffmpeg()))
    }

    @Test func weHearGStreamerWithoutBeingAsked() throws {
        let sender = "\(gstreamerTone) ! rtpopuspay pt=96 ! udpsink host=127.0.0.1 port=\(port)"
        try expectRecognition(of: 96, receive(["rtp://:\(port)"], from: gstreamer(sender)))
    }

    private func expectRecognition(of payloadType: Int, _ messages: String) throws {
        let line = "packets of payload type \(payloadType) from 127.0.0.1:"
        #expect(messages.components(separatedBy: line).count == 2, "one line: \(messages)")
        try expect(Heard(duration: 3.7), inFile: folder("heard.wav"))
    }

    /// A codec that cannot be played is named at once, with its sender.
    @Test func aCodecThatWeDoNotHaveIsNamed() throws {
        let messages = try receive(["rtp://:\(port)"], from: ffmpeg(["-c:a", "g722", "-ar", "16000"]))
        #expect(messages.contains("packets of payload type 9 (G722) arrive from 127.0.0.1:"), "\(messages)")
        #expect(!messages.contains("hearing"))
    }

    @Test func weHearFfmpegFromItsSDP() throws {
        // ffmpeg writes the SDP when it begins to send, but the receiver must start earlier. So a short stream is
        // sent first to obtain the file.
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

    /// ffmpeg halves the power of each of two channels, and we take the mean of both channels.
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

    /// Blocks that differ from the packet size make the packets jitter by 20 ms, and a busy machine adds to it. The
    /// jitter buffer adapts meanwhile, changing the pitch by at most half a percent.
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

    /// RTCP goes to the port after ours, and we answer it.
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
