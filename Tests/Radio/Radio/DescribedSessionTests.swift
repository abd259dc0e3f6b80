import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRadio

/// Sessions from the descriptions of other programs: what they accept, and the sentences for what they refuse.
struct DescribedSessionTests {
    private func description(_ lines: String) throws -> SessionDescription {
        try SessionDescription(parsing: "v=0\nc=IN IP4 10.0.0.7\n" + lines)
    }

    private func refusal(_ lines: String) throws -> String {
        let description = try description(lines)
        let receiving = #expect(throws: RadioError.self) { try RadioConfiguration.receiving(description) }
        let sending = #expect(throws: RadioError.self) {
            try RadioConfiguration.sending(to: description, in: .pcmu)
        }
        #expect(receiving?.kind == .unavailable && sending?.kind == .unavailable)
        return receiving?.description ?? ""
    }

    @Test func dynamicPayloadTypesOfG711AreAccepted() throws {
        let lines = "m=audio 6000 RTP/AVP 96 111\na=rtpmap:96 PCMU/8000\na=rtpmap:111 PCMA/8000\n"
        let receiving = try RadioConfiguration.receiving(description(lines))
        #expect(receiving.rtpSessionAsCoded.acceptedPayloadTypes == [96: .pcmu, 111: .pcma, 0: .pcmu, 8: .pcma])
        for (encoding, type) in [(AudioEncoding.pcmu, 96), (.pcma, 111)] as [(AudioEncoding, UInt8)] {
            let sending = try RadioConfiguration.sending(to: description(lines), in: encoding)
            #expect(sending.rtpSessionAsCoded.payloadType == type && sending.rtpSessionAsCoded.encoding == encoding)
            let written = SessionDescription(of: sending, name: "x")
            #expect(written.payloadTypes == [type: encoding])
        }
    }

    @Test func aDescriptionMayAssignAStaticPayloadType() throws {
        let configuration = try RadioConfiguration.receiving(
            description("m=audio 6000 RTP/AVP 0\na=rtpmap:0 opus/48000/2\n"))
        #expect(configuration.rtpSession.acceptedPayloadTypes == [0: .opus, 8: .pcma])
    }

    @Test(arguments: [
        ("m=audio 6000 RTP/AVP 9 101\na=rtpmap:101 telephone-event/8000\n", "offers G722/8000, but neither"),
        ("m=audio 6000 RTP/AVP 98 3\na=rtpmap:98 L16/48000/2\n", "offers L16/48000/2, GSM/8000, but neither"),
        ("m=audio 6000 RTP/AVP 97\n", "offers payload type 97 without an a=rtpmap line, but neither"),
        ("m=audio 6000 RTP/AVP 13\n", "offers CN/8000, but neither"),
        ("m=audio 6000 RTP/AVP 96\na=rtpmap:96 PCMU/16000\n", "offers PCMU/16000, but neither"),
        ("m=audio 6000 RTP/AVP 96\na=rtpmap:96 \u{1B}[2Jx/8000\n", "offers \u{FFFD}[2Jx/8000, but neither"),
        ("m=audio 6000 RTP/AVP 3 4 5 6 7 9\n", "offers GSM/8000, G723/8000, DVI4/8000, DVI4/16000, …, but neither"),
    ])
    func aForeignCodecIsNamed(lines: String, words: String) throws {
        let sentence = try refusal(lines)
        #expect(sentence.contains(words) && sentence.contains("ask for one of these"), "\(sentence)")
    }

    @Test(arguments: [
        ("RTP/SAVP 0\n", "is for SRTP (RTP/SAVP), but has no key (a=crypto)", "ask the sender"),
        (
            "RTP/SAVP 0\na=crypto:1 AES_256_CM_HMAC_SHA1_80 inline:QUJD\n", "is for AES_256_CM_HMAC_SHA1_80",
            "AES_CM_128_HMAC_SHA1_80 or AEAD_AES_128_GCM"
        ),
        (
            "RTP/AVP 0\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:QUJD\n", "the length that AES_CM_128_HMAC_SHA1_80",
            "copy the whole line"
        ),
    ])
    func aKeyThatCannotBeUsedIsExplained(lines: String, words: String, remedy: String) throws {
        let sentence = try refusal("m=audio 6000 " + lines)
        #expect(sentence.contains(words) && sentence.contains(remedy) && !sentence.contains("QUJD"), "\(sentence)")
    }
}

extension RealTimeTests.SessionTests {
    /// The description is one that another program could write: its first stream is not for us.
    @Test func g711UnderADynamicPayloadTypeIsHeard() throws {
        let folder = Folder()
        let file = try folder.sound("tone.wav", tone(440, seconds: 2))
        try expectNoFailure {
            let heard = Heard()
            let description = try SessionDescription(
                parsing: """
                    v=0
                    c=IN IP4 127.0.0.1
                    m=audio 6200 RTP/AVP 98
                    a=rtpmap:98 L16/48000/2
                    m=audio \(UDPPort.free()) RTP/AVP 96
                    a=rtpmap:96 PCMU/8000
                    a=rtcp-mux
                    """)
            var receiving = try RadioConfiguration.receiving(description)
            receiving.recording = .closure(heard.take)
            receiving.endsWithLastSource = true
            let hearing = try RadioSession(receiving)
            try hearing.start()
            var sending = try RadioConfiguration.sending(to: description, in: .pcmu)
            sending.input = .file(file, raw: nil)
            try RadioSession(sending).run()
            try hearing.wait()
            let talker = hearing.snapshot?.talkers.first
            #expect((90...100).contains(talker?.receivedCount ?? 0) && talker?.playout.resyncs == 0)
            let sound = heard.samples
            guard sound.count >= 2 * 48_000 else { return "only \(sound.count) frames" }
            if longestGap(in: sound) > 480 { return "a gap of \(longestGap(in: sound))" }
            let loudness = medianAmplitude(of: 440, in: sound[24_000..<84_000])
            return abs(loudness - 0.4) < 0.04 ? nil : "a tone of \(loudness)"
        }
    }
}
