import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Two stations that chose the same SSRC, and packets that come back (RFC 3550 section 8.2).
struct CollisionTests {
    @Test func anotherStationWithOurNumberMakesUsTakeANewOneOnce() throws {
        let link = SimulatedLink(
            left: session(9, RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(1)])), right: session(1),
            network: NetworkModel(delay: .milliseconds(10)))
        link.left.speech = Speech()
        link.run(until: seconds(1))
        for number in 500..<600 {
            let reception = link.inject(media(SSRC(9), number), from: carol, to: 0)
            #expect((reception == .discarded(.collision)) == (number == 500))
        }
        link.run(until: seconds(2))

        let ssrc = link.left.session.ssrc
        #expect(ssrc != SSRC(9))
        #expect(link.left.events.filter { $0 == .identityChanged(ssrc) }.count == 1)
        #expect(link.left.session.sources.map(\.ssrc) == [SSRC(9)], "the other goes on under the old number")
        let goodbyes = link.left.sentControl.flatMap(\.goodbyes)
        #expect(goodbyes == [SSRC(9)])
        // The listener sees one leave and another come, and misses nothing.
        #expect(link.right.session.sources.map(\.ssrc) == [ssrc])
        #expect(link.right.events.contains(.sourceLeft(SSRC(9), reason: "")))
        #expect(link.right.heardNumbers == Array(0..<link.right.heard.count))
        #expect(link.right.session.sources.first?.reception.cumulativeLost == 0)
    }

    /// `draw` mixes the seed plus a constant, and 0 stays 0: the first SSRC that this seed gives is 0.
    @Test func theNewNumberIsNeverZero() {
        let seed = 0 &- UInt64(0x9E37_79B9_7F4A_7C15)
        var talker = RTPSession(
            identity: Identity(ssrc: SSRC(9), seed: seed), configuration: RTPSessionConfiguration(controlPort: .none),
            at: .start)
        talker.takeAnotherSSRC(at: .start)
        #expect(talker.ssrc != SSRC(0) && talker.ssrc != SSRC(9))
    }

    @Test func theNewNumberIsAnotherOne() {
        func next(after ssrc: SSRC) -> SSRC {
            var talker = RTPSession(
                identity: Identity(ssrc: ssrc, seed: 7), configuration: RTPSessionConfiguration(controlPort: .none),
                at: .start)
            talker.takeAnotherSSRC(at: .start)
            return talker.ssrc
        }
        let drawn = next(after: SSRC(9))
        #expect(next(after: drawn) != drawn)
    }

    @Test func twoThatMeetUnderOneNumberPart() {
        let network = NetworkModel(delay: .milliseconds(30))
        func talker(_ index: Int) -> RTPSession {
            RTPSession(
                identity: Identity(
                    ssrc: SSRC(9), firstTimestamp: RTPTimestamp(rawValue: UInt32(index)), seed: UInt64(index)),
                configuration: RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(1 - index)]), at: .start)
        }
        let link = SimulatedLink(left: talker(0), right: talker(1), network: network)
        link.left.speech = Speech()
        link.right.speech = Speech()
        link.run(until: seconds(5))
        #expect(link.left.session.ssrc != link.right.session.ssrc)
        #expect(link.left.session.sources.map(\.ssrc) == [link.right.session.ssrc])
        #expect(link.right.session.sources.map(\.ssrc) == [link.left.session.ssrc])
    }

    @Test func ourOwnPacketsLoopedBackChangeNothing() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        var count = 0
        for number in 0..<500 {
            let now = seconds(Double(number) / 50)
            talker.send(number, at: now)
            for sent in talker.takeDatagrams() {
                for place in [alice, bob, carol] { _ = talker.receive(sent.bytes, from: place, at: now) }
                count += 3
            }
        }
        #expect(count == 1_500)
        #expect(talker.discards[.loop] == 1_500)
        #expect(talker.discards.total == 1_500)
        #expect(talker.ssrc == SSRC(9))
        #expect(talker.sources.isEmpty)
        #expect(talker.takeEvents() == [])
    }

    @Test func ourOwnReportsLoopedBackTellNothing() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob], name: "me"))
        for number in 0..<500 {
            let now = seconds(Double(number) / 10)
            talker.send(number * 5, at: now)
            talker.timeElapsed(at: now)
            for sent in talker.takeDatagrams() where sent.isControl {
                #expect(talker.receive(sent.bytes, from: alice, at: now) == .control)
            }
        }
        #expect(talker.takeEvents() == [])
        #expect(talker.ssrc == SSRC(9))
    }

    /// A station that changed its SSRC at each collision would never be heard.
    @Test func aNumberThatIsClaimedAgainAndAgainIsGivenUpOnceAMinute() {
        var victim = session(9, RTPSessionConfiguration(remotes: [bob]))
        for number in 0..<200 {
            _ = victim.receive(media(victim.ssrc, number), from: carol, at: seconds(Double(number)))
        }
        let changes = victim.takeEvents().filter { if case .identityChanged = $0 { true } else { false } }
        #expect(changes.count == 4)
    }

    @Test func reportsCountFromTheNewNumberOn() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        func speak(_ numbers: Range<Int>) {
            for number in numbers {
                talker.send(number, at: .start)
                _ = talker.takeDatagrams()
            }
        }
        speak(0..<100)
        _ = talker.receive(media(SSRC(9)), from: carol, at: .start)
        _ = talker.takeDatagrams()
        speak(100..<103)
        talker.wait(until: seconds(6))
        guard case .senderReport(let report) = talker.takeDatagrams().first?.packets.first else {
            Issue.record("no sender report")
            return
        }
        #expect(report.ssrc == talker.ssrc)
        #expect(report.packetCount == 3)
        #expect(report.octetCount == UInt32(3 * opusPacket.count))
        #expect(talker.sendStream.packetCount == 103)
    }
}
