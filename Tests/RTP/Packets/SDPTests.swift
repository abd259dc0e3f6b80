import TenfourAudioCore
import TenfourPackets
import Testing

struct SDPTests {
    private var ours: SessionDescription {
        var parameters = OpusParameters()
        parameters.minimumPacketTime = 10
        parameters.usesInBandFEC = true
        return SessionDescription(
            origin: .init(sessionID: 1, address: .init("192.0.2.1")), name: "tenfour", connection: .init("192.0.2.7"),
            formats: [.opus(parameters)], packetTime: .milliseconds(20), direction: .sendOnly)
    }

    @Test func ourDescriptionIsWrittenToTheLetter() {
        #expect(
            ours.text().split(separator: "\r\n") == [
                "v=0", "o=- 1 0 IN IP4 192.0.2.1", "s=tenfour", "c=IN IP4 192.0.2.7", "t=0 0",
                "m=audio 5004 RTP/AVP 111", "a=rtpmap:111 opus/48000/2",
                "a=fmtp:111 minptime=10;useinbandfec=1;sprop-stereo=0", "a=ptime:20", "a=rtcp-mux", "a=sendonly",
            ])
        #expect(ours.text().hasSuffix("\r\n"))
    }

    @Test(arguments: ["\r\n", "\n"])
    func aWrittenDescriptionParsesTheSame(lineEnd: String) throws {
        for profile in SessionDescription.Profile.allCases {
            for direction in SessionDescription.Direction.allCases {
                var description = ours
                description.profile = profile
                description.direction = direction
                description.connection = .init("239.255.0.1", timeToLive: 7)
                description.formats.append(
                    .init(
                        payloadType: 112, encoding: .init(name: "red", clockRate: 48_000, channelCount: 2),
                        parameters: "111/111"))
                description.formats.append(.init(payloadType: 99, encoding: nil))
                description.maximumPacketTime = .milliseconds(120)
                description.rtcpPort = 7000
                description.multiplexesRTCP.toggle()
                #expect(try SessionDescription(parsing: description.text(endingLinesWith: lineEnd)) == description)
            }
        }
    }

    @Test func keysAreWrittenAndReadTheSame() throws {
        var description = ours
        description.profile = .savp
        description.cryptos = [
            .init(tag: 1, suite: "AES_CM_128_HMAC_SHA1_80", key: "dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydHAu"),
            .init(tag: 7, suite: "AEAD_AES_128_GCM", key: "dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydA=="),
        ]
        let text = description.text()
        #expect(text.contains("m=audio 5004 RTP/SAVP 111\r\n"))
        #expect(
            text.contains("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydHAu\r\n"))
        #expect(try SessionDescription(parsing: text) == description)
    }

    /// A lifetime is the sender's affair; an MKI, several keys and parameters of the session are not supported.
    @Test(arguments: [
        ("1 AES_CM_128_HMAC_SHA1_80 inline:QUJD|2^31", true), ("1 AES_CM_128_HMAC_SHA1_80 inline:QUJD", true),
        ("1 AES_CM_128_HMAC_SHA1_80 INLINE:QUJD", true), ("1 AES_CM_128_HMAC_SHA1_80 inline:QUJD|2^20|1:4", false),
        ("1 AES_CM_128_HMAC_SHA1_80 inline:QUJD|1:4", false), ("1 AES_CM_128_HMAC_SHA1_80 inline:QUJD KDR=1", false),
        ("1 AES_CM_128_HMAC_SHA1_80 inline:QUJD;inline:QUJE", false), ("1 AES_CM_128_HMAC_SHA1_80 inline:", false),
        ("1 AES_CM_128_HMAC_SHA1_80", false), ("x AES_CM_128_HMAC_SHA1_80 inline:QUJD", false),
        ("1 AES_CM_128_HMAC_SHA1_80 inline:Q\u{7}JD", false), ("1 A\u{FC} inline:QUJD", false), ("", false),
    ])
    func aKeyThatCannotBeUsedIsPassedOver(value: String, isTaken: Bool) throws {
        let text = "v=0\nc=IN IP4 192.0.2.1\nm=audio 5004 RTP/SAVP 111\na=crypto:\(value)\n"
        let usable = SessionDescription.Crypto(tag: 1, suite: "AES_CM_128_HMAC_SHA1_80", key: "QUJD")
        let other = SessionDescription.Crypto(tag: 2, suite: "AEAD_AES_128_GCM", key: "QUJE")
        let cryptos = try SessionDescription(parsing: text + "a=crypto:2 AEAD_AES_128_GCM inline:QUJE\n").cryptos
        #expect(cryptos == (isTaken ? [usable, other] : [other]))
    }

    @Test func aNameCannotAddALine() throws {
        var description = ours
        description.name = "x\r\nm=audio 9 RTP/AVP 0"
        description.formats[0].parameters = "a=1\na=inactive"
        let read = try SessionDescription(parsing: description.text())
        #expect(read.port == 5004)
        #expect(read.direction == .sendOnly)
        #expect(read.name.hasPrefix("x\u{FFFD}\u{FFFD}m="))
    }

    @Test func packetTimesAreRoundedUpToMilliseconds() {
        var description = ours
        description.packetTime = FrameCount(120).duration()
        #expect(description.text().contains("a=ptime:3\r\n"))
    }

    @Test func packetTimesMayHaveAFraction() throws {
        let text = "v=0\nc=IN IP4 192.0.2.1\nm=audio 5004 RTP/AVP 111\na=ptime:2.5\na=maxptime: 60\n"
        let description = try SessionDescription(parsing: text)
        #expect(description.packetTime == .microseconds(2500))
        #expect(description.maximumPacketTime == .milliseconds(60))
    }

    @Test func reportsGoWhereTheDescriptionSays() {
        var description = ours
        #expect(description.controlPort == 5004)
        description.multiplexesRTCP = false
        #expect(description.controlPort == 5005)
        description.rtcpPort = 53_020
        #expect(description.controlPort == 53_020)
        description.rtcpPort = nil
        description.port = .max
        #expect(description.controlPort == nil)
    }

    @Test func groupsAreKnownByTheirAddress() {
        #expect(SessionDescription.Connection("224.0.0.56").isMulticast)
        #expect(SessionDescription.Connection("239.255.255.255").isMulticast)
        #expect(SessionDescription.Connection("ff02::1").isMulticast)
        for address in ["223.255.255.255", "240.0.0.1", "239.1", "239.example.org", "fe80::1", "ff.example.org", ""] {
            #expect(!SessionDescription.Connection(address).isMulticast)
        }
    }

    @Test func opusIsFoundBehindOthersWhateverItsCase() throws {
        let text =
            "v=0\nc=IN IP4 192.0.2.1\nm=audio 5004 RTP/AVP 0 96 97\na=rtpmap:97 OpUs/48000/2\na=rtpmap:96 red/48000/2"
        let description = try SessionDescription(parsing: text)
        #expect(description.opus?.payloadType == 97)
        #expect(description.formats.map(\.encoding?.name) == ["PCMU", "red", "OpUs"])
    }

    @Test func errorsAreOneSentenceWithTheLine() throws {
        let text = "v=0\r\nc=IN IP4 192.0.2.1\r\nm=audio 5004 \u{1B}[31m 96\r\n"
        do {
            _ = try SessionDescription(parsing: text)
            Issue.record("that transport does not exist")
        } catch {
            #expect(
                error.description == "line 3: the transport is \u{FFFD}[31m, not RTP/AVP or one of its variants: ask "
                    + "the sender for RTP/AVP")
        }
    }

    @Test func tooMuchTextIsRefusedUnread() {
        let text = [UInt8](repeating: 0x0A, count: SessionDescription.maximumByteCount + 1)
        #expect(throws: SDPError.self) { _ = try SessionDescription(parsing: text.span) }
        do { _ = try SessionDescription(parsing: text.span) } catch {
            #expect(error.reason == .tooLarge(byteCount: 65_537))
        }
    }

    @Test func parametersOfOpusAreReadAsPeopleWriteThem() {
        let parameters = OpusParameters(
            parsing:
                "minptime=10; useinbandfec=1;  STEREO=1 ;sprop-stereo=1;maxaveragebitrate=64000;cbr=0;usedtx=1;x=y;;=")
        #expect(parameters.minimumPacketTime == 10)
        #expect(parameters.usesInBandFEC && parameters.prefersStereo && parameters.sendsStereo && parameters.usesDTX)
        #expect(!parameters.usesConstantBitRate)
        #expect(parameters.maximumAverageBitRate == 64_000)
        #expect(OpusParameters(parsing: parameters.text) == parameters)
    }

    @Test func parametersOfOpusOutOfRangeAreLeftOut() {
        let parameters = OpusParameters(
            parsing:
                "minptime=0;maxplaybackrate=96000;maxaveragebitrate=-1;useinbandfec=2;sprop-maxcapturerate=99999999999999999999"
        )
        #expect(parameters == OpusParameters())
    }
}
