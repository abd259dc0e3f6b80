import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TestSupport
import Testing

@testable import TenfourSession

/// What is chosen against loss, and when.
struct LossProtectionTests {
    @Test(arguments: ["b5", "b10", "g10"])
    func aChoiceIsMadeWithinThreeSecondsOfLoss(network: String) throws {
        for seed in 1...5 as ClosedRange<UInt64> {
            let link = try ProtectedLink.link(network, .auto, .auto, seed: seed)
            link.run(until: seconds(3.5))
            let lossProtection = link.left.session.lossProtection
            #expect(!lossProtection.isNone, "\(network) \(seed)")
            #expect(lossProtection.retransmits || !lossProtection.copies.isEmpty, "\(lossProtection)")
        }
    }

    @Test func theFirstChoiceIsMadeTheMomentLossIsReported() throws {
        let link = try ProtectedLink.link("b10", .auto, .auto, seed: 2)
        link.run(until: seconds(1))
        #expect(!link.left.session.lossProtection.isNone, "\(link.left.session.lossProtection)")
    }

    @Test func nothingIsLeftOfItTenSecondsAfterTheLoss() throws {
        var model = NetworkModel(delay: .milliseconds(20))
        model.loss = .random(0.1)
        let lossy = ProtectedLink.link(model, .auto, .auto, seed: 3)
        lossy.run(until: seconds(20))
        #expect(!lossy.left.session.lossProtection.isNone)
        lossy.change(to: NetworkModel(delay: .milliseconds(20)))
        lossy.run(until: seconds(30))
        #expect(lossy.left.session.lossProtection == LossProtection(bitRate: 32_000))
        #expect(lossy.right.session.sources.first?.repair.retransmissionTime == FrameCount(0))
        #expect(lossy.right.session.sources.first?.repair.lookAhead == FrameCount(0))
    }

