import TestSupport
import Testing

/// Redundant copies and retransmissions between GStreamer and us, over a link that loses a tenth of the packets.
@Suite(.onItsOwnThread, .inRealTime) struct RecoveryDelayTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    /// Pipeline elements that lose a tenth of the packets at random.
    private static let way = "identity drop-probability=0.1 ! tee name=way"
    /// Pipeline elements that write the packets that passed the loss. Without `async=false`, a sink behind a tee that
    /// waits for its first packet would block the others.
    private static let arrived = "way. ! rtpstreampay ! filesink location=arrived.rtp buffer-mode=2 async=false"
    private static let heard = "rtpstreampay ! filesink location=heard.rtp buffer-mode=2 async=false"
    private var opus: String {
        "application/x-rtp,media=(string)audio,clock-rate=(int)48000,encoding-name=(string)OPUS,payload=(int)111"
    }

    /// Parses RFC 4571 framing: each packet follows its length as a big-endian number of 16 bits.
    private func packetCount(of file: String) -> Int {
        let bytes = Folder.bytes(of: folder(file))
        var (count, index) = (0, 0)
        while index + 2 <= bytes.count {
            index += 2 + (Int(bytes[index]) << 8) + Int(bytes[index + 1])
            count += 1
        }
        return count
    }

    @Test func gstreamersCopiesAreUsed() throws {
        let sender = """
            -q audiotestsrc is-live=true freq=\(Int(Tone.telling)) volume=0.5 samplesperbuffer=960 num-buffers=200 \
            ! audio/x-raw,rate=48000,channels=1 ! opusenc bitrate=16000 ! rtpopuspay pt=111 \
            ! rtpredenc pt=63 distance=1 allow-no-red-blocks=true ! identity drop-probability=0.1 \
            ! udpsink host=127.0.0.1 port=\(port)
            """
        let receiver = try Program(
            "tenfour", ["recv", "rtp://127.0.0.1:\(port)", "-o", "heard.wav", "--jitter", "300ms", "-v"], in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let player = try Command("gst-launch-1.0", words: sender).start(in: folder)
        end(player)
        receiver.wait(.seconds(1)) { false }
        receiver.send(2)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        let lost = try #require(receiver.errors.firstMatch(of: /lost +([0-9]+)/).flatMap { Int($0.output.1) })
        let concealed = try #require(
            receiver.errors.firstMatch(of: /concealed +([0-9.]+) s/).flatMap { Double($0.output.1) })
        #expect(lost > 4, "\(receiver.errors)")
        #expect(concealed < Double(lost) * 0.02 * 0.6, "\(receiver.errors)")
    }

    @Test func gstreamerUsesOurCopies() throws {
        folder.write(toneFile, to: "tone.wav")
        folder.write(
            """
            v=0
            c=IN IP4 127.0.0.1
            m=audio \(port) RTP/AVP 111 63
            a=rtpmap:63 red/48000/2
            a=fmtp:63 111/111
            a=rtpmap:111 opus/48000/2

            """, to: "theirs.sdp")
        // On a stalled machine the sender spends the bit rate of its copies on late packets.
        try expectNoFailure {
            let player = try Command(
                "gst-launch-1.0",
                words: """
                    -q udpsrc port=\(port) caps=\(opus) ! \(Self.way) ! rtpreddec pt=63 ! rtpjitterbuffer latency=200 \
                    ! \(Self.heard) \(Self.arrived)
                    """
            ).start(in: folder)
            try #require(player.takes(port: port), "\(player.errors)")
            try sendTone(to: "theirs.sdp", ["--defence", "copy"], in: folder)
            end(player)
            let (lost, missing) = (200 - packetCount(of: "arrived.rtp"), 200 - packetCount(of: "heard.rtp"))
            return lost > 4 && missing <= lost / 2 + 2 ? nil : "\(missing) of \(lost) missing"
        }
    }

    /// GStreamer sends NACKs by RTP/AVPF from its first report on. It knows our capabilities from our packets only.
    @Test func gstreamerAsksAndIsAnswered() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 12)]).wav(), to: "tone.wav")
        let own = UDPPort.free()
        try expectNoFailure {
            let player = try Command(
                "gst-launch-1.0",
                words: """
                    -v rtpbin name=bin rtp-profile=avpf do-retransmission=true latency=1000 \
                    udpsrc port=\(port) caps=\(opus) ! identity name=way drop-probability=0.1 silent=false \
                    ! bin.recv_rtp_sink_0 bin. ! rtpopusdepay ! identity name=heard silent=false ! fakesink \
                    udpsrc port=\(port + 1) caps=application/x-rtcp ! bin.recv_rtcp_sink_0 \
                    bin.send_rtcp_src_0 ! udpsink host=127.0.0.1 port=\(own + 1) sync=false async=false
                    """
            ).start(in: folder)
            try #require(player.takes(port: port), "\(player.errors)")
            try sendTone(to: "rtp://127.0.0.1:\(port)", ["-p", "\(own)", "--rtcp", "next"], in: folder)
            end(player)
            let lines = player.outputText.split(separator: "\n")
            let lost = lines.count { $0.contains("(way:") && $0.contains("dropping") }
            let heard = lines.count { $0.contains("(heard:") && $0.contains("chain") }
            return lost > 4 && 600 - heard <= lost * 2 / 3 ? nil : "\(600 - heard) of \(lost) missing"
        }
    }
}
