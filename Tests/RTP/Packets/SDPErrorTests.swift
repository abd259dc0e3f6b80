import TenfourPackets
import Testing

/// The sentences for descriptions that cannot be used.
struct SDPErrorTests {
    private func refusal(_ lines: String, addressed: Bool = true) -> String? {
        let text = "v=0\n" + (addressed ? "c=IN IP4 192.0.2.1\n" : "") + lines
        do throws(SDPError) {
            _ = try SessionDescription(parsing: text)
            return nil
        } catch { return error.description }
    }

    @Test(arguments: [
        "m=audio 9 UDP/TLS/RTP/SAVPF 111\na=rtpmap:111 opus/48000/2\n", "m=audio 9 UDP/TLS/RTP/SAVP 0\n",
        "m=audio 9 TCP/DTLS/RTP/SAVPF 0\n", "m=audio 9 udp/tls/rtp/savpf 0\n",
        "m=audio 5004 RTP/SAVPF 0\na=fingerprint:sha-256 AA:BB\n",
        "a=fingerprint:sha-256 AA:BB\nm=audio 5004 RTP/SAVP 0\n",
    ])
    func dtlsIsNamed(lines: String) throws {
        let sentence = try #require(refusal(lines))
        for words in ["DTLS-SRTP", "WebRTC", "RTP/AVP", "a=crypto"] { #expect(sentence.contains(words), "\(sentence)") }
    }

    /// A fingerprint beside plain RTP, or beside a key, is only an offer of more.
    @Test(arguments: [
        "m=audio 5004 RTP/AVP 0\na=fingerprint:sha-256 AA:BB\n",
        "m=audio 5004 RTP/SAVP 0\na=fingerprint:sha-256 AA:BB\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:QUJD\n",
    ])
    func aFingerprintRefusesNothingByItself(lines: String) { #expect(refusal(lines) == nil) }

    @Test(arguments: [
        ("inline:QUJD|2^20|1:4", "MKI"), ("inline:QUJD|1:4", "MKI"), ("inline:QUJD;inline:QUJE", "several keys"),
        ("inline:QUJD kdr=1", "KDR"), ("inline:QUJD UNENCRYPTED_SRTP", "UNENCRYPTED_SRTP"),
        ("inline:QUJD FEC_KEY=QUJE", "FEC_KEY"), ("inline:QUJD QUJE", "cannot be understood"),
        ("inline:", "cannot be understood"), ("inline:Q\u{7}JD", "cannot be understood"),
    ])
    func theReasonAgainstAKeyIsNamedAndTheKeyIsNot(value: String, reason: String) throws {
        for profile in ["RTP/AVP", "RTP/SAVP"] {
            let sentence = try #require(
                refusal("m=audio 5004 \(profile) 0\na=crypto:1 AES_CM_128_HMAC_SHA1_80 \(value)\n"),
                "a stream with a key is never played in the clear")
            #expect(sentence.hasPrefix("line 4: ") && sentence.contains(reason), "\(sentence)")
            #expect(!sentence.contains("QUJ"), "\(sentence)")
        }
    }

    @Test func streamsOfOtherKindsAreNamed() throws {
        let video = try #require(refusal("m=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n"))
        #expect(video.contains("no audio stream (m=audio)") && video.contains("only video:"), "\(video)")
        let several = try #require(
            refusal("m=video 1 RTP/AVP 96\nm=te\u{1B}xt 2 RTP/AVP 98\nm=video 3 RTP/AVP 96\n"))
        #expect(several.contains("only video, te\u{FFFD}xt:"), "\(several)")
        let none = try #require(refusal("t=0 0\n"))
        #expect(none.contains("no audio stream") && !none.contains("only"), "\(none)")
    }

    @Test func theErrorIsThatOfTheFirstStreamThatCannotBeRead() throws {
        let sentence = try #require(
            refusal("m=audio 5004 RTP/AVP 9\nm=audio 0 RTP/AVP 0\nm=audio 5004 TCP/WS 0\n"))
        #expect(sentence.hasPrefix("line 4: ") && sentence.contains("port 0"), "\(sentence)")
        let unaddressed = try #require(refusal("m=audio 5004 RTP/AVP 0\n", addressed: false))
        #expect(unaddressed.contains("no address"))
    }

    /// A program may read the formats of a description that we do not play.
    @Test func aDescriptionOfOtherCodecsIsRead() throws {
        let text = "v=0\nc=IN IP4 192.0.2.1\nm=audio 5004 RTP/AVP 9\nm=audio 5006 RTP/AVP 4 98\n"
        let description = try SessionDescription(parsing: text)
        #expect(description.port == 5004 && description.payloadTypes.isEmpty)
        #expect(description.formats.map(\.encoding?.name) == ["G722"])
    }
}