    /// Depth that is there before it is needed is not heard; the way to it is.
    @Test func theQualityProfileStartsWithALongDelayAndShortensItOnACleanLink() throws {
        var lossProtection = LossProtectionConfiguration()
        lossProtection.maximumDelay = .milliseconds(200)
        lossProtection.followsRoundTrip = true
        let link = SimulatedLink(
            left: session(
                9, RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(1)], lossProtection: lossProtection)),
            right: session(
                1, RTPSessionConfiguration(remotes: [SimulatedLink.endpoint(0)], lossProtection: lossProtection)),
            network: NetworkModel(delay: .milliseconds(10)), seed: 1)
        link.left.speech = Speech()
        link.run(until: seconds(0.06))
        #expect(link.right.session.sources.first?.repair.retransmissionTime == FrameCount(.milliseconds(200)))
        link.run(until: seconds(1))
        let retransmissionTime = try #require(link.right.session.sources.first?.repair.retransmissionTime)
        #expect(abs(retransmissionTime.rawValue - 48 * 120) < 48, "four round trips and 40 ms")
        link.run(until: seconds(6))
        #expect(link.right.session.sources.first?.repair.retransmissionTime == .zero)
    }

    @Test func aCleanLinkIsLeftAlone() {
        let link = ProtectedLink.link(NetworkModel(delay: .milliseconds(20)), .auto, .auto, seed: 3)
        link.run(until: seconds(60))
        #expect(link.left.session.lossProtection.isNone)
        for end in [link.left, link.right] {
            #expect(end.sentReports.count <= 30, "reports are as rare as by RFC 3550")
        }
        #expect(link.left.sentMedia.allSatisfy { $0.bytes.count == 92 })
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func theChoiceDoesNotFlap(seed: UInt64) throws {
        for network in ["b5", "b10", "b20", "g10"] {
            let link = try ProtectedLink.link(network, .auto, .auto, seed: seed)
            var changes = 0
            var last = link.left.session.lossProtection
            for step in 0..<600 {
                link.run(until: seconds(5 + Double(step) / 10))
                let now = link.left.session.lossProtection
                if !now.isSameScheme(as: last) { changes += 1 }
                last = now
            }
            #expect(changes <= 12, "\(network): \(changes) changes in a minute")
        }
    }

    @Test(arguments: [20_000, 24_000, 26_000, 32_000, 34_000, 50_000])
    func theChosenProtectionHasTheBestPredictedScore(bitRate: Int) throws {
        for (share, burst) in [(0.01, 1.0), (0.05, 1), (0.1, 1.1), (0.1, 3), (0.2, 1.2), (0.3, 1.4)] {
            for roundTrip in [Duration.milliseconds(20), .milliseconds(40), .milliseconds(150)] {
                let prediction = PredictedScore(
                    lossShare: share, meanBurst: burst, roundTrip: roundTrip, depth: .milliseconds(100),
                    frame: .milliseconds(20))
                let situation = LossProtectionSelector.Situation(
                    prediction: prediction, bitRate: bitRate, takesCopies: true, asks: true, hasInBandFEC: true)
                let all = LossProtectionSelector.candidates(situation)
                var choice = LossProtectionSelector(LossProtection(bitRate: bitRate))
                _ = choice.update(situation, isFresh: true, at: .start)
                let best = try #require(all.map { prediction.score(of: $0) }.max())
                #expect(
                    prediction.score(of: choice.lossProtection) >= best - 0.1,
                    "\(share) \(burst): \(choice.lossProtection)")
                #expect(choice.lossProtection.copies.allSatisfy { 20 * $0 + 10 <= 100 })
            }
        }
    }

    /// What the laboratory measured, and what the model says.
    @Test(arguments: [
        (24_000, [], false, false, 0.05, 1.05, 40, 100, 2.71), (24_000, [], false, false, 0.1, 1.1, 40, 100, 2.08),
        (12_000, [1], false, false, 0.05, 1.05, 40, 100, 3.63), (12_000, [1], false, false, 0.1, 1.1, 40, 100, 3.46),
        (16_000, [1], false, false, 0.1, 1.1, 40, 100, 3.65), (24_000, [1], false, false, 0.1, 1.1, 40, 100, 3.94),
        (24_000, [3], false, false, 0.1, 3, 40, 100, 3.27), (12_000, [2], false, false, 0.1, 3, 40, 100, 2.68),
        (24_000, [], false, true, 0.05, 1.05, 40, 100, 4.25), (24_000, [], false, true, 0.1, 1.1, 40, 100, 4.20),
        (24_000, [], false, true, 0.1, 3, 40, 100, 3.61), (24_000, [], false, true, 0.1, 1.1, 40, 200, 4.29),
        (24_000, [], false, true, 0.2, 1.25, 40, 200, 4.12), (24_000, [], false, true, 0.1, 3, 40, 200, 4.07),
        (32_000, [], true, false, 0.05, 1.05, 40, 100, 3.84), (32_000, [], true, false, 0.1, 1.1, 40, 100, 3.54),
        (16_000, [1], false, true, 0.1, 1.1, 40, 100, 3.95), (16_000, [1], false, true, 0.2, 1.25, 40, 100, 3.44),
        (32_000, [], true, true, 0.05, 1.05, 40, 100, 4.02), (32_000, [], true, true, 0.1, 1.1, 40, 100, 3.92),
        (16_000, [1, 3], false, false, 0.2, 1.25, 40, 100, 3.69),
    ])
    func theModelFollowsTheLaboratory(
        bitRate: Int, copies: [Int], fec: Bool, retransmits: Bool, share: Double, burst: Double, roundTrip: Int,
        depth: Int,
        measured: Double
    ) {
        let prediction = PredictedScore(
            lossShare: share, meanBurst: burst, roundTrip: .milliseconds(roundTrip), depth: .milliseconds(depth),
            frame: .milliseconds(20))
        let predicted = prediction.score(
            of: LossProtection(copies: copies, inBandFEC: fec, retransmits: retransmits, bitRate: bitRate))
        #expect(abs(predicted - measured) < 0.45, "\(predicted) for \(measured)")
    }

    /// The same for a receiver that conceals by deep PLC (libopus 1.5.2): copies and in-band FEC, loss, mean burst, PESQ.
    @Test(arguments: [
        (24_000, [], false, 0.05, 1.05, 3.05), (24_000, [], false, 0.1, 1.1, 2.58),
        (24_000, [], false, 0.2, 1.25, 1.92),
        (24_000, [], false, 0.1, 3, 2.50), (24_000, [], true, 0.05, 1.05, 3.92), (24_000, [], true, 0.1, 1.1, 3.54),
        (24_000, [], true, 0.2, 1.25, 2.87), (24_000, [], true, 0.1, 3, 2.82), (12_000, [1], false, 0.1, 1.1, 3.61),
        (16_000, [1], false, 0.1, 1.1, 3.76), (16_000, [1], false, 0.2, 1.25, 3.15),
        (24_000, [1], false, 0.1, 1.1, 3.93),
    ])
    func theModelFollowsTheLaboratoryWithDeepPLC(
        bitRate: Int, copies: [Int], fec: Bool, share: Double, burst: Double, measured: Double
    ) {
        let prediction = PredictedScore(
            lossShare: share, meanBurst: burst, roundTrip: nil, depth: .milliseconds(100), frame: .milliseconds(20),
            concealment: .deep)
        let predicted = prediction.score(of: LossProtection(copies: copies, inBandFEC: fec, bitRate: bitRate))
        #expect(abs(predicted - measured) < 0.45, "\(predicted) for \(measured)")
        var plain = prediction
        plain.concealment = .plain
        #expect(plain.score(of: LossProtection(copies: copies, inBandFEC: fec, bitRate: bitRate)) < predicted)
    }

    @Test func aPlainReceiverGetsInBandFECAndNothingElse() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        var sent: [SentDatagram] = []
        for number in 0..<1_000 {
            let now = seconds(Double(number) / 50)
            talker.wait(until: now)
            talker.send(number, startsTalkspurt: number == 0, at: now)
            if number % 100 == 99 { _ = talker.receive(report(SSRC(1), [lossy(0.1)]), from: bob, at: now) }
            if number % 100 == 50 { _ = talker.receive(nack([number]), from: bob, at: now) }
            sent += talker.takeDatagrams().filter { !$0.isControl }
        }
        #expect(
            talker.lossProtection.inBandFEC && talker.lossProtection.copies.isEmpty
                && !talker.lossProtection.retransmits)
        #expect(talker.lossProtection.expectedLoss == 1)
        #expect(sent.allSatisfy { $0.bytes[1] & 0x7F == 111 })
    }

    /// GStreamer and stations in a crowd report every few seconds, ffmpeg once a minute: meanwhile nothing has changed.
    @Test(arguments: [6.2, 70]) func protectionContinuesBetweenRareReports(interval: Double) {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        var (reportCount, undefendedCount) = (0, 0)
        for number in 0..<Int(interval * 50 * 5) {
            let now = seconds(Double(number) / 50)
            talker.wait(until: now)
            talker.send(number, startsTalkspurt: number == 0, at: now)
            _ = talker.takeDatagrams()
            if Double(number) / 50 >= interval * Double(reportCount + 1) {
                _ = talker.receive(report(SSRC(1), [lossy(0.1)]), from: bob, at: now)
                reportCount += 1
            }
            // How seldom it reports is known from its second report on.
            if reportCount >= (interval < 10 ? 1 : 2), talker.lossProtection.isNone { undefendedCount += 1 }
        }
        #expect(reportCount == 4)
        #expect(undefendedCount == 0)
    }

    @Test func protectionEndsForAReceiverThatLeft() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        talker.send(0, startsTalkspurt: true, at: seconds(1))
        _ = talker.receive(report(SSRC(1), [lossy(0.1)]), from: bob, at: seconds(2))
        talker.wait(until: seconds(16))
        #expect(!talker.lossProtection.isNone)
        talker.wait(until: seconds(18))
        #expect(talker.lossProtection == LossProtection(bitRate: 32_000))
    }

    @Test func protectionThatTheReceiverNoLongerTakesEndsAtOnce() {
        let prediction = PredictedScore(
            lossShare: 0.1, meanBurst: 1.1, roundTrip: nil, depth: .milliseconds(100), frame: .milliseconds(20))
        var situation = LossProtectionSelector.Situation(
            prediction: prediction, bitRate: 32_000, takesCopies: true, asks: false, hasInBandFEC: false)
        var choice = LossProtectionSelector(LossProtection(bitRate: 32_000))
        _ = choice.update(situation, isFresh: true, at: .start)
        #expect(!choice.lossProtection.copies.isEmpty)
        situation.takesCopies = false
        _ = choice.update(situation, isFresh: false, at: seconds(0.5))
        #expect(choice.lossProtection == LossProtection(bitRate: 32_000))
    }

    @Test(arguments: [(64_000, 1), (32_000, 1), (31_999, 6), (24_000, 6), (18_000, 6), (16_000, nil)] as [(Int, Int?)])
    func libopusIsToldOfNoMoreLossThanTurnsItsFECOn(bitRate: Int, percent: Int?) {
        #expect(LossProtectionSelector.leastExpectedLoss(bitRate: bitRate) == percent)
    }

    @Test func unsupportedProtectionIsNotChosen() {
        var configuration = RTPSessionConfiguration(remotes: [bob])
        configuration.lossProtection.hasInBandFEC = false
        var talker = session(9, configuration)
        _ = talker.receive(report(SSRC(1), [lossy(0.2)]), from: bob, at: seconds(1))
        #expect(talker.lossProtection.isNone)
    }

    @Test func offIsOff() throws {
        let link = try ProtectedLink.link("b20", .off, .off, seed: 1)
        link.run(until: seconds(20))
        #expect(link.left.session.lossProtection == LossProtection(bitRate: 32_000))
        #expect(link.left.sentMedia.allSatisfy { $0.bytes.count == 92 })
        #expect(link.left.sentMedia.count == 1_000)
        let words = link.left.sentControl.flatMap(\.packets).compactMap { packet -> SourceDescription? in
            if case .sourceDescription(let description) = packet { description } else { nil }
        }
        #expect(words.allSatisfy { $0.chunks.allSatisfy { $0[.privateExtension] == nil } })
    }

    @Test func qualityWaitsAsLongAsFourTriesTake() {
        var configuration = LossProtectionConfiguration()
        configuration.maximumDelay = .milliseconds(200)
        configuration.followsRoundTrip = true
        #expect(configuration.depth(roundTrip: .milliseconds(20)) == .milliseconds(120))
        #expect(configuration.depth(roundTrip: .milliseconds(40)) == .milliseconds(200))
        #expect(configuration.depth(roundTrip: .milliseconds(90)) == .milliseconds(200))
        #expect(configuration.depth(roundTrip: nil) == .milliseconds(200))
    }

    @Test func playoutLearnsTheDelayThatRecoveryNeeds() throws {
        let link = try ProtectedLink.link("b10", .nack, .nack, seed: 2)
        link.run(until: seconds(10))
        let repair = try #require(link.right.session.sources.first?.repair)
        #expect(repair.limit == FrameCount(4_800))
        #expect(
            (FrameCount(48 * 70)...FrameCount(4_800)).contains(repair.retransmissionTime),
            "\(repair.retransmissionTime)")
        let far = try ProtectedLink.link("b10", .copy, .auto, seed: 2)
        far.run(until: seconds(10))
        #expect((far.right.session.sources.first?.repair.lookAhead ?? .zero) >= FrameCount(960))
        #expect(far.right.session.sources.first?.repair.retransmissionTime == FrameCount(0))
    }

    private func lossy(_ share: Double) -> ReportBlock {
        var block = RedundancyTests.block
        block.fractionLost = UInt8(share * 256)
        return block
    }
}
