import TenfourAudioCore
import TenfourChannelKeys
import Testing

@testable import TenfourDirectWay

/// Two to four members over a simulated network, with a relay.
struct DirectSimulationTests {
    private static let annasRouter: UInt32 = 0xCB00_7109
    private static let bobsRouter: UInt32 = 0x5DB8_D822
    private let annasHost = PeerAddress(v4: 0xC0A8_0114, port: 5004)
    private let bobsHost = PeerAddress(v4: 0x0A00_0007, port: 5004)

    private func pair(seed: UInt64 = 1) -> SimulatedMeeting {
        var meeting = SimulatedMeeting(seed: seed)
        meeting.add(1, at: annasHost, behind: Self.annasRouter)
        meeting.add(2, at: bobsHost, behind: Self.bobsRouter)
        return meeting
    }

    @Test(arguments: 1...5) func membersBehindTwoRoutersAreDirectWithinTwoSeconds(seed: UInt64) {
        var meeting = pair(seed: seed)
        meeting.stations[1]?.isTalking = true
        let proved = meeting.run(within: .seconds(2)) { $0.route(1, to: 2) != .relay && $0.route(2, to: 1) != .relay }
        #expect(proved)
        #expect(meeting.route(1, to: 2) == .relayAndDirect(PeerAddress(v4: Self.bobsRouter, port: 5004)))
        meeting.run(.seconds(10))
        #expect(meeting.isDirect(1, to: 2) && meeting.isDirect(2, to: 1))
        #expect(meeting.stations[1]?.limited == [2])
        #expect(meeting.stations[1]?.way?.mediaRoute.usesRelay == false)
        #expect(meeting.missing(at: 2, from: 1) == [])
        #expect(meeting.stations[2]?.duplicateCount ?? 0 > 90, "both ways are used for two seconds")
        #expect(meeting.stations[2]?.played[1]?.last?.isDirect == true)
    }

    @Test func aSymmetricRouterLeavesThemWithTheRelay() {
        var meeting = pair()
        meeting.network.routers[Self.bobsRouter]?.isSymmetric = true
        meeting.stations[1]?.isTalking = true
        meeting.run(.seconds(30))
        #expect(meeting.route(1, to: 2) == .relay && meeting.route(2, to: 1) == .relay)
        #expect(meeting.missing(at: 2, from: 1) == [] && meeting.longestPause(at: 2, from: 1) < .milliseconds(50))
        #expect(meeting.stations[2]?.duplicateCount == 0)
        #expect(meeting.probes(from: 1).count { !$0.probe.isEcho } <= ProbeBudget.maximumProbeCount)
    }

    @Test func membersBehindOneRouterUseTheirNetwork() {
        var meeting = SimulatedMeeting()
        let second = PeerAddress(v4: 0xC0A8_0115, port: 5004)
        meeting.add(1, at: annasHost, behind: Self.annasRouter)
        meeting.add(2, at: second, behind: Self.annasRouter)
        meeting.run(.seconds(5))
        #expect(meeting.route(1, to: 2) == .direct(second))
        #expect(meeting.route(2, to: 1) == .direct(annasHost), "\(meeting.stations[1]?.way?.discards ?? [:])")
    }

    /// Nothing is sent to private addresses elsewhere: they may be those of other hosts in the sender's own network.
    @Test func privateCandidatesElsewhereAreNotProbed() {
        var meeting = pair()
        meeting.run(.seconds(5))
        let destinations = Set(meeting.network.sent.map(\.destination))
        #expect(!destinations.contains(annasHost) && !destinations.contains(bobsHost))
        #expect(meeting.stations[1]?.way?.discards[.candidateElsewhere] ?? 0 > 0)
    }

