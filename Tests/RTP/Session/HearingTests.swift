import Foundation
import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Whether the talker learns who hears it, and whether the listener learns that audio is missing.
struct HearingTests {
    /// Two stations, of which the left one talks, on a link of 20 ms; and what both are told, with the time in seconds.
    private final class Pair {
        let link: SimulatedLink
        var told: [(at: Double, state: HearingState)] = []
        /// The times at which the right end was told that audio is missing (true) or is not any more.
        var missing: [(at: Double, isMissing: Bool)] = []
        /// The share of due audio that the right end's playout reports as concealed.
        var concealedShare = 0.0
        private var due = FrameCount.zero
        private var concealed = 0.0
        private var eventCounts = [0, 0]

        init(_ network: NetworkModel = NetworkModel(delay: .milliseconds(20)), seed: UInt64 = 1, byteCount: Int = 80) {
            link = ProtectedLink.link(network, .auto, .auto, seed: seed)
            link.left.speech = Speech(byteCount: byteCount)
        }

        func run(until end: Double) {
            while Double(link.now.nanoseconds) / 1e9 < end - 0.001 {
                let now = link.now + .milliseconds(50)
                link.run(until: now)
                due += FrameCount(2_400)
                concealed += 2_400 * concealedShare
                link.right.session.playout(
                    of: SSRC(9), due: due, missing: .zero, concealed: FrameCount(Int(concealed)), at: now)
                collect(at: Double(now.nanoseconds) / 1e9)
            }
        }

        private func collect(at now: Double) {
            for event in link.left.events[eventCounts[0]...] {
                if case .hearingChanged(let hearing) = event { told.append((now, hearing.state)) }
            }
            for event in link.right.events[eventCounts[1]...] {
                switch event {
                case .mediaMissing: missing.append((now, true))
                case .mediaReturned: missing.append((now, false))
                default: break
                }
            }
            eventCounts = [link.left.events.count, link.right.events.count]
        }

        /// Returns the states of which the left end is told after `time`.
        func told(after time: Double) -> [(at: Double, state: HearingState)] { told.filter { $0.at > time } }
        var hearings: [HearingState] { link.left.session.hearings(at: link.now).map(\.state) }
    }

    @Test func aTalkerThatIsHeardIsToldSoWithinASecond() {
        let pair = Pair()
        pair.run(until: 60)
        #expect(pair.told.map(\.state) == [.hears])
        #expect(pair.told.last.map { $0.at <= 1 } ?? false)
        #expect(pair.hearings == [.hears])
        #expect(pair.missing.isEmpty)
        pair.link.left.speech = nil
        pair.run(until: 70)
        #expect(pair.hearings.isEmpty, "nobody is asked while nothing is said")
        #expect(pair.missing.isEmpty, "the end of a transmission is no loss")
    }

