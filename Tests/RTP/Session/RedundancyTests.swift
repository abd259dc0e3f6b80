import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Copies of earlier packets in later ones (RFC 2198).
struct RedundancyTests {
    @Test(arguments: [("b5", 0.006), ("b10", 0.02), ("b20", 0.06)])
    func copiesBringBackWhatWasLost(network: String, limit: Double) throws {
        let link = try ProtectedLink.link(network, .copy, .auto, seed: 5)
        link.run(until: seconds(60))
        #expect(1 - ProtectedLink.shareInTime(link, within: .milliseconds(90)) < limit)
        let source = try #require(link.right.session.sources.first)
        #expect(source.recovery.copyCount > 50)
        #expect(source.recovery.strayCopyCount == 0)
        #expect(link.right.heard.contains { $0.packet.origin == .copy })
        #expect(ProtectedLink.questions(of: link.right).isEmpty, "a talker in this mode does not say that it answers")
        for heard in link.right.heard {
            #expect(heard.packet.sequenceNumber == SequenceNumber(rawValue: 0).advanced(by: heard.number))
            #expect(heard.packet.timestamp == RTPTimestamp(rawValue: 0).advanced(by: FrameCount(960 * heard.number)))
        }
        let numbers = link.right.heardNumbers
        #expect(numbers.count == Set(numbers).count, "nothing is handed on twice")
    }

    @Test(arguments: [12_000, 24_000, 32_000, 50_000, 64_000])
    func allPayloadStaysWithinTheBitRate(bitRate: Int) throws {
        for mode in [LossProtectionConfiguration.Mode.copy, .auto] {
            var configuration = ProtectedLink.configuration(mode)
            configuration.bitRate = bitRate
            let link = try ProtectedLink.link("b20", configuration, .init(), seed: 5)
            link.run(until: seconds(30))
            #expect(link.left.session.sendStream.byteCount <= bitRate / 8 * 30 + bitRate / 8)
        }
    }

    @Test func anEncoderThatTakesMoreThanItShouldGetsFewerCopies() throws {
        let link = try ProtectedLink.link("b10", .copy, .copy, seed: 5)
        link.left.speech?.followsDefence = false
        link.run(until: seconds(30))
        #expect(link.left.session.sendStream.byteCount <= 4_000 * 31)
    }

    @Test func onlyOneWhoSaidSoIsSentCopies() throws {
        for mode in [LossProtectionConfiguration.Mode.nack, .off] {
            let link = try ProtectedLink.link("b10", .auto, mode, seed: 1)
            link.run(until: seconds(20))
            #expect(link.left.sentMedia.allSatisfy { $0.bytes[1] & 0x7F == 111 })
        }
        var configuration = ProtectedLink.configuration(.copy)
        configuration.remoteCapabilities = Capabilities(redPayloadType: 100)
        var talker = session(9, RTPSessionConfiguration(remotes: [bob], lossProtection: configuration))
        for number in 0..<5 { talker.send(number, startsTalkspurt: number == 0, at: seconds(Double(number) / 50)) }
        let types = talker.takeDatagrams().filter { !$0.isControl }.map { $0.bytes[1] & 0x7F }
        #expect(types.last == 100, "by its session description")
    }

    @Test func aTalkspurtBeginsWithoutCopies() throws {
        let link = try ProtectedLink.link("b10", .copy, .copy, seed: 5)
        link.left.speech = Speech(isSpoken: { $0 / 50 % 2 == 0 })
        link.left.speech?.followsDefence = true
        link.run(until: seconds(20))
        let marked = link.left.sentMedia.filter { $0.bytes[1] & 0x80 != 0 }
        #expect(marked.count == 10)
        #expect(marked.allSatisfy { $0.bytes[1] & 0x7F == 111 })
        #expect(link.left.sentMedia.contains { $0.bytes[1] & 0x7F == 63 })
        #expect(link.right.session.sources.first?.recovery.strayCopyCount == 0)
    }

    @Test func aCopyWhoseTimeFitsNoPacketIsLeftOut() throws {
        var listener = session()
        _ = listener.receive(media(SSRC(9), 0), from: alice, at: .start)
        for (age, marker, isTaken) in [(960, false, true), (1_000, false, false), (960, true, false)] {
            guard
                case .media(let packet) = listener.receive(
                    Self.redundant(3, age: age, marker: marker), from: alice, at: .start)
            else {
                Issue.record("not taken")
                return
            }
            #expect((packet.copyCount == 1) == isTaken)
            if isTaken {
                #expect(packet.copy(0).sequenceNumber == packet.sequenceNumber.advanced(by: -1))
                #expect(packet.copy(0).timestamp == packet.timestamp.advanced(by: FrameCount(-960)))
                #expect(packet.copy(0).origin == .copy)
                #expect(packet.copy(0).description.byteCount == 3)
            }
            listener = session()
            _ = listener.receive(media(SSRC(9), 0), from: alice, at: .start)
        }
    }

    static let block = ReportBlock(
        ssrc: SSRC(9), fractionLost: 0, cumulativeLost: 0, extendedHighestSequenceNumber: 0, jitter: FrameCount(0),
        lastSenderReport: nil, delaySinceLastSenderReport: .zero)

    /// Packet `number` with a copy of three bytes.
    private static func redundant(_ number: Int, age: Int, marker: Bool) -> [UInt8] {
        let copy = RedundantPayload.Block(payloadType: 111, age: FrameCount(age), byteCount: 3)
        let payload = [UInt8](capacity: 200) { payload in
            RedundantPayload.writeHeader(ofCopy: copy, into: &payload)
            RedundantPayload.writeHeader(ofPrimary: 111, into: &payload)
            for byte in [0xF8, 1, 2] as [UInt8] { payload.append(byte) }
            for byte in opusPacket { payload.append(byte) }
        }
        var datagram = media(SSRC(9), number, payloadType: 63, payload: payload)
        if marker { datagram[1] |= 0x80 }
        return datagram
    }
}
