import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// What reports say, and where they go.
struct ReportTests {
    private func talk(
        _ network: NetworkModel, _ control: RTPSessionConfiguration.ControlPort = .multiplexed, seed: UInt64 = 1,
        until end: Double = 60
    ) -> SimulatedLink {
        var undefended = LossProtectionConfiguration()
        undefended.mode = .off
        func configuration(_ remote: Int) -> RTPSessionConfiguration {
            RTPSessionConfiguration(
                remotes: [SimulatedLink.endpoint(remote)], controlPort: control, lossProtection: undefended)
        }
        let link = SimulatedLink(
            left: session(9, configuration(1)), right: session(1, configuration(0)),
            network: network, seed: seed)
        link.left.speech = Speech()
        link.run(until: seconds(end))
        return link
    }

    private func views(_ link: SimulatedLink) -> [ReceiverView] {
        link.left.events.compactMap { if case .receiverReported(SSRC(1), let view) = $0 { view } else { nil } }
    }

    @Test func theRoundTripIsWhatTheLinkTakes() throws {
        let views = views(talk(NetworkModel(delay: .milliseconds(40))))
        #expect(views.count >= 8)
        let trips = views.compactMap(\.roundTrip)
        #expect(trips.count >= views.count - 2, "all but those before our first report came back")
        #expect(trips.allSatisfy { (.milliseconds(79) ... .milliseconds(81)).contains($0) }, "\(trips)")
    }

    @Test func aCleanLinkIsReportedClean() {
        let views = views(talk(NetworkModel(delay: .milliseconds(5))))
        #expect(views.allSatisfy { $0.lossShare == 0 && $0.lostCount == 0 && $0.jitter == .zero })
    }

    @Test func lossIsReportedAsItWas() throws {
        let link = talk(NetworkModel(loss: .random(0.1)), seed: 4, until: 300)
        link.left.speech = nil
        link.leave(1)
        link.run(until: seconds(301))
        let views = views(link)
        let share = views.map(\.lossShare).reduce(0, +) / Double(views.count)
        #expect(abs(share - 0.1) < 0.03, "\(share)")
        let last = try #require(views.last)
        let lost = try #require(link.right.heardNumbers.max()) + 1 - link.right.heard.count
        #expect(last.lostCount == lost)
        #expect(link.left.session.sendStream.lastReceiverView == last)
    }

    /// In the VoIP metrics of RFC 3611, as what was discarded.
    @Test func audioThatTheCardDoesNotPlayIsReported() throws {
        func views(missing: Bool) throws -> [ReceiverView] {
            let link = talk(NetworkModel(delay: .milliseconds(5)), until: 1)
            for step in 1...30 {
                let played = FrameCount(48_000 * step)
                link.right.session.playout(
                    of: SSRC(9), due: played, missing: missing ? FrameCount(played.rawValue / 5) : .zero,
                    at: seconds(Double(step) + 1))
                link.run(until: seconds(Double(step) + 1))
            }
            return self.views(link)
        }
        let told = try views(missing: true).compactMap(\.discardShare)
        #expect(told.count >= 3 && told.allSatisfy { abs($0 - 0.2) < 0.005 }, "\(told)")
        #expect(try views(missing: false).allSatisfy { $0.discardShare == nil })
    }

    @Test func jitterIsReportedAsItWas() throws {
        let views = views(talk(NetworkModel(delay: .milliseconds(10), jitter: .uniform(.zero ... .milliseconds(12)))))
        // The mean distance of two throws is a third of the range.
        let jitter = try #require(views.last).jitter
        #expect((.milliseconds(2.5) ... .milliseconds(5.5)).contains(jitter), "\(jitter)")
    }

    @Test func aSenderSaysSoAndStopsSayingSoWhenItStops() {
        let link = talk(NetworkModel(), until: 30)
        func kinds(_ end: LinkEnd, after: Double) -> Set<String> {
            Set(
                end.sentControl.filter { $0.at > seconds(after) }.compactMap {
                    switch $0.packets.first {
                    case .senderReport: "sender"
                    case .receiverReport: "receiver"
                    default: nil
                    }
                })
        }
        #expect(kinds(link.left, after: 0) == ["sender"])
        #expect(kinds(link.right, after: 0) == ["receiver"])
        link.left.speech = nil
        link.run(until: seconds(90))
        #expect(kinds(link.left, after: 50) == ["receiver"])
    }

    @Test func aSenderReportTellsTheStreamsTimeAndCounts() throws {
        let link = talk(NetworkModel(), until: 30)
        let datagram = try #require(link.left.sentControl.last)
        guard case .senderReport(let report) = try #require(datagram.packets.first) else { return }
        let count = link.left.sentMedia.filter { $0.at <= datagram.at }.count
        #expect(report.packetCount == UInt32(count))
        #expect(report.octetCount == UInt32(count * 80))
        #expect(report.time == NTPTime(rawValue: 0).advanced(by: datagram.at - .start))
        let frames = FrameCount(datagram.at - .start)
        #expect(report.timestamp == RTPTimestamp(rawValue: 0).advanced(by: frames - FrameCount(960)))
    }