    /// Each firewall closes after 10 s for 10 s. Who is told what, and in how many seconds at the most.
    struct Obstacle: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var passes: @Sendable (_ sender: Int, _ byteCount: Int) -> Bool
        var talkerReads: HearingState?
        var listenerIsTold: Bool
    }

    private static let obstacles = [
        Obstacle(
            testDescription: "nothing reaches the listener", passes: { sender, _ in sender != 0 },
            talkerReads: .hearsNothing, listenerIsTold: true),
        Obstacle(
            testDescription: "nothing reaches the talker", passes: { sender, _ in sender != 1 },
            talkerReads: .noAnswer, listenerIsTold: false),
        Obstacle(
            testDescription: "the link is down", passes: { _, _ in false }, talkerReads: .noAnswer,
            listenerIsTold: true),
        Obstacle(
            testDescription: "large packets are dropped", passes: { $1 < 250 }, talkerReads: .hearsNothing,
            listenerIsTold: true),
    ]

    @Test(arguments: obstacles) func bothAreToldOnceAndAgainWhenItWorks(_ obstacle: Obstacle) throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            let pair = Pair(seed: seed, byteCount: 300)
            let begin = 10 + Double(seed) * 0.13
            pair.run(until: begin)
            #expect(pair.hearings == [.hears])
            pair.link.firewall = { sender, _, count in obstacle.passes(sender, count) }
            pair.run(until: begin + 10)
            let told = pair.told(after: begin)
            #expect(told.map(\.state) == [obstacle.talkerReads].compactMap { $0 }, "seed \(seed)")
            #expect(told.allSatisfy { $0.at <= begin + 3 }, "\(told)")
            let missing = pair.missing
            #expect(missing.map(\.isMissing) == (obstacle.listenerIsTold ? [true] : []), "seed \(seed)")
            #expect(missing.allSatisfy { $0.at <= begin + 2 }, "\(missing)")
            pair.link.firewall = nil
            pair.run(until: begin + 20)
            let again = pair.told(after: begin + 10)
            #expect(again.last?.state == .hears, "seed \(seed)")
            #expect(again.allSatisfy { $0.at <= begin + 12 }, "\(again)")
            #expect(pair.missing.count == (obstacle.listenerIsTold ? 2 : 0), "seed \(seed)")
            #expect(pair.missing.last.map { $0.at <= begin + 12 } ?? true)
            let outage = pair.link.right.session.participants(at: pair.link.now).map(\.outage).max() ?? .zero
            #expect(abs(outage / .seconds(1) - (obstacle.listenerIsTold ? 10 : 0)) < 0.5, "seed \(seed): \(outage)")
        }
    }

    /// A firewall that drops the media alone was there before: reports of both arrive, and no packet ever did.
    @Test func audioThatNeverArrivedIsMissing() throws {
        let pair = Pair(byteCount: 300)
        pair.link.left.speech = nil
        pair.link.firewall = { $2 < 250 && $0 + $1 == 1 }
        pair.run(until: 10)
        pair.link.left.speech = Speech(byteCount: 300, beginning: pair.link.now)
        pair.run(until: 13)
        #expect(pair.hearings == [.hearsNothing])
        #expect(pair.missing.map(\.isMissing) == [true])
        pair.link.firewall = nil
        pair.run(until: 16)
        #expect(pair.hearings == [.hears])
        #expect(pair.missing.map(\.isMissing) == [true, false])
    }

    /// A stopped program reads after it what has waited: nothing was missing.
    @Test func aProgramThatStoodStillAccusesNobody() {
        var listener = session(1, RTPSessionConfiguration(remotes: [bob]))
        var status = StationStatus()
        status.isTransmitting = true
        let stated = ApplicationPacket(ssrc: SSRC(9), name: StationStatus.packetName, data: status.data)
        let report = report(SSRC(9)) + [UInt8](capacity: 64) { stated.write(into: &$0) }
        func receive(_ number: Int, at now: Instant) {
            _ = listener.receive(media(SSRC(9), number), from: bob, at: now)
            if number % 50 == 0 { _ = listener.receive(report, from: bob, at: now) }
        }
        for number in 0..<500 {
            receive(number, at: seconds(Double(number) / 50))
            listener.wait(until: seconds(Double(number) / 50))
        }
        // It stands still for 7 s. Its timers run before it reads the socket.
        let now = seconds(17)
        listener.timeElapsed(at: now)
        for number in 500..<850 { receive(number, at: now) }
        for number in 850..<1_000 {
            receive(number, at: seconds(Double(number) / 50))
            listener.wait(until: seconds(Double(number) / 50))
        }
        let events = listener.takeEvents()
        #expect(!events.contains { if case .mediaMissing = $0 { true } else { false } }, "\(events)")
        #expect(listener.participants(at: seconds(20)).map(\.outage) == [.zero])
    }

    @Test func aListenerThatDoesNotPlayIsNoListener() {
        let outputs: [(StationStatus.Output, HearingState)] = [(.muted, .muted), (.none, .noOutput)]
        for (output, state) in outputs {
            let pair = Pair()
            pair.run(until: 5)
            pair.link.right.session.setOutput(output, at: pair.link.now)
            pair.run(until: 6)
            #expect(pair.hearings == [state])
            pair.link.right.session.setOutput(.playing, at: pair.link.now)
            pair.run(until: 7)
            #expect(pair.hearings == [.hears])
            #expect(pair.told(after: 5).map(\.state) == [state, .hears])
        }
    }

    @Test func audioThatIsLateIsNotHeard() {
        let pair = Pair()
        pair.run(until: 5)
        pair.concealedShare = 1
        pair.run(until: 8)
        #expect(pair.hearings == [.playsNothing])
        pair.concealedShare = 0.3
        pair.run(until: 12)
        guard case .hearsBadly(let share)? = pair.hearings.first else { return #expect(Bool(false)) }
        #expect(abs(share - 0.3) < 0.02)
        pair.concealedShare = 0
        pair.run(until: 15)
        #expect(pair.hearings == [.hears])
    }

    /// A share of the first few hundred milliseconds exaggerates: 100 ms are a fifth of them.
    @Test func theBeginningSaysLittleAboutWhatIsMissing() {
        let pair = Pair()
        pair.concealedShare = 1
        pair.run(until: 0.1)
        pair.concealedShare = 0
        pair.run(until: 5)
        #expect(pair.told.map(\.state) == [.hears], "\(pair.told)")
    }

    /// The audio that a gap has cost is counted when the next packets arrive, and says nothing about the time after it.
    @Test func aGapThatIsOverIsForgotten() {
        let pair = Pair()
        pair.run(until: 5)
        pair.link.firewall = { sender, _, _ in sender != 0 }
        pair.run(until: 10)
        pair.link.firewall = nil
        pair.concealedShare = 1
        pair.run(until: 10.4)
        pair.concealedShare = 0
        pair.run(until: 15)
        #expect(pair.told(after: 10).map(\.state) == [.hears])
    }

    @Test func aPartnerThatLeavesIsNoPartner() {
        let pair = Pair()
        pair.run(until: 5)
        pair.link.leave(1)
        pair.run(until: 5.1)
        pair.link.firewall = { sender, _, _ in sender != 1 }
        pair.run(until: 20)
        #expect(pair.told.map(\.state) == [.hears])
        #expect(pair.hearings == [.cannotKnow])
    }

    /// Requests for lost packets come with empty reports, which say nothing about the output.
    @Test func aMutedPartnerStaysMutedWhilePacketsAreLost() {
        let pair = Pair(NetworkModel(loss: .random(0.1), delay: .milliseconds(20)))
        pair.run(until: 5)
        pair.link.right.session.setOutput(.muted, at: pair.link.now)
        pair.run(until: 30)
        #expect(pair.told(after: 5).map(\.state) == [.muted])
    }

    /// Discontinuous transmission: a packet each 600 ms, and one 20 ms after it.
    @Test(arguments: [0, 0.05]) func silenceThatIsSentSeldomIsOneTransmission(loss: Double) {
        let pair = Pair(NetworkModel(loss: .random(loss), delay: .milliseconds(20)), seed: 3)
        pair.link.left.speech = Speech(isSpoken: { $0 < 100 || $0 % 30 < 2 })
        pair.run(until: 120)
        #expect(pair.told.map(\.state) == [.hears])
        #expect(pair.missing.isEmpty)
        #expect(pair.hearings == [.hears])
        pair.link.firewall = { sender, _, _ in sender != 0 }
        pair.run(until: 125)
        #expect(pair.hearings == [.hearsNothing])
    }

    /// The partner was silent as well, and its last report has no effect on the next transmission.
    @Test func nobodyIsBlamedForOurOwnSilence() {
        for wait in stride(from: 1.5, to: 12, by: 0.5) {
            let pair = Pair()
            pair.run(until: 3)
            pair.link.left.speech = nil
            // The reports in which the partner promises no more are lost.
            pair.link.firewall = { sender, _, _ in sender != 1 }
            pair.run(until: 3 + wait)
            pair.link.firewall = nil
            pair.link.left.speech = Speech(
                beginning: pair.link.now, firstPosition: FrameCount(Int(48_000 * (3 + wait))))
            pair.run(until: 6 + wait)
            #expect(pair.told.map(\.state) == [.hears], "\(wait) s")
            #expect(pair.hearings == [.hears])
        }
    }

    /// A program that sends under one SSRC and reports under another, and a second station at the same address.
    @Test func reportsWithoutBlocksFromOthersAreNoAlarm() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        for number in 0..<1_500 {
            let now = seconds(Double(number) / 50)
            talker.send(number, at: now)
            talker.wait(until: now)
            guard number % 100 == 50 else { continue }
            _ = talker.receive(report(SSRC(1)), from: bob, at: now)
            _ = talker.receive(report(SSRC(2)), from: Endpoint(bob.address, port: 7_000), at: now)
        }
        let told = talker.takeEvents().compactMap { event -> HearingState? in
            if case .hearingChanged(let hearing) = event { hearing.state } else { nil }
        }
        #expect(Set(told) == [.cannotKnow], "\(told)")
    }

    /// Audio that was missing while there was no output says nothing about the time after it.
    @Test func anOutputThatReturnsPlaysAtOnce() {
        let pair = Pair()
        pair.run(until: 10)
        pair.link.right.session.setOutput(.none, at: pair.link.now)
        pair.concealedShare = 1
        pair.run(until: 16)
        pair.link.right.session.setOutput(.playing, at: pair.link.now)
        pair.concealedShare = 0
        pair.run(until: 25)
        #expect(pair.told.map(\.state) == [.hears, .noOutput, .hears], "\(pair.told)")
        #expect(pair.told.last?.at ?? 25 <= 17.2, "\(pair.told)")
    }

    /// Loss, jitter, discontinuous transmission, pauses of all lengths: nobody is told that nothing arrives. `Tools/test --long`
    /// lets each pair talk for an hour.
    @Test(.timeLimit(.minutes(20)), arguments: [0, 0.05, 0.2], 1...4 as ClosedRange<UInt64>)
    func noAlarmIsFalse(loss: Double, seed: UInt64) {
        let duration = ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? 300 : 3_600
        var random = SeededRandom(seed: seed)
        let pair = Pair(
            NetworkModel(
                loss: .random(loss), delay: .milliseconds(20), jitter: .uniform(.zero ... .milliseconds(60))),
            seed: seed)
        var spoken: [Bool] = []
        while spoken.count < 50 * duration {
            spoken += [Bool](repeating: true, count: Int.random(in: 20...400, using: &random))
            spoken += [Bool](repeating: false, count: [5, 19, 40, 75, 150, 400].randomElement(using: &random) ?? 0)
        }
        let talks = spoken
        pair.link.left.speech = Speech(isSpoken: { $0 < talks.count && talks[$0] })
        // With an even seed the other end only listens.
        if !seed.isMultiple(of: 2) { pair.link.right.speech = Speech(isSpoken: { $0 < talks.count && !talks[$0] }) }
        pair.run(until: Double(duration))
        let alarms: Set<HearingState> = [.hearsNothing, .noAnswer, .playsNothing]
        let told = pair.told.filter { alarms.contains($0.state) }
        #expect(told.isEmpty, "\(told)")
        #expect(pair.missing.isEmpty, "\(pair.missing)")
    }

    @Test func nothingIsKnownOfAPartnerWithoutReports() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        for number in 0..<500 {
            talker.send(number, at: seconds(Double(number) / 50))
            talker.wait(until: seconds(Double(number) / 50))
        }
        #expect(talker.hearings(at: seconds(3)).map(\.state) == [.notYetKnown])
        #expect(talker.hearings(at: seconds(10)).map(\.state) == [.cannotKnow])
        #expect(talker.hearings(at: seconds(10)).map(\.endpoint) == [bob])
    }

    /// A partner that states nothing beyond RFC 3550 and reports every five seconds.
    @Test func thePlainReportsOfOthersSayWhoHears() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        var states: [HearingState] = []
        for number in 0..<3_000 {
            let now = seconds(Double(number) / 50)
            talker.send(number, at: now)
            talker.wait(until: now)
            guard number % 250 == 249, number < 2_000 else { continue }
            // From 20 s on nothing arrives at the partner.
            let highest = UInt32(min(number, 1_000))
            let block = ReportBlock(
                ssrc: SSRC(9), fractionLost: 0, cumulativeLost: 0, extendedHighestSequenceNumber: highest,
                jitter: .zero,
                lastSenderReport: nil, delaySinceLastSenderReport: .zero)
            _ = talker.receive(report(SSRC(1), [block]), from: bob, at: now)
        }
        for case .hearingChanged(let hearing) in talker.takeEvents() { states.append(hearing.state) }
        #expect(states == [.hears, .hearsNothing, .noAnswer])
    }

    /// Beside its media, the reports of all stations on one path.
    @Test(arguments: [2, 3, 9, 20]) func reportsTakeAtMostFivePercent(memberCount: Int) {
        let ends = (0..<memberCount).map { index in
            let others = (0..<memberCount).filter { $0 != index }.map(SimulatedLink.endpoint)
            return LinkEnd(session(UInt32(index + 1), RTPSessionConfiguration(remotes: others)), number: index)
        }
        let link = SimulatedLink(ends, network: NetworkModel(delay: .milliseconds(20)))
        link.left.speech = Speech()
        link.run(until: seconds(120))
        func byteCount(_ from: Int, _ to: Int, _ datagrams: [SentDatagram]) -> Int {
            datagrams.filter { $0.endpoint == SimulatedLink.endpoint(to) }.reduce(0) { $0 + $1.bytes.count + 28 }
        }
        for listener in 1..<memberCount {
            let media = byteCount(0, listener, link.left.sentMedia)
            let reports =
                byteCount(0, listener, link.left.sentControl) + byteCount(listener, 0, ends[listener].sentControl)
            #expect(Double(reports) <= 0.05 * Double(media), "\(reports) of \(media)")
        }
        #expect(link.left.session.hearings(at: link.now).count { $0.state == .hears } == memberCount - 1)
    }
}
