import TenfourAudioCore
import TenfourPackets
import TenfourSeededRandom
import TestSupport
import Testing

@testable import TenfourSession

/// Streams of payload types that nobody has named.
struct UnnamedStreamsTests {
    private func datagram(
        _ packet: ForeignStream.Packet, _ ssrc: SSRC = SSRC(9), payloadType: UInt8 = 97
    ) -> [UInt8] {
        [UInt8](capacity: 12 + packet.payload.count) { datagram in
            header(of: packet, ssrc, payloadType: payloadType).write(into: &datagram)
            for byte in packet.payload { datagram.append(byte) }
        }
    }

    private func header(of packet: ForeignStream.Packet, _ ssrc: SSRC, payloadType: UInt8) -> RTPHeader {
        RTPHeader(
            marker: false, payloadType: payloadType,
            sequenceNumber: SequenceNumber(rawValue: 65_530).advanced(by: packet.number),
            timestamp: RTPTimestamp(rawValue: .max - 1_000).advanced(by: FrameCount(packet.timestamp)), ssrc: ssrc)
    }

    /// Returns 20 ms of Opus with a TOC, or another duration, and bytes by chance.
    private func opus(
        _ number: Int, toc: UInt8 = 0xF8, ticks: Int = 960, delay: Double = 0, randomness: inout SeededRandom
    ) -> ForeignStream.Packet {
        let payload =
            [toc]
            + (0..<Int.random(in: 30...80, using: &randomness)).map { _ in UInt8.random(in: 0...255, using: &randomness)
            }
        return .init(
            number: number, timestamp: number * ticks, payload: payload,
            time: Double(number * ticks) / 48_000 + delay)
    }

