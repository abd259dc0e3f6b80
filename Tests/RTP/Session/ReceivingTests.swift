import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

struct ReceivingTests {
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func nothingThatCameIsLostAcrossTheWraps(seed: UInt64) throws {
        let talker = Identity(
            ssrc: SSRC(9), firstSequenceNumber: SequenceNumber(rawValue: 65_535),
            firstTimestamp: RTPTimestamp(rawValue: .max - 1_000))
        let network = NetworkModel(
            loss: .random(0.2), jitter: .normal(deviation: .milliseconds(20)), duplication: Duplication(share: 0.1))
        let link = SimulatedLink(
            left: RTPSession(
                identity: talker,
                configuration: RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(1)], controlPort: .none),
                at: .start),
            right: session(1, RTPSessionConfiguration(controlPort: .none)), network: network, seed: seed)
        link.left.speech = Speech(count: 300)
        link.run(until: seconds(8))

        let heard = link.right.heard
        #expect(heard.count == link.right.receivedCount)
        #expect(link.right.session.discards.total == 0)
        for packet in heard {
            #expect(packet.packet.sequenceNumber == talker.firstSequenceNumber.advanced(by: packet.number))
            #expect(packet.packet.timestamp == talker.firstTimestamp.advanced(by: FrameCount(960 * packet.number)))
            #expect(packet.packet.marker == (packet.number == 0))
        }
        let numbers = link.right.heardNumbers
        #expect(numbers != numbers.sorted(), "some came out of order")
        let reception = try #require(link.right.session.sources.first?.reception)
        let newest = try #require(numbers.max())
        #expect(reception.receivedCount == numbers.count)
        #expect(reception.duplicateCount == numbers.count - Set(numbers).count)
        #expect(reception.expectedCount == newest - numbers[0] + 1)
        #expect(reception.restartCount == 0)
    }

    @Test func aPacketSaysWhereItsSoundLies() {
        var listener = session()
        let reception = listener.receive(media(SSRC(9), 3), from: alice, at: .start)
        guard case .media(let packet) = reception else {
            Issue.record("\(reception)")
            return
        }
        #expect(packet.ssrc == SSRC(9))
        #expect(packet.sequenceNumber == SequenceNumber(rawValue: 2))
        #expect(packet.description.offset == 12)
        #expect(packet.description.byteCount == opusPacket.count)
        #expect(packet.description.frameCount == FrameCount(960))
        #expect(!packet.marker)
    }

    /// Fifteen packets have waited in the socket when we begin to read it. The network carries the packets evenly.
    @Test func whatWaitedInTheSocketIsNoJitter() throws {
        var listener = session()
        let start = Instant.start + .seconds(5)
        listener.beginReception(at: start)
        var waiting: [Bool] = []
        for number in 0..<30 {
            let now = number < 15 ? start + .microseconds(100 * number) : start + .milliseconds(20 * (number - 14))
            guard case .media(let packet) = listener.receive(media(SSRC(9), number), from: alice, at: now) else {
                continue
            }
            waiting.append(packet.hasWaited)
        }
        #expect(waiting == (0..<30).map { $0 < 15 })
        let reception = try #require(listener.sources.first?.reception)
        #expect(reception.receivedCount == 30 && reception.jitter == .zero, "\(reception.jitter)")
    }

    @Test func payloadTypesThatWereAnnouncedAreTakenAndOthersAreNot() {
        var listener = session(
            1, RTPSessionConfiguration(payloadType: 111, acceptedPayloadTypes: [96: .opus, 111: .opus]))
        for (type, isTaken) in [(96, true), (111, true), (97, false), (0, false), (127, false)] as [(UInt8, Bool)] {
            let reception = listener.receive(media(SSRC(9), payloadType: type), from: alice, at: .start)
            #expect((reception == .discarded(.unknownPayloadType)) != isTaken)
        }
        #expect(listener.discards[.unknownPayloadType] == 3)
        #expect(listener.discards.total == 3)
    }

    static let discards: [(DiscardReason, [UInt8])] = [
        (.empty, []),
        (.empty, [0x80]),
        (.unknownProtocol, [0x00, 0x01] + [UInt8](repeating: 0, count: 18)),  // STUN
        (.unknownProtocol, [0x16, 0xFE, 0xFD]),  // DTLS
        (.unknownProtocol, Array("GET / HTTP/1.1".utf8)),
        (.malformedRTP, [0x80, 0x6F, 0, 0]),
        (.malformedRTCP, [0x80, 0xC9, 0, 9]),
        (.malformedRTCP, [0x81, 0xC9, 0, 1, 0, 0, 0, 1]),  // a block that is not there
        (.unknownPayloadType, media(SSRC(9), payloadType: 0)),
        (.malformedPayload, media(SSRC(9), payload: [])),
        (.oversizedPayload, media(SSRC(9), payload: [0xFF, 0x41, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 1_437))),
        (.malformedPayload, media(SSRC(9), payload: [0xFB, 0x00])),  // code 3 without frames
        (.stranger, media(SSRC(9))),
        (.stranger, report(SSRC(9))),
        (.stranger, [0x00, 0x01]),
        (.collision, media(SSRC(1))),
    ]

    @Test(arguments: discards)
    func invalidPacketsAreCountedOnceByReason(reason: DiscardReason, datagram: [UInt8]) {
        var listener = session(1, RTPSessionConfiguration(accepted: .only([alice.address])))
        let sender = reason == .stranger ? bob : alice
        #expect(listener.receive(datagram, from: sender, at: .start) == .discarded(reason))
        #expect(listener.discards[reason] == 1)
        #expect(listener.discards.total == 1)
        #expect(listener.sources.isEmpty)
        #expect("\(listener.discards)" == "1 \(reason)")
    }

    @Test func everyReasonHasATest() {
        var tested = Set(Self.discards.map(\.0))
        tested.insert(.tooManySources)  // moreSourcesThanAStationKeepsAreRefused
        tested.insert(.looksEncrypted)  // EncryptedPayloadDetectorTests
        tested.insert(.loop)  // ourOwnPacketsLoopedBackChangeNothing
        #expect(tested == Set(DiscardReason.allCases))
    }

    @Test func anyPortOfAnAcceptedHostIsHeard() {
        var listener = session(1, RTPSessionConfiguration(accepted: .only([alice.address])))
        let reception = listener.receive(media(SSRC(9)), from: Endpoint(alice.address, port: 40_000), at: .start)
        #expect(listener.discards.total == 0, "\(reception)")
    }

    @Test func theValidPartOfADamagedReportCounts() {
        var listener = session()
        _ = listener.receive(media(SSRC(9)), from: alice, at: .start)
        // A good-bye for more sources than it names, behind a name.
        let datagram = report(SSRC(9), name: "Alice") + [0x85, 203, 0, 1, 0, 0, 0, 9]
        #expect(listener.receive(datagram, from: alice, at: .start) == .discarded(.malformedRTCP))
        #expect(listener.discards.total == 1)
        #expect(listener.takeEvents() == [.sourceAppeared(SSRC(9), from: alice), .sourceNamed(SSRC(9), "Alice")])
    }
}
