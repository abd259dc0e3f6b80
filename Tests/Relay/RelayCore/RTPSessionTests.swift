import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourRelayCore
import TenfourSession
import TestSupport
import Testing

/// RTP sessions know nothing about relays, and work well through one.
struct RTPSessionTests {
    private let family = ChannelKeys.drawn("family")

    private func lines(listeners: Int) -> [StationLine] {
        let lines = (0...listeners).map { StationLine(family, $0 == 0 ? .talk : .listen, $0) }
        lines[0].isTalking = true
        return lines
    }

    @Test func lossOnOneLinkIsRecoveredOnThatLink() {
        let lines = lines(listeners: 10)
        lines[3].lossDown = 0.1
        let stations = RTPSessionRelay(family, lines)
        stations.run(seconds: 20)
        let ssrc = lines[0].member.ssrc
        let spoken = Set(100..<990)
        // Of 890 packets about 89 are lost, and about nine of their retransmissions.
        #expect(spoken.subtracting(lines[3].heard[ssrc] ?? []).count <= 8)
        for line in lines[1...] where line !== lines[3] {
            #expect((line.heard[ssrc] ?? []).isSuperset(of: spoken))
            #expect((stations.forwardedCount - 1...stations.forwardedCount).contains(line.receivedCount))
        }
        // The talker sends nothing twice either.
        #expect(lines[0].sentCount == 1_000)
        #expect(stations.room.relay.status.channels[0].retransmittedCount > 60)
    }

    @Test func lossBeforeTheRelayIsRecoveredForAll() {
        let lines = lines(listeners: 3)
        lines[0].lossUp = 0.05
        let stations = RTPSessionRelay(family, lines)
        stations.run(seconds: 20)
        let ssrc = lines[0].member.ssrc
        for line in lines[1...] { #expect(Set(100..<990).subtracting(line.heard[ssrc] ?? []).count <= 9) }
        #expect(lines[0].sentCount > 1_020)
    }

    @Test func bothSidesLearnHowFarTheRelayIs() throws {
        let lines = lines(listeners: 2)
        lines[2].delay = .milliseconds(60)
        let stations = RTPSessionRelay(family, lines)
        stations.run(seconds: 3)
        let told = lines[0].events.compactMap { event -> Duration? in
            if case .receiverReported(_, let view) = event { view.roundTrip } else { nil }
        }
        #expect(!told.isEmpty && told.allSatisfy { abs(($0 - .milliseconds(40)) / .milliseconds(1)) < 3 })
        for (line, roundTrip) in [(lines[1], 40.0), (lines[2], 120.0)] {
            let known = try #require(line.rtpSession.sources.first?.roundTrip)
            #expect(abs(known / .milliseconds(1) - roundTrip) < 3)
            #expect(line.rtpSession.sources.first?.capabilities?.supportsNACK == true)
        }
    }

    @Test func twoWhoTalkAtOnceLearnItToo() throws {
        let lines = (0..<2).map { StationLine(family, .talk, $0) }
        for line in lines { line.isTalking = true }
        let stations = RTPSessionRelay(family, lines)
        lines[1].lossDown = 0.1
        stations.run(seconds: 20)
        for line in lines {
            let roundTrip = try #require(line.rtpSession.sources.first?.roundTrip)
            #expect(abs(roundTrip / .milliseconds(1) - 40) < 3)
        }
        let heard = lines[1].heard[lines[0].member.ssrc] ?? []
        #expect(Set(100..<990).subtracting(heard).count <= 8)
    }

    @Test func aTalkerDefendsItselfWhenNineOfTenListenersStillLose() {
        let lines = lines(listeners: 4)
        for line in lines[1...] {
            line.lossDown = 0.3
            line.delay = .milliseconds(150)
        }
        let stations = RTPSessionRelay(family, lines)
        stations.run(seconds: 10)
        #expect(!lines[0].rtpSession.lossProtection.isNone)
    }

    @Test func aTalkerLearnsHowTheWeakestOfItsListenersConceals() {
        let lines = lines(listeners: 3)
        for line in lines[1...] { line.rtpSession.setConcealment(.deep) }
        let stations = RTPSessionRelay(family, lines)
        stations.run(seconds: 8)
        #expect(lines[0].rtpSession.sendStream.lastReceiverView?.concealment == .deep)
        lines[2].rtpSession.setConcealment(.plain)
        stations.run(seconds: 8)
        #expect(lines[0].rtpSession.sendStream.lastReceiverView?.concealment == .plain)
    }

    /// A former talker, which the relay has forgotten, states no capabilities of a listener, so it must not keep the
    /// next talker from sending copies.
    @Test func aFormerTalkerDoesNotKeepTheNextTalkerFromCopies() {
        let lines = (0..<3).map { StationLine(family, $0 < 2 ? .talk : .listen, $0) }
        for line in lines { line.delay = .milliseconds(150) }
        lines[1].isTalking = true
        let stations = RTPSessionRelay(family, lines)
        stations.run(seconds: 6)
        lines[1].isTalking = false
        stations.run(seconds: 12)
        lines[0].isTalking = true
        for line in lines[1...] { line.lossDown = 0.2 }
        stations.run(seconds: 8)
        #expect(!lines[0].rtpSession.lossProtection.copies.isEmpty, "\(lines[0].rtpSession.lossProtection)")
    }

    @Test func theRelaySendsByeForALeavingTalker() {
        let lines = lines(listeners: 1)
        let stations = RTPSessionRelay(family, lines)
        stations.run(seconds: 2)
        lines[0].isTalking = false
        lines[0].member.say(.leave, stations.room)
        stations.run(seconds: 1)
        let ssrc = lines[0].member.ssrc
        #expect(lines[1].events.contains { if case .sourceLeft(ssrc, reason: .some) = $0 { true } else { false } })
    }
}