    @Test func fourMembersAreDirectAndAFifthEndsIt() {
        var meeting = SimulatedMeeting()
        for index: UInt16 in 1...4 {
            let router = 0x0B00_0000 + UInt32(index)
            meeting.add(index, at: PeerAddress(v4: 0xC0A8_0100 + UInt32(index), port: 5004), behind: router)
        }
        meeting.stations[1]?.isTalking = true
        meeting.run(.seconds(8))
        for first: UInt16 in 1...4 {
            for second: UInt16 in 1...4 where first != second {
                #expect(meeting.isDirect(first, to: second), "\(first) to \(second)")
            }
        }
        let known = meeting.stations[1]?.next ?? 0
        meeting.strangersPresent = 1
        meeting.tellMembers()
        meeting.run(.milliseconds(100))
        #expect(meeting.stations[1]?.way?.mediaRoute.usesRelay == true)
        #expect(meeting.stations[1]?.way?.mediaRoute.addresses.isEmpty == true)
        meeting.run(.seconds(2))
        #expect(meeting.missing(at: 3, from: 1) == [])
        #expect(meeting.longestPause(at: 3, from: 1, since: known) < .milliseconds(150))
        meeting.strangersPresent = 0
        meeting.tellMembers()
        meeting.run(.seconds(8))
        #expect(meeting.isDirect(1, to: 4) && meeting.isDirect(4, to: 1))
    }

    @Test func oneWhoDoesNotAllowItKeepsAllAtTheRelay() {
        var meeting = pair()
        meeting.add(3, at: PeerAddress(v4: 0xC633_6409, port: 5004), usesDirect: false)
        meeting.run(.seconds(5))
        #expect(meeting.route(1, to: 2) == .relay && meeting.probes(from: 1).isEmpty)
    }

    @Test func aWithdrawalEndsItAtOnce() {
        var meeting = pair()
        meeting.stations[1]?.isTalking = true
        meeting.run(.seconds(6))
        #expect(meeting.isDirect(1, to: 2))
        let sent = meeting.stations[1]?.next ?? 0
        let now = meeting.now
        meeting.stations[2]?.way?.withdraw(at: now)
        meeting.run(.milliseconds(200))
        #expect(meeting.route(1, to: 2) == .relay && meeting.route(2, to: 1) == .relay)
        meeting.run(.seconds(3))
        #expect(meeting.missing(at: 2, from: 1) == [])
        #expect(meeting.longestPause(at: 2, from: 1, since: sent) < .milliseconds(200))
        let later = meeting.probes(from: 1).count
        meeting.run(.seconds(30))
        #expect(meeting.probes(from: 1).count == later)
    }

    /// A router forgets its mappings while a member behind it talks, or listens.
    @Test(arguments: [UInt16(1), 2]) func aChangedMappingIsFollowed(talker: UInt16) {
        var meeting = pair()
        meeting.stations[talker]?.isTalking = true
        meeting.run(.seconds(6))
        let before = meeting.stations[talker]?.next ?? 0
        meeting.network.rebind(Self.annasRouter)
        meeting.run(.seconds(8))
        let listener = 3 - talker
        #expect(meeting.longestPause(at: listener, from: talker, since: before - 5) < .milliseconds(1200))
        // Bob's router lets nothing in from the new port, so that the relay must do until the new view is known.
        meeting.updateView(1)
        let isDirect = meeting.run(within: .seconds(15)) { $0.isDirect(1, to: 2) && $0.isDirect(2, to: 1) }
        #expect(isDirect)
        let lost = meeting.missing(at: listener, from: talker)
        #expect(lost.count <= 60 && meeting.isDirect(talker, to: listener))
        let played = (meeting.stations[listener]?.played[talker] ?? []).map(\.number)
        #expect(Set(played).count == played.count)
    }

    /// Bob has a public address: he sees the new mapping, and follows at once.
    @Test func aMemberWithoutARouterFollowsByTheProbe() {
        var meeting = SimulatedMeeting()
        meeting.add(1, at: annasHost, behind: Self.annasRouter)
        meeting.add(2, at: PeerAddress(v4: 0x5DB8_D822, port: 5004))
        meeting.stations[1]?.isTalking = true
        meeting.run(.seconds(6))
        let old = meeting.route(2, to: 1)
        meeting.network.rebind(Self.annasRouter)
        let moved = meeting.run(within: .seconds(1)) { $0.route(2, to: 1) != old && $0.route(2, to: 1) != .relay }
        #expect(moved && meeting.isDirect(1, to: 2), "\(old) \(meeting.route(2, to: 1)) \(meeting.route(1, to: 2))")
        meeting.run(.seconds(3))
        #expect(meeting.missing(at: 2, from: 1).count <= 16)
        #expect(meeting.longestPause(at: 2, from: 1) < .milliseconds(400))
    }

