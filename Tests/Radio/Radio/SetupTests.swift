import TenfourAudioCore
import TenfourPackets
import TenfourSession
import Testing

@testable import TenfourRadio

@Suite struct SetupTests {
    @Test func aSenderPlaysNobody() throws {
        let configuration = try RadioConfiguration.sending(to: StreamAddress(parsing: "rtp://10.0.0.7:6000"))
        #expect(configuration.rtpSession.remotes.map(\.description) == ["10.0.0.7:6000"])
        #expect(configuration.rtpSession.accepted == .only([.v4(0x0A00_0007)]))
        #expect(configuration.local == Endpoint(.anyV4, port: 0))
        #expect(configuration.multicast == nil)
    }

    @Test func aSenderToAGroupReceivesItsReports() throws {
        let configuration = try RadioConfiguration.sending(
            to: StreamAddress(parsing: "rtp://@239.0.1.10"), multicastInterface: "eth7", timeToLive: 3)
        #expect(configuration.rtpSession.remotes.map(\.description) == ["239.0.1.10:5004"])
        #expect(configuration.rtpSession.accepted == .anyone)
        #expect(configuration.multicast == .init(group: nil, interface: "eth7", timeToLive: 3))
    }

    @Test func aReceiverListensOnAllAddressesOrTheGivenOne() throws {
        let any = try RadioConfiguration.receiving(on: StreamAddress(parsing: "rtp://:6000"))
        #expect(any.local == Endpoint(.anyV6, port: 6000))
        #expect(any.rtpSession.remotes.isEmpty && any.rtpSession.accepted == .anyone)
        let one = try RadioConfiguration.receiving(on: StreamAddress(parsing: "rtp://127.0.0.1"))
        #expect(one.local == Endpoint(.loopbackV4, port: 5004))
        let group = try RadioConfiguration.receiving(on: StreamAddress(parsing: "rtp://@239.0.1.10"))
        #expect(group.multicast == .init(group: .v4(0xEF00_010A)))
    }

    @Test func aTalkerHearsItsPartner() throws {
        let configuration = try RadioConfiguration.talking(
            with: StreamAddress(parsing: "127.0.0.1:6000"), localPort: 7000)
        #expect(configuration.local == Endpoint(.anyV6, port: 7000))
        #expect(configuration.rtpSession.remotes == [Endpoint(.loopbackV4, port: 6000)])
        #expect(configuration.rtpSession.accepted == .only([.loopbackV4]))
    }

    @Test(arguments: ["rtp://", "rtp://:5004"]) func somebodyMustBeNamed(text: String) throws {
        let address = try StreamAddress(parsing: text)
        let sending = #expect(throws: RadioError.self) { try RadioConfiguration.sending(to: address) }
        let talking = #expect(throws: RadioError.self) { try RadioConfiguration.talking(with: address, localPort: 0) }
        #expect(sending?.kind == .usage && talking?.kind == .usage)
    }

    @Test func aGroupIsNoPartner() throws {
        let address = try StreamAddress(parsing: "239.0.1.10")
        let error = #expect(throws: RadioError.self) { try RadioConfiguration.talking(with: address, localPort: 0) }
        #expect(error?.kind == .usage && error?.description.contains("send and recv") == true)
    }

    @Test func anUnknownHostIsNotToBeHad() throws {
        let address = try StreamAddress(parsing: "nobody.invalid")
        let error = #expect(throws: RadioError.self) { try RadioConfiguration.sending(to: address) }
        #expect(error?.kind == .unavailable && error?.description.contains("nobody.invalid") == true)
    }

    @Test func anSDPFileSaysWhereAndHow() throws {
        let description = try SessionDescription(
            parsing: """
                v=0
                o=- 1 1 IN IP4 10.0.0.7
                s=Radio
                c=IN IP4 239.0.1.10/3
                t=0 0
                m=audio 6000 RTP/AVP 0 97
                a=rtpmap:97 opus/48000/2

                """)
        let configuration = try RadioConfiguration.receiving(description)
        #expect(configuration.local.description == "239.0.1.10:6000")
        #expect(configuration.multicast == .init(group: .v4(0xEF00_010A)))
        #expect(configuration.rtpSession.acceptedPayloadTypes == [97: .opus, 0: .pcmu, 8: .pcma])
        #expect(configuration.rtpSession.controlPort == .next)
    }