    @Test func manySourcesAreReportedOnInTurn() {
        var listener = session(1, RTPSessionConfiguration(remotes: [bob]))
        var reported: [SSRC] = []
        for number in 0..<300 {
            let now = seconds(Double(number))
            for ssrc in 100..<160 as Range<UInt32> {
                _ = listener.receive(media(SSRC(ssrc), number), from: carol, at: now)
            }
            listener.timeElapsed(at: now)
            for sent in listener.takeDatagrams() where sent.endpoint == bob {
                #expect(sent.blocks.count == 31)
                reported += sent.blocks.map(\.ssrc)
            }
        }
        #expect(Set(reported.prefix(62)).count == 60)
    }

    @Test func reportsGoWhereTheConfigurationSays() {
        let expected: [(RTPSessionConfiguration.ControlPort, UInt16?)] = [
            (.multiplexed, 5_004), (.next, 5_005), (.none, nil),
        ]
        for (control, port) in expected {
            let link = talk(NetworkModel(), control, until: 20)
            let sent = link.left.sentControl
            #expect(sent.isEmpty == (port == nil))
            #expect(sent.allSatisfy { $0.endpoint == Endpoint(link.right.endpoint.address, port: port ?? 0) })
            #expect(link.left.sentMedia.allSatisfy { $0.endpoint == link.right.endpoint })
            #expect(views(link).isEmpty == (port == nil))
        }
    }

    @Test func thereIsNoPortAboveTheLast() {
        var talker = session(
            9, RTPSessionConfiguration(remotes: [Endpoint(bob.address, port: .max)], controlPort: .next))
        talker.wait(until: seconds(60))
        #expect(talker.takeDatagrams().isEmpty)
    }

    @Test func leavingSaysGoodbyeWithALastReport() throws {
        let link = talk(NetworkModel(delay: .milliseconds(5)), until: 10)
        link.leave(0)
        link.leave(1)
        link.run(until: seconds(11))
        let goodbyes = link.right.sentControl.filter { !$0.goodbyes.isEmpty }
        #expect(goodbyes.map(\.goodbyes) == [[SSRC(1)]])
        #expect(goodbyes.last?.blocks.map(\.ssrc) == [SSRC(9)])
        #expect(link.right.sentControl.last?.goodbyes == [], "the other's goodbye is answered")
        #expect(link.right.events.last == .sourceLeft(SSRC(9), reason: ""))
        #expect(link.right.session.sources.isEmpty)
    }

    @Test func aSilentMemberLeavesWithoutBye() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        talker.leave(at: seconds(0.1))
        #expect(talker.takeDatagrams().isEmpty)
    }

    @Test func aMemberOfALargeGroupLeavesWithoutBye() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        talker.send(0, at: .start)
        _ = talker.takeDatagrams()
        for ssrc in 100..<200 as Range<UInt32> { _ = talker.receive(report(SSRC(ssrc)), from: bob, at: .start) }
        talker.leave(at: seconds(0.1))
        #expect(talker.takeDatagrams().isEmpty)
    }

    @Test func ourNamesAreInTheReport() throws {
        var talker = RTPSession(
            identity: Identity(ssrc: SSRC(9), canonicalName: "3f2a"),
            configuration: RTPSessionConfiguration(remotes: [bob], name: "Alice"), at: .start)
        talker.wait(until: seconds(5))
        let report = try #require(talker.takeDatagrams().first)
        let capabilities = SourceDescription.Item(privatePrefix: "tenfour", "nack red=63 depth=100")
        let expected = SourceDescription(
            ssrc: SSRC(9), canonicalName: "3f2a", name: "Alice", tool: "tenfour", extensions: [capabilities])
        #expect(report.packets.contains(.sourceDescription(expected)))
    }

    @Test func theLongestReportFitsIntoItsDatagram() {
        let long = String(repeating: "x", count: 300)
        var listener = RTPSession(
            identity: Identity(ssrc: SSRC(1), canonicalName: long),
            configuration: RTPSessionConfiguration(remotes: [bob], name: long), at: .start)
        for ssrc in 100..<160 as Range<UInt32> { _ = listener.receive(media(SSRC(ssrc)), from: carol, at: .start) }
        listener.send(0, at: .start)
        listener.leave(at: .start)
        let sizes = listener.takeDatagrams().map(\.bytes.count)
        #expect(sizes.allSatisfy { $0 <= 1_400 }, "\(sizes)")
    }
}