    @Test func theRelayTakesOverAfterASecondOfSilence() {
        var meeting = pair()
        meeting.stations[1]?.isTalking = true
        meeting.run(.seconds(6))
        let sent = meeting.stations[1]?.next ?? 0
        meeting.network.broken = [[annasHost, bobsHost]]
        let isOver = meeting.run(within: .milliseconds(1100)) { $0.route(1, to: 2) == .relay }
        #expect(isOver)
        meeting.run(.seconds(5))
        #expect(meeting.longestPause(at: 2, from: 1, since: sent - 5) < .milliseconds(1250))
        #expect(meeting.stations[1]?.limited == [])
        meeting.network.broken = []
        let isBack = meeting.run(within: .seconds(60)) { $0.isDirect(1, to: 2) && $0.isDirect(2, to: 1) }
        #expect(isBack)
    }

    /// In silence there is a probe each 4…6 s, and a path without consent is given up after 15 s.
    @Test func inSilenceConsentIsAsked() {
        var meeting = pair()
        meeting.run(.seconds(10))
        let before = meeting.probes(from: 1).count { !$0.probe.isEcho }
        meeting.run(.seconds(100))
        let count = meeting.probes(from: 1).count { !$0.probe.isEcho } - before
        #expect((16...26).contains(count), "\(count) probes in 100 s")
        #expect(meeting.isDirect(1, to: 2))
        meeting.network.broken = [[annasHost, bobsHost]]
        meeting.run(.seconds(9))
        #expect(meeting.isDirect(1, to: 2))
        let isOver = meeting.run(within: .seconds(7)) { $0.route(1, to: 2) == .relay }
        #expect(isOver)
    }

    @Test(arguments: 1...4) func aLossyNetworkIsUsedAndNothingIsPlayedTwice(seed: UInt64) {
        var meeting = pair(seed: seed)
        meeting.network.loss = 0.1
        meeting.stations[1]?.isTalking = true
        meeting.stations[2]?.isTalking = true
        meeting.run(.seconds(40))
        for (listener, talker): (UInt16, UInt16) in [(2, 1), (1, 2)] {
            let played = (meeting.stations[listener]?.played[talker] ?? []).map(\.number)
            #expect(Set(played).count == played.count)
            let share = Double(meeting.missing(at: listener, from: talker).count) / Double(played.count)
            #expect(share < 0.15, "\(share) of the packets")
            #expect(meeting.longestPause(at: listener, from: talker) < .milliseconds(1200))
        }
        #expect(meeting.stations[1]?.routes.isEmpty == false)
    }

    @Test func aMemberThatStartsAnewIsDirectAgain() {
        var meeting = pair()
        meeting.stations[1]?.isTalking = true
        meeting.run(.seconds(6))
        let sent = meeting.stations[1]?.next ?? 0
        meeting.start(2)
        let isDirect = meeting.run(within: .seconds(8)) { $0.isDirect(1, to: 2) && $0.isDirect(2, to: 1) }
        #expect(isDirect)
        meeting.run(.seconds(1))
        #expect(meeting.longestPause(at: 2, from: 1, since: sent) < .milliseconds(1250))
    }

    @Test func anUnreachableAddressIsLeftAtOnce() {
        var meeting = pair()
        meeting.run(.seconds(6))
        let now = meeting.now
        meeting.stations[1]?.way?.unreachable(PeerAddress(v4: Self.bobsRouter, port: 5004), at: now)
        #expect(meeting.route(1, to: 2) == .relay)
    }
}
