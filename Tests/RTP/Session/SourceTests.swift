import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

struct SourceTests {
    @Test func aSourceAppearsWithItsFirstPacketOnlyAndKeepsTheNameOfItsReports() {
        var listener = session()
        _ = listener.receive(report(SSRC(9), name: "Alice"), from: alice, at: .start)
        #expect(listener.takeEvents() == [.reporterAppeared(SSRC(9), "Alice", from: alice)])
        #expect(listener.sources.isEmpty)
        for number in 0..<5 { _ = listener.receive(media(SSRC(9), number), from: alice, at: .start) }
        #expect(listener.takeEvents() == [.sourceAppeared(SSRC(9), from: alice), .sourceNamed(SSRC(9), "Alice")])
        #expect(listener.sources.map(\.ssrc) == [SSRC(9)])
    }

    @Test func aNameIsReportedOnceAndWhenItChanges() {
        var listener = session()
        _ = listener.receive(media(SSRC(9)), from: alice, at: .start)
        for name in ["Alice", "Alice", "Alice in the van", nil] {
            _ = listener.receive(report(SSRC(9), name: name), from: alice, at: .start)
        }
        #expect(
            listener.takeEvents().dropFirst() == [
                .sourceNamed(SSRC(9), "Alice"), .sourceNamed(SSRC(9), "Alice in the van"),
            ])
        #expect(listener.sources.first?.name == "Alice in the van")
    }

    @Test(arguments: [("doe@host.example.com", true), ("4e7c17e811d2b56a5fae8d3c4939f23b", false)])
    func aCanonicalNameIsShownWhereItIsAPersons(canonicalName: String, isShown: Bool) {
        var listener = session()
        _ = listener.receive(media(SSRC(9)), from: alice, at: .start)
        _ = listener.receive(report(SSRC(9), canonicalName: canonicalName), from: alice, at: .start)
        #expect(listener.sources.first?.name == (isShown ? canonicalName : nil))
    }

    @Test func aNameCannotDisturbATerminal() {
        var listener = session()
        _ = listener.receive(media(SSRC(9)), from: alice, at: .start)
        _ = listener.receive(report(SSRC(9), name: "\u{1B}[2Jbob\r\n\u{202E}\u{9B}31m"), from: alice, at: .start)
        let reason = Goodbye(sources: [SSRC(9)], reason: "gone\u{7}\u{1B}]0;x")
        _ = listener.receive(report(SSRC(9), name: "bob", goodbye: reason), from: alice, at: .start)
        listener.wait(until: seconds(1))
        #expect(
            listener.takeEvents().dropFirst() == [
                .sourceNamed(SSRC(9), "\u{FFFD}[2Jbob\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}31m"),
                .sourceNamed(SSRC(9), "bob"),
                .sourceLeft(SSRC(9), reason: "gone\u{FFFD}\u{FFFD}]0;x"),
            ])
    }

    @Test func aSourceThatSendsByeLeavesAfterItsStragglersArePlayed() {
        var listener = session()
        _ = listener.receive(media(SSRC(9), 0), from: alice, at: .start)
        _ = listener.receive(goodbye(SSRC(9), reason: "end of file"), from: alice, at: seconds(0.1))
        guard case .media = listener.receive(media(SSRC(9), 1), from: alice, at: seconds(0.15)) else {
            Issue.record("a straggler was not heard")
            return
        }
        listener.wait(until: seconds(0.29))
        #expect(listener.sources.count == 1)
        listener.wait(until: seconds(0.31))
        #expect(listener.sources.isEmpty)
        #expect(
            listener.takeEvents().filter { if case .sourceNamed = $0 { false } else { true } } == [
                .sourceAppeared(SSRC(9), from: alice), .sourceLeft(SSRC(9), reason: "end of file"),
            ])
    }

    @Test func nobodyCanSayGoodbyeOrGiveANameForAnother() {
        var listener = session()
        _ = listener.receive(media(SSRC(9)), from: alice, at: .start)
        _ = listener.receive(goodbye(SSRC(9)), from: bob, at: .start)
        listener.wait(until: seconds(1))
        #expect(listener.takeEvents() == [.sourceAppeared(SSRC(9), from: alice)])
        _ = listener.receive(goodbye(SSRC(9)), from: Endpoint(alice.address, port: 5_005), at: seconds(1))
        listener.wait(until: seconds(2))
        #expect(listener.sources.isEmpty, "RTCP may have a port of its own")
    }

    @Test(arguments: [RTPSessionConfiguration.ControlPort.multiplexed, .none])
    func aSourceThatVanishesIsRemovedAfterTenSeconds(controlPort: RTPSessionConfiguration.ControlPort) {
        var listener = session(1, RTPSessionConfiguration(controlPort: controlPort))
        for number in 0..<50 {
            _ = listener.receive(media(SSRC(9), number), from: alice, at: seconds(Double(number) / 50))
        }
        listener.wait(until: seconds(10.9))
        #expect(listener.sources.count == 1)
        listener.wait(until: seconds(11))
        #expect(listener.sources.isEmpty)
        #expect(listener.takeEvents().last == .sourceLeft(SSRC(9), reason: nil))
    }

    @Test func aSilentSourceStaysWhileItReports() throws {
        let link = SimulatedLink(
            left: session(9, RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(1)])), right: session(1),
            network: try #require(NetworkModel(named: "b10")))
        link.left.speech = Speech(count: 50)
        link.run(until: seconds(600))
        #expect(link.right.session.sources.map(\.ssrc) == [SSRC(9)])
        link.replace(0, by: session(8, RTPSessionConfiguration(controlPort: .none)), speech: nil)
        link.run(until: seconds(640))
        #expect(link.right.session.sources.isEmpty)
        #expect(link.right.events.last == .sourceLeft(SSRC(9), reason: nil))
    }

    @Test func moreSourcesThanAStationKeepsAreRefused() {
        var listener = session()
        for ssrc in 100..<200 as Range<UInt32> {
            let reception = listener.receive(media(SSRC(ssrc)), from: alice, at: .start)
            #expect((reception == .discarded(.tooManySources)) == (ssrc >= 164))
        }
        #expect(listener.sources.count == 64)
        #expect(listener.discards[.tooManySources] == 36)
        #expect(listener.discards.total == 36)
    }

    @Test func aNewTalkerTakesThePlaceOfTheOneThatIsSilentLongest() {
        var listener = session()
        for ssrc in 100..<164 as Range<UInt32> {
            _ = listener.receive(media(SSRC(ssrc)), from: alice, at: seconds(Double(ssrc) / 1_000))
        }
        // The first talks on; the second has been silent for half a second and more.
        _ = listener.receive(media(SSRC(100), 1), from: alice, at: seconds(0.6))
        guard case .media = listener.receive(media(SSRC(7)), from: bob, at: seconds(0.62)) else {
            Issue.record("no room")
            return
        }
        #expect(listener.sources.count == 64)
        #expect(
            listener.takeEvents().suffix(2) == [
                .sourceLeft(SSRC(101), reason: nil), .sourceAppeared(SSRC(7), from: bob),
            ])
    }

    @Test func aSourceIsNotTakenOverWhileItTalksButMayMove() {
        var listener = session()
        for number in 0..<10 {
            let now = seconds(Double(number) * 0.02)
            _ = listener.receive(media(SSRC(9), number), from: alice, at: now)
            #expect(listener.receive(media(SSRC(9), 500 + number), from: bob, at: now) == .discarded(.collision))
        }
        #expect(listener.sources.first?.endpoint == alice)
        #expect(listener.sources.first?.reception.receivedCount == 10)
        _ = listener.receive(media(SSRC(9), 40), from: bob, at: seconds(0.7))
        #expect(listener.sources.first?.endpoint == bob)
        #expect(listener.discards[.collision] == 10)
    }
}
