import TestSupport
import Testing

/// SRTP with a static key, in both directions with other programs.
@Suite(.onItsOwnThread, .inRealTime) struct SRTPTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    /// 30 bytes of key and salt: in Base64, and in hexadecimal as GStreamer takes them.
    private static let key = "dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydHAu"
    private static let digits = "74656e666f75722074616c6b7320746f206f74686572732c20737274702e"
    private static let counterMode = "AES_CM_128_HMAC_SHA1_80"
    private static let cipher = "aes-128-icm"
    private static let gcm = "aes-128-gcm"
    /// The first 28 bytes of the same key and salt.
    private static let gcmKey = "dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydA=="

    init() {
        folder.write(toneFile, to: "tone.wav")
        folder.write(Self.key + "\n", to: "key")
    }

    private var ours: [String] { ["--srtp-key-file", "key"] }

    /// Receives what `sender` sends until it ends. Returns the receiver's messages.
    @discardableResult
    private func receive(_ options: [String], from sender: Command) throws -> String {
        let receiver = try Program(
            "tenfour", ["recv"] + options + ["-o", "heard.wav", "--jitter", "300ms"], in: folder)
        try #require(receiver.takes(port: port), "\(receiver.errors)")
        let player = try sender.start(in: folder)
        player.wait(.seconds(20)) { !player.isRunning }
        player.send(2)
        #expect(player.wait(.seconds(20)) == .code(0), "\(player.errors)")
        receiver.wait(.seconds(1)) { false }
        receiver.send(2)
        #expect(receiver.wait() == .code(0), "\(receiver.errors)")
        return receiver.errors
    }

    /// Does not use `-re`, with which FFmpeg 7 sends the first half second all at once.
    private var ffmpeg: Command {
        let tone = "sine=\(Int(Tone.telling)):r=48000:d=4,volume=12dB,asetnsamples=960,arealtime"
        return Command(
            "ffmpeg",
            ["-hide_banner", "-loglevel", "warning", "-f", "lavfi", "-i", tone, "-c:a", "libopus"]
                + ["-payload_type", "111", "-f", "rtp", "-sdp_file", "theirs.sdp"]
                + ["-srtp_out_suite", Self.counterMode, "-srtp_out_params", Self.key, "srtp://127.0.0.1:\(port)"])
    }

    @Test func weHearFfmpeg() throws {
        try receive(["srtp://:\(port)"] + ours, from: ffmpeg)
        try expect(inFile: folder("heard.wav"))
    }

    /// ffmpeg writes its key into the SDP, but declares the profile without encryption.
    @Test func weHearFfmpegFromItsSDP() throws {
        folder.write(
            """
            v=0
            c=IN IP4 127.0.0.1
            m=audio \(port) RTP/AVP 111
            a=rtpmap:111 opus/48000/2
            a=crypto:1 \(Self.counterMode) inline:\(Self.key)

            """, to: "live.sdp")
        try receive(["live.sdp"], from: ffmpeg)
        try expect(inFile: folder("heard.wav"))
        #expect(Folder.text(of: folder("theirs.sdp")).contains("a=crypto:1 \(Self.counterMode) inline:\(Self.key)"))
    }

    private static let ffmpegPlaying = Command(
        "ffmpeg",
        words: "-hide_banner -loglevel warning -protocol_whitelist file,udp,rtp,srtp -i live.sdp -y heard.wav")
    private static let mpv = Command(
        "mpv", words: "--no-config --no-video --no-terminal --ao=pcm --ao-pcm-file=heard.wav live.sdp")

    /// The players read our SDP file, which only its owner may read because it contains the key.
    @Test(arguments: [(ffmpegPlaying, "opus"), (ffmpegPlaying, "pcmu"), (mpv, "opus")])
    func playersHearUsFromOurSDP(player: Command, codec: String) throws {
        let ours = ours + ["--codec", codec]
        try describe("srtp://127.0.0.1:\(port)", ours, in: folder)
        let player = try player.start(in: folder)
        try #require(player.takes(port: port), "\(player.errors)")
        try sendTone(to: "srtp://127.0.0.1:\(port)", ours, in: folder)
        end(player)
        try expect(inFile: folder("heard.wav"))
    }

    private func digits(for cipher: String) -> String {
        cipher == Self.cipher ? Self.digits : String(Self.digits.prefix(56))
    }

    /// For AEAD the authentication tag is part of the cipher.
    private func authentication(for cipher: String) -> String { cipher == Self.cipher ? "hmac-sha1-80" : "null" }

    private func gstreamer(cipher: String) -> Command {
        let authentication = authentication(for: cipher)
        return Command(
            "gst-launch-1.0",
            words: """
                -q audiotestsrc is-live=true freq=\(Int(Tone.telling)) volume=0.5 samplesperbuffer=960 num-buffers=200 \
                ! audio/x-raw,rate=48000,channels=1 ! opusenc bitrate=64000 ! rtpopuspay pt=111 \
                ! srtpenc key=\(digits(for: cipher)) rtp-cipher=\(cipher) \
                rtcp-cipher=\(cipher) rtp-auth=\(authentication) rtcp-auth=\(authentication) \
                ! udpsink host=127.0.0.1 port=\(port)
                """)
    }

    @Test func weHearGStreamer() throws {
        try receive(["srtp://:\(port)"] + ours, from: gstreamer(cipher: Self.cipher))
        try expect(inFile: folder("heard.wav"))
    }

    @Test func weHearGStreamerInGCM() throws {
        folder.write(Self.gcmKey + "\n", to: "key")
        try receive(
            ["srtp://:\(port)", "--srtp-suite", "AEAD_AES_128_GCM"] + ours, from: gstreamer(cipher: Self.gcm))
        try expect(inFile: folder("heard.wav"))
    }

    /// srtpdec needs the SSRC in advance, so packets are held here until it is known.
    @Test(arguments: [cipher, gcm]) func gstreamerHearsUs(cipher: String) throws {
        let way = PlainSocket()
        let isGCM = cipher == Self.gcm
        if isGCM { folder.write(Self.gcmKey + "\n", to: "key") }
        let suite = isGCM ? ["--srtp-suite", "AEAD_AES_128_GCM"] : []
        let sender = try Program(
            "tenfour", ["send", "--input", "tone.wav", "srtp://127.0.0.1:\(way.port)"] + ours + suite, in: folder)
        let first = way.receive(within: 10_000)
        var datagrams = [try #require(first, "\(sender.errors)")]
        let ssrc = datagrams[0][8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let caps = """
            application/x-srtp,media=(string)audio,encoding-name=(string)OPUS,clock-rate=(int)48000,payload=(int)111,\
            ssrc=(uint)\(ssrc),roc=(uint)0,srtp-key=(buffer)\(digits(for: cipher)),srtp-cipher=(string)\(cipher),\
            srtp-auth=(string)\(authentication(for: cipher)),srtcp-cipher=(string)\(cipher),\
            srtcp-auth=(string)\(authentication(for: cipher))
            """
        let player = try Command(
            "gst-launch-1.0",
            words: """
                -q -e udpsrc port=\(port) caps=\(caps) ! srtpdec ! rtpjitterbuffer latency=500 ! rtpopusdepay ! opusdec \
                ! audioconvert ! audio/x-raw,format=S16LE ! wavenc ! filesink location=heard.wav
                """
        ).start(in: folder)
        try #require(player.takes(port: port), "\(player.errors)")
        while let datagram = way.receive(within: 1_000) { datagrams.append(datagram) }
        #expect(sender.wait() == .code(0), "\(sender.errors)")
        // Only media packets are passed on. One second of silence means that the stream has ended.
        for datagram in datagrams where datagram[1] & 0x7F == 111 {
            way.send(datagram, toPort: port)
            player.wait(.milliseconds(15)) { false }
        }
        player.wait(.seconds(1)) { false }
        end(player)
        try expect(inFile: folder("heard.wav"))
    }

    /// With a wrong key nothing is played, and a message says so.
    @Test func aReceiverWithAnotherKeyPlaysNothing() throws {
        folder.write("c29tZWJvZHkgaGFzIGFub3RoZXIga2V5LCBoZXJl\n", to: "other")
        let said = try receive(["srtp://:\(port)", "--srtp-key-file", "other"], from: ffmpeg)
        #expect(
            said.contains("the sender uses another key, or does not encrypt")
                && said.contains(/2\d* datagrams not decrypted/),
            "\(said)")
        #expect(Folder.bytes(of: folder("heard.wav")).isEmpty)
    }

    /// A receiver of plain RTP reports encrypted payloads at once and plays no noise.
    @Test func encryptedPayloadsAreNotPlayedAsNoise() throws {
        let said = try receive(["rtp://:\(port)", "-v"], from: ffmpeg)
        #expect(said.contains("looks encrypted and is not played"), "\(said)")
        #expect(said.contains("look encrypted") && !said.contains("% lost"), "\(said)")
        let heard = try Recording(wav: folder("heard.wav"))
        let loud = heard.channels[0].count { abs($0) > 0.01 }
        #expect(loud < heard.rate / 2, "\(loud) samples of noise")
    }
}
