import TenfourAudioCore
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// A station that hears nothing from a configured address says so often.
struct RemoteSilenceTests {
    /// Bob receives at another port than the one that is configured, and the machine there drops what goes to that one. He has
    /// waited for a while, hears nothing, and says so.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func aPartnerAtAnotherPortHearsNothing(seed: UInt64) throws {
        let remotes = [Endpoint(.v4(0x0A00_0009), port: 5_004)]
        var listener = RTPSession(
            identity: Identity(ssrc: SSRC(1), seed: seed), configuration: RTPSessionConfiguration(remotes: remotes),
            at: .start)
        var random = SeededRandom(seed: seed)
        let begin = seconds(Double.random(in: 0...90, using: &random))
        listener.wait(until: begin)
        var waiting = listener.takeDatagrams(at: begin).filter { _ in false }
        var talker = RTPSession(
            identity: Identity(ssrc: SSRC(9), seed: seed), configuration: RTPSessionConfiguration(remotes: [bob]),
            at: begin)
        var told: [(at: Double, state: HearingState)] = []
        for number in 0..<1_500 {
            let now = begin + .milliseconds(20) * number
            talker.send(number, at: now)
            talker.wait(until: now)
            for datagram in waiting {
                _ = talker.receive(datagram.bytes, from: Endpoint(bob.address, port: 7_000), at: now)
            }
            listener.wait(until: now)
            waiting = listener.takeDatagrams(at: now)
            for case .hearingChanged(let hearing) in talker.takeEvents() {
                told.append(((now - begin) / .seconds(1), hearing.state))
            }
        }
        #expect(told.map(\.state) == [.hearsNothing], "\(told)")
        #expect(try #require(told.first).at <= 3, "\(told)")
    }

    /// A station that hears nothing reports often, within its share of the bit rate: 5% of 48 kbit/s.
    @Test func reportsToARemoteThatIsNotHeardTakeTheirShare() {
        var listener = session(1, RTPSessionConfiguration(remotes: [bob]))
        listener.wait(until: seconds(600))
        let byteCount = listener.takeDatagrams().reduce(0) { $0 + $1.bytes.count + 28 }
        #expect(byteCount <= 600 * 300, "\(byteCount / 600) bytes/s")
        // Once its reports arrive, the regular interval does.
        for second in stride(from: 600, to: 660, by: 5) {
            listener.wait(until: seconds(Double(second)))
            _ = listener.receive(report(SSRC(9)), from: bob, at: seconds(Double(second)))
        }
        #expect(listener.takeDatagrams().count <= 60 / 2)
    }

    /// One of nine stations is off: the others do not report more often for it.
    @Test func severalRemotesAreReportedToAsUsual() {
        let others = (1...8).map { Endpoint(.v4(0x0A00_0000 + UInt32($0)), port: 5_004) }
        var listener = session(1, RTPSessionConfiguration(remotes: others))
        listener.wait(until: seconds(60))
        #expect(listener.takeDatagrams().count <= 8 * 60 / 2)
    }
}
