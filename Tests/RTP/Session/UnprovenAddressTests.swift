import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// An address that nobody typed gets reports and nothing else, and never more bytes than came from it.
struct UnprovenAddressTests {
    @Test func aPlainSourceGetsOnlyReports() {
        let link = SimulatedLink(
            left: session(9, RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(1)], controlPort: .none)),
            right: session(1))
        link.left.speech = Speech()
        // The listener has a microphone, too, but was told of nobody to send to.
        link.right.speech = Speech()
        link.run(until: seconds(60))
        #expect(link.right.sentMedia.isEmpty)
        #expect((8...30).contains(link.right.sentControl.count))
        #expect(link.right.sentControl.allSatisfy { $0.endpoint == link.left.endpoint })
        let bytesOut = link.right.sent.map(\.bytes.count).reduce(0, +)
        #expect(bytesOut < link.right.receivedByteCount / 100)
    }

    @Test func nothingGoesToOneWhoOnlyReports() {
        var listener = session()
        for second in 0..<60 {
            _ = listener.receive(report(SSRC(9), name: "Mallory"), from: carol, at: seconds(Double(second)))
            _ = listener.receive(goodbye(SSRC(9)), from: carol, at: seconds(Double(second)))
            listener.wait(until: seconds(Double(second)))
            #expect(listener.takeDatagrams().isEmpty)
        }
    }

    @Test func nothingGoesToOneWhoSentRubbish() {
        var listener = session()
        for (reason, datagram) in ReceivingTests.discards where reason != .stranger && reason != .collision {
            _ = listener.receive(datagram, from: carol, at: .start)
        }
        listener.wait(until: seconds(60))
        #expect(listener.takeDatagrams().isEmpty)
    }

    @Test func aForgedAddressNeverGetsMoreThanWasSentInItsName() {
        var listener = session()
        var bytesIn: [Endpoint: Int] = [:]
        var bytesOut: [Endpoint: Int] = [:]
        var randomness = SeededRandom(seed: 5)
        for step in 0..<20_000 {
            let now = seconds(Double(step) / 20)
            let victim = Endpoint(
                .v4(.random(in: 1...40, using: &randomness)), port: .random(in: 1...3, using: &randomness))
            let ssrc = SSRC(.random(in: 100...160, using: &randomness))
            let datagram = media(ssrc, step, payload: [0xF8])
            if case .media = listener.receive(datagram, from: victim, at: now) {
                bytesIn[victim, default: 0] += datagram.count
            }
            listener.wait(until: now)
            for sent in listener.takeDatagrams() {
                #expect(sent.isControl)
                bytesOut[sent.endpoint, default: 0] += sent.bytes.count
            }
        }
        #expect(bytesIn.count == 120)
        for (victim, count) in bytesOut { #expect(count <= bytesIn[victim] ?? 0) }
    }

    @Test func creditOfAnAddressDoesNotMoveToAnother() {
        var listener = session()
        for number in 0..<200 {
            _ = listener.receive(media(SSRC(9), number), from: alice, at: seconds(Double(number) / 50))
        }
        _ = listener.receive(media(SSRC(9), 200, payload: [0xF8]), from: carol, at: seconds(4.9))
        _ = listener.takeDatagrams()
        listener.wait(until: seconds(14))
        #expect(listener.sources.first?.endpoint == carol)
        #expect(listener.takeDatagrams().isEmpty)
    }
}