    @Test func opusOfAnyDynamicTypeIsPlayedFromTheTenthPacket() throws {
        for type in UInt8(96)...127 where type != 111 {
            var randomness = SeededRandom(seed: UInt64(type))
            var listener = session()
            var heard: [Int] = []
            for number in 0..<50 {
                let packet = opus(number, randomness: &randomness)
                let reception = listener.receive(
                    datagram(packet, payloadType: type), from: alice, at: seconds(packet.time))
                if case .media(let media) = reception {
                    heard.append(number)
                    #expect(media.encoding == .opus && media.description.frameCount == FrameCount(960))
                } else {
                    #expect(reception == .discarded(.unknownPayloadType))
                }
            }
            #expect(heard == Array(9..<50))
            #expect(
                listener.takeEvents() == [
                    .opusRecognised(SSRC(9), payloadType: type, from: alice), .sourceAppeared(SSRC(9), from: alice),
                ])
            let source = try #require(listener.sources.first)
            #expect(source.reception.cumulativeLost == 0 && source.reception.receivedCount == 41)
        }
    }

    /// Every configuration of RFC 6716 table 2, mono and stereo.
    @Test func everyConfigurationIsRecognised() {
        for toc in stride(from: UInt8(0), through: 252, by: 4) {
            var randomness = SeededRandom(seed: UInt64(toc))
            var detector = OpusDetector()
            let ticks = OpusTOC(rawValue: toc).frameCount.rawValue
            for number in 0...max(9, 7_680 / ticks) {
                #expect(!detector.isOpus)
                insert(opus(number, toc: toc, ticks: ticks, randomness: &randomness), into: &detector)
            }
            #expect(detector.isOpus, "\(toc)")
        }
    }

    /// Loss, jitter and exchanged packets delay the recognition by less than the time until the notice.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func opusIsRecognisedOnABadNetwork(seed: UInt64) {
        var randomness = SeededRandom(seed: seed)
        var listener = session()
        var packets = (0..<100).map { number in
            opus(
                number, toc: number % 40 < 3 ? 0xD8 : 0xF8, delay: .random(in: 0...0.06, using: &randomness),
                randomness: &randomness)
        }
        packets.removeAll { _ in Double.random(in: 0..<1, using: &randomness) < 0.1 }
        packets.sort { $0.time < $1.time }
        for packet in packets {
            _ = listener.receive(datagram(packet), from: alice, at: seconds(packet.time))
        }
        #expect(listener.takeEvents().prefix(1) == [.opusRecognised(SSRC(9), payloadType: 97, from: alice)])
    }

    @Test(arguments: ForeignStream.Kind.allCases) func nothingElseIsTakenForOpus(kind: ForeignStream.Kind) {
        var recognised: [UInt64] = []
        for seed in 1...1_000 as ClosedRange<UInt64> {
            var detector = OpusDetector()
            for packet in ForeignStream(kind, seed: seed).packets { insert(packet, into: &detector) }
            if detector.isOpus { recognised.append(seed) }
        }
        #expect(recognised.isEmpty, "\(recognised)")
    }

    /// Silence proves nothing, and is not reported as unknown. The stream is played as soon as there is sound.
    @Test func silenceIsPlayedWhenItEnds() {
        var randomness = SeededRandom(seed: 1)
        var listener = session()
        for number in 0..<200 {
            var packet = opus(number, randomness: &randomness)
            if number < 150 { packet.payload = [0xF8, 0xFF, 0xFE] + [UInt8](repeating: 0, count: 77) }
            let reception = listener.receive(datagram(packet), from: alice, at: seconds(packet.time))
            if number < 150 { #expect(reception == .discarded(.unknownPayloadType) && listener.nextEvent() == nil) }
        }
        #expect(listener.sources.first?.reception.receivedCount == 50)
    }

    /// The packets of a steady tone in speech mode, as libopus makes them, begin with the same byte.
    @Test func aSteadyToneIsRecognised() {
        var randomness = SeededRandom(seed: 1)
        var detector = OpusDetector()
        let starts: [[UInt8]] = [[0xA3, 0x12], [0xA3, 0x5F], [0x2A, 0xD2], [0x2B, 0x1F]]
        for number in 0..<10 {
            var packet = opus(number, randomness: &randomness)
            packet.payload = [0x48, 0x9B] + starts[number % 4] + [UInt8](repeating: 0x77, count: 40)
            insert(packet, into: &detector)
        }
        #expect(detector.isOpus)
    }

    /// The short packets that libopus makes of digital silence are those of no other codec.
    @Test func digitalSilenceOfVariableRateIsRecognised() {
        var randomness = SeededRandom(seed: 1)
        var detector = OpusDetector()
        for number in 0..<10 {
            var packet = opus(number, randomness: &randomness)
            packet.payload = [0xF8, 0xFF, 0xFE]
            insert(packet, into: &detector)
        }
        #expect(detector.isOpus)
    }

    /// Codecs with a clock of 8 or 16 kHz, whose bytes look like Opus and whose timestamps advance like it.
    @Test(arguments: [8_000, 16_000, 24_000]) func aSlowerClockIsNotThatOfOpus(clock: Int) {
        var randomness = SeededRandom(seed: 1)
        var detector = OpusDetector()
        for number in 0..<500 {
            var packet = opus(number, toc: 0xF0, ticks: 480, randomness: &randomness)
            packet.time *= 48_000 / Double(clock)
            insert(packet, into: &detector)
        }
        #expect(!detector.isOpus)
    }

    private func insert(_ packet: ForeignStream.Packet, into detector: inout OpusDetector) {
        detector.insert(header(of: packet, SSRC(9), payloadType: 97), packet.payload.span, at: seconds(packet.time))
    }

    // MARK: - What is not recognised

    /// The notice comes within a second, once, and names the sender.
    @Test(arguments: [(97, true), (97, false), (9, true), (14, false)] as [(UInt8, Bool)])
    func anUnknownTypeIsReportedOnceWithinASecond(type: UInt8, recognises: Bool) {
        var configuration = RTPSessionConfiguration()
        configuration.recognisesOpus = recognises
        var listener = session(1, configuration)
        var reports: [(Event, Double)] = []
        for packet in ForeignStream(.g722, count: 500, seed: 4).packets {
            let reception = listener.receive(
                datagram(packet, payloadType: type), from: alice, at: seconds(packet.time))
            #expect(reception == .discarded(.unknownPayloadType))
            for event in listener.takeEvents() { reports.append((event, packet.time)) }
        }
        #expect(reports.map(\.0) == [.payloadTypeUnknown(SSRC(9), payloadType: type, from: alice)])
        #expect(reports.allSatisfy { $0.1 < 1 })
        #expect(listener.sources.isEmpty)
    }

    /// The type that a person or an SDP names is Opus; no other type is.
    @Test func namedTypesWinOverRecognition() {
        var randomness = SeededRandom(seed: 1)
        var listener = session(1, RTPSessionConfiguration(acceptedPayloadTypes: [96: .opus]))
        for number in 0..<100 {
            let packet = opus(number, randomness: &randomness)
            let reception = listener.receive(
                datagram(packet, payloadType: 97), from: alice, at: seconds(packet.time))
            #expect(reception == .discarded(.unknownPayloadType))
        }
        #expect(listener.takeEvents() == [.payloadTypeUnknown(SSRC(9), payloadType: 97, from: alice)])
    }

    /// Keys, comfort noise and packets for the recovery of lost ones accompany audio that is played.
    @Test(
        arguments: [(101, [5, 10, 0, 160]), (13, [60]), (98, [UInt8](repeating: 0xFF, count: 100)), (20, [])]
            as [(UInt8, [UInt8])])
    func whatAccompaniesAudioIsNotReported(type: UInt8, payload: [UInt8]) throws {
        var listener = session()
        for number in 0..<300 {
            let isOther = type == 98 ? number % 3 == 2 : number % 50 > 40
            _ = listener.receive(
                isOther ? media(SSRC(9), number, payloadType: type, payload: payload) : media(SSRC(9), number),
                from: alice, at: seconds(0.02 * Double(number)))
        }
        #expect(
            !listener.takeEvents().contains(.payloadTypeUnknown(SSRC(9), payloadType: type, from: alice)))
        let source = try #require(listener.sources.first)
        #expect(source.reception.cumulativeLost == 0 && source.reception.receivedCount == 300)
    }

    /// A source that changes its payload type is heard again after ten packets, and none is lost.
    @Test func aSourceThatChangesItsTypeIsHeardAgain() throws {
        var randomness = SeededRandom(seed: 1)
        var listener = session()
        var heard: [Int] = []
        for number in 0..<200 {
            let packet = opus(number, randomness: &randomness)
            let reception = listener.receive(
                datagram(packet, payloadType: number < 100 ? 111 : 97), from: alice, at: seconds(packet.time))
            if case .media = reception { heard.append(number) }
        }
        #expect(heard == Array(0..<100) + Array(109..<200))
        let source = try #require(listener.sources.first)
        #expect(source.reception.cumulativeLost == 0 && source.reception.receivedCount == 200)
    }

    /// A source that goes on in a codec that is not known is reported, although it was heard.
    @Test func aSourceThatChangesToAnotherCodecIsReported() {
        var listener = session()
        for number in 0..<100 {
            let payload = [UInt8](repeating: 0x55, count: 160)
            _ = listener.receive(
                number < 20 ? media(SSRC(9), number) : media(SSRC(9), number, payloadType: 9, payload: payload),
                from: alice, at: seconds(0.02 * Double(number)))
        }
        #expect(listener.takeEvents().contains(.payloadTypeUnknown(SSRC(9), payloadType: 9, from: alice)))
    }

    /// The recognition of one sender says nothing about the same type of another one.
    @Test func eachSourceIsJudgedAlone() {
        var randomness = SeededRandom(seed: 1)
        var listener = session()
        let video = ForeignStream(.h264, count: 200, seed: 1).packets
        for number in 0..<200 {
            let packet = opus(number, randomness: &randomness)
            _ = listener.receive(datagram(packet), from: alice, at: seconds(packet.time))
            var other = video[number]
            other.time = packet.time
            let reception = listener.receive(datagram(other, SSRC(10)), from: bob, at: seconds(packet.time))
            #expect(reception == .discarded(.unknownPayloadType))
        }
        #expect(listener.sources.map(\.ssrc) == [SSRC(9)])
        #expect(listener.takeEvents().contains(.payloadTypeUnknown(SSRC(10), payloadType: 97, from: bob)))
    }

    /// Strangers that send one or two packets of each of a million sources cost a stream neither its place nor its chance to
    /// be recognised.
    @Test(arguments: [1, 2]) func strangersCostNoStreamItsPlace(packetsOfEach: Int) {
        var randomness = SeededRandom(seed: 1)
        var streams = UnnamedStreams()
        var findings: [UnnamedStreams.Finding] = []
        for number in 0..<20 {
            for stranger in 0..<(packetsOfEach == 1 ? 60 : 8) {
                for step in 0..<packetsOfEach {
                    let packet = opus(step, randomness: &randomness)
                    _ = insert(packet, SSRC(UInt32(1_000 + number * 100 + stranger)), from: bob, number, &streams)
                }
            }
            let packet = opus(number, randomness: &randomness)
            if let finding = insert(packet, SSRC(9), from: alice, number, &streams) { findings.append(finding) }
        }
        #expect(findings.first == .opus)
        let header = header(of: opus(20, randomness: &randomness), SSRC(9), payloadType: 97)
        #expect(streams.isOpus(header, 97, from: alice) && !streams.isOpus(header, 97, from: bob))
    }

    private func insert(
        _ packet: ForeignStream.Packet, _ ssrc: SSRC, from sender: Endpoint, _ number: Int,
        _ streams: inout UnnamedStreams
    ) -> UnnamedStreams.Finding? {
        streams.insert(
            header(of: packet, ssrc, payloadType: 97), 97, packet.payload.span, from: sender, isHeard: false,
            recognises: true,
            at: seconds(0.02 * Double(number)))
    }
}