    @Test func ourReceiverKnowsRedundancyAndRetransmission() throws {
        let configuration = try RadioConfiguration.sending(to: StreamAddress(parsing: "rtp://10.0.0.7:6000"))
        let text = SessionDescription(of: configuration, name: "Evening").text()
        #expect(text.contains("m=audio 6000 RTP/AVP 111 63\r\n"))
        #expect(text.contains("a=rtpmap:63 red/48000/2\r\na=fmtp:63 111/111\r\n"))
        #expect(text.contains("a=rtcp-fb:* nack\r\n"))
        let read = try SessionDescription(parsing: text)
        #expect(read.opus?.payloadType == 111 && read.redundantOpus?.payloadType == 63 && read.supportsNACK)
        #expect(try RadioConfiguration.receiving(read).rtpSession.lossProtection.sourcesSupportNACK)

        let group = try RadioConfiguration.sending(to: StreamAddress(parsing: "rtp://@239.0.1.10:6000"))
        let plain = SessionDescription(of: group, name: "Evening")
        #expect(plain.formats.count == 1 && plain.feedback.isEmpty)
    }

    @Test func aReceiversSDPFileSaysWhereToSendAndWhatItTakes() throws {
        let description = try SessionDescription(
            parsing: """
                v=0
                c=IN IP4 10.0.0.7
                m=audio 6000 RTP/AVPF 97 98
                a=rtpmap:97 opus/48000/2
                a=rtpmap:98 red/48000/2
                a=fmtp:98 97/97
                a=rtcp-fb:97 nack
                a=rtcp-mux

                """)
        let configuration = try RadioConfiguration.sending(to: description)
        #expect(configuration.rtpSession.remotes.map(\.description) == ["10.0.0.7:6000"])
        #expect(configuration.rtpSession.payloadType == 97)
        #expect(
            configuration.rtpSession.lossProtection.remoteCapabilities
                == Capabilities(supportsNACK: true, redPayloadType: 98))
    }

    @Test func depthForRepairIsWhatPlayoutAllows() throws {
        var configuration = try RadioConfiguration.sending(to: StreamAddress(parsing: "rtp://10.0.0.7:6000"))
        #expect(configuration.rtpSessionAsCoded.lossProtection.maximumDelay == .milliseconds(100))
        Profile.quality.apply(to: &configuration)
        #expect(configuration.rtpSessionAsCoded.lossProtection.maximumDelay == .milliseconds(200))
        #expect(
            configuration.rtpSessionAsCoded.lossProtection.depth(roundTrip: .milliseconds(25)) == .milliseconds(140))
        configuration.coding.frame = .milliseconds(5)
        configuration.coding.bitRate = 64_000
        let lossProtection = configuration.rtpSessionAsCoded.lossProtection
        #expect(
            lossProtection.frameCount == FrameCount(240) && lossProtection.bitRate == 64_000
                && !lossProtection.hasInBandFEC)
    }

    @Test(arguments: [0, 8]) func anSDPFileOfG711IsTaken(type: Int) throws {
        let description = try SessionDescription(
            parsing: "v=0\no=- 1 1 IN IP4 10.0.0.7\ns=-\nc=IN IP4 10.0.0.7\nt=0 0\nm=audio 6000 RTP/AVP \(type)\n")
        let configuration = try RadioConfiguration.receiving(description)
        #expect(configuration.rtpSession.acceptedPayloadTypes[UInt8(type)] != nil)
    }

    private func intercom(_ types: String) throws -> SessionDescription {
        try SessionDescription(
            parsing: "v=0\no=- 1 1 IN IP4 10.0.0.7\ns=-\nc=IN IP4 10.0.0.7\nt=0 0\nm=audio 6000 RTP/AVP \(types)\n")
    }

    @Test(arguments: [(0, AudioEncoding.pcmu), (8, .pcma)] as [(UInt8, AudioEncoding)]) func aReceiverOfG711IsSentIt(
        type: UInt8, encoding: AudioEncoding
    ) throws {
        let configuration = try RadioConfiguration.sending(to: intercom("\(type)"), in: encoding)
        #expect(configuration.rtpSessionAsCoded.payloadType == type)
        #expect(configuration.rtpSessionAsCoded.lossProtection.bitRate == 64_000)
        // Without this, a collision and our own packets that are looped back would be discarded unseen.
        #expect(configuration.rtpSessionAsCoded.acceptedPayloadTypes == [type: encoding])
    }

    @Test(arguments: [("0", AudioEncoding.opus, "pcmu"), ("8", .pcmu, "pcma"), ("9", .opus, "neither")])
    func aCodecThatTheReceiverDoesNotTakeIsRefused(types: String, encoding: AudioEncoding, remedy: String) throws {
        let description = try intercom(types)
        let error = #expect(throws: RadioError.self) { try RadioConfiguration.sending(to: description, in: encoding) }
        #expect(error?.kind == .unavailable && error?.description.contains(remedy) ?? false)
    }

    @Test(arguments: [(0, AudioEncoding.pcmu, "PCMU"), (8, .pcma, "PCMA")] as [(UInt8, AudioEncoding, String)])
    func g711IsDescribedForOthers(type: UInt8, encoding: AudioEncoding, name: String) throws {
        var configuration = try RadioConfiguration.sending(to: StreamAddress(parsing: "rtp://10.0.0.7:6000"))
        configuration.coding.encoding = encoding
        let text = SessionDescription(of: configuration, name: "x").text(endingLinesWith: "\n")
        #expect(text.contains("m=audio 6000 RTP/AVP \(type)\na=rtpmap:\(type) \(name)/8000\na=ptime:20\n"))
        #expect(!text.contains("fmtp") && !text.contains("opus") && !text.contains("red"))
        #expect(try SessionDescription(parsing: text).payloadType(of: encoding) == type)
    }

    @Test func combinationsThatG711DoesNotHaveAreRefused() throws {
        func refusal(_ change: (inout RadioConfiguration) -> Void) throws -> String? {
            var configuration = try RadioConfiguration.sending(to: StreamAddress(parsing: "rtp://127.0.0.1:6000"))
            configuration.input = .file("x.wav", raw: nil)
            configuration.coding.encoding = .pcmu
            change(&configuration)
            do { try configuration.checkEncoding() } catch {
                #expect(error.kind == .usage)
                return error.description
            }
            return nil
        }
        #expect(try refusal { _ in } == nil)
        #expect(try refusal { $0.coding.fec = .on }?.contains("FEC") ?? false)
        #expect(try refusal { $0.coding.channelCount = 2 }?.contains("is mono") ?? false)
        #expect(try refusal { $0.rtpSession.lossProtection.mode = .copy }?.contains("copies") ?? false)
        #expect(
            try refusal {
                $0.coding.encoding = .opus
                $0.coding.channelCount = 2
            } == nil)
    }

    @Test func theSentStreamIsDescribedInSDP() throws {
        var configuration = try RadioConfiguration.sending(
            to: StreamAddress(parsing: "rtp://@239.0.1.10:6000"), rtpSession: RTPSessionConfiguration(payloadType: 100),
            timeToLive: 3)
        Profile.music.apply(to: &configuration)
        configuration.coding.fec = .on
        configuration.coding.frame = .milliseconds(40)
        let text = SessionDescription(of: configuration, name: "Evening").text()
        let read = try SessionDescription(parsing: text)
        #expect(read.name == "Evening")
        #expect(read.port == 6000 && read.connection.address == "239.0.1.10" && read.connection.timeToLive == 3)
        #expect(read.opus?.payloadType == 100)
        #expect(read.packetTime == .milliseconds(40))
        #expect(read.multiplexesRTCP)
        let parameters = OpusParameters(parsing: read.opus?.parameters ?? "")
        #expect(parameters.usesInBandFEC && parameters.sendsStereo)
        // A receiver can be configured from the text that was read back.
        #expect(try RadioConfiguration.receiving(read).local.description == "239.0.1.10:6000")
    }

    @Test func profilesSetWhatTheirLineSays() {
        for profile in Profile.allCases {
            var configuration = RadioConfiguration(
                local: Endpoint(.anyV4, port: 0), rtpSession: RTPSessionConfiguration())
            profile.apply(to: &configuration)
            let (coding, playout) = (configuration.coding, configuration.playout)
            #expect(profile.summary.contains("\(coding.bitRate / 1_000) kbit/s") || profile == .lowest)
            #expect(profile.summary.contains("FEC for \(coding.expectedLoss)% loss") == (coding.expectedLoss > 0))
            let depth = Int(playout.minimumDelay / .milliseconds(1))
            #expect(profile.summary.contains("delay at least \(depth) ms") == (depth > 0))
            #expect(profile.summary.contains("stereo") == (coding.channelCount == 2))
            #expect(profile.summary.contains("periods of 2.5 ms") == (playout.period == .microseconds(2_500)))
        }
    }
}
