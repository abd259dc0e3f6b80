import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets
import TestSupport
import Testing

@testable import TenfourSession

/// Asking for lost packets, and sending them again.
struct RetransmissionTests {
    @Test(arguments: [("b5", 0.004), ("b10", 0.015), ("g10", 0.045)])
    func retransmissionsArriveInTime(network: String, limit: Double) throws {
        var missed = 0.0
        for seed in 1...5 as ClosedRange<UInt64> {
            let link = try ProtectedLink.link(network, .nack, .nack, seed: seed)
            link.run(until: seconds(60))
            missed += 1 - ProtectedLink.shareInTime(link, within: .milliseconds(100))
            let retransmission = link.left.session.sendStream.retransmission
            let source = try #require(link.right.session.sources.first)
            #expect(retransmission.retransmittedCount > 0)
            #expect(source.recovery.retransmittedCount > source.recovery.requestedCount * 6 / 10)
            let roundTrip = try #require(source.roundTrip)
            #expect((.milliseconds(35) ... .milliseconds(45)).contains(roundTrip), "\(roundTrip)")
        }
        #expect(missed / 5 < limit, "\(missed / 5)")
    }

    @Test func aLongerDelayAllowsMoreRetransmissions() throws {
        var configuration = LossProtectionConfiguration()
        configuration.mode = .nack
        configuration.maximumDelay = .milliseconds(200)
        let link = try ProtectedLink.link("b20", configuration, configuration, seed: 3)
        link.run(until: seconds(60))
        #expect(1 - ProtectedLink.shareInTime(link, within: .milliseconds(200)) < 0.02)
    }

    /// The second comes when a question was asked twice; its delay tells of the questions, not of the network.
    @Test func theSecondOfTwoAnswersIsNoOriginal() throws {
        var listener = session(1, RTPSessionConfiguration(remotes: [alice]))
        var origins: [PacketOrigin?] = []
        for (number, at) in [(0, 0), (1, 20), (1, 70), (2, 90)] {
            let reception = listener.receive(media(SSRC(9), number), from: alice, at: seconds(Double(at) / 1_000))
            if case .media(let packet) = reception { origins.append(packet.origin) }
        }
        #expect(origins == [.original, .original, .retransmitted, .original])
    }

    /// Beyond that, questions are thrown away, and there are not many to have.
    @Test func nacksAreRepeatedNoSoonerThanARoundTrip() throws {
        let link = ProtectedLink.link(try NetworkModel(parsing: "b10 delay=0.1ms"), .nack, .nack, seed: 3)
        link.run(until: seconds(30))
        let retransmission = link.left.session.sendStream.retransmission
        #expect(retransmission.retransmittedCount > 50)
        #expect(retransmission.refusedCount < 5, "\(retransmission)")
    }

    @Test func retransmissionsStayWithin15Percent() throws {
        for network in ["b10", "b30", "g20"] {
            let link = try ProtectedLink.link(network, .nack, .nack, seed: 2)
            link.left.speech?.byteCount = 80
            link.run(until: seconds(60))
            let bytes = link.left.sentMedia.map { $0.bytes.count - 12 }.reduce(0, +)
            // The minute's, and what half a second saves up for.
            let limit = 4_000 * 60.5 * 1.15
            #expect(Double(bytes) <= limit)
            let sendStream = link.left.session.sendStream
            #expect(sendStream.byteCount + sendStream.retransmission.byteCount == bytes)
        }
    }

    @Test func theOriginalDatagramIsSentAgainToTheByte() throws {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        talker.send(0, startsTalkspurt: true, at: .start)
        talker.send(1, at: seconds(0.02))
        let sent = talker.takeDatagrams()
        talker.send(2, at: seconds(0.04))
        _ = talker.takeDatagrams()
        _ = talker.receive(nack([1]), from: bob, at: seconds(0.06))
        #expect(talker.takeDatagrams().map(\.bytes) == [sent.last?.bytes])
        #expect(talker.sendStream.packetCount == 3)
        #expect(talker.sendStream.retransmission.retransmittedCount == 1)
    }

    @Test func eachPacketIsSentAgainOnceInARoundTripAndEightTimesAtTheMost() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        talker.send(0, startsTalkspurt: true, at: .start)
        _ = talker.takeDatagrams()
        var times: [Instant] = []
        for step in 0..<1_000 {
            let now = seconds(Double(step) / 1_000)
            _ = talker.receive(nack([0]), from: bob, at: now)
            times += talker.takeDatagrams().map { _ in now }
        }
        #expect(times.count <= 8)
        #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 >= .milliseconds(10) })
    }

    @Test func theSameRemoteIsNotAnsweredAgainBeforeTheAnswerCanHaveCome() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        talker.send(0, startsTalkspurt: true, at: seconds(0.3))
        var block = RedundancyTests.block
        block.lastSenderReport = Identity(ssrc: SSRC(9)).wallClock(at: seconds(0.1)).short
        _ = talker.receive(report(SSRC(1), [block]), from: bob, at: seconds(0.3))
        _ = talker.takeDatagrams()
        var times: [Instant] = []
        for step in 300..<1_300 {
            let now = seconds(Double(step) / 1_000)
            _ = talker.receive(nack([0]), from: bob, at: now)
            times += talker.takeDatagrams().filter { !$0.isControl }.map { _ in now }
        }
        #expect(times.count > 4)
        #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 >= .milliseconds(159) }, "0.8 of 200 ms")
    }

    @Test func nobodyButARemoteIsAnswered() {
        var talker = session(9, RTPSessionConfiguration(remotes: [bob]))
        talker.send(0, startsTalkspurt: true, at: .start)
        _ = talker.takeDatagrams()
        _ = talker.receive(nack([0]), from: carol, at: seconds(0.01))
        #expect(talker.takeDatagrams().isEmpty)
        #expect(talker.sendStream.retransmission.refusedCount == 1)
    }

    @Test func aSourceThatDoesNotSayItAnswersIsNotAsked() throws {
        let link = try ProtectedLink.link("b10", .off, .auto, seed: 1)
        link.run(until: seconds(20))
        #expect(ProtectedLink.questions(of: link.right).isEmpty)
        let silent = try ProtectedLink.link("b10", .auto, .off, seed: 1)
        silent.run(until: seconds(20))
        #expect(ProtectedLink.questions(of: silent.right).isEmpty)
    }

    @Test func aSessionDescriptionSaysItAsWell() {
        var configuration = RTPSessionConfiguration()
        configuration.lossProtection.sourcesSupportNACK = true
        var listener = session(1, configuration)
        for number in [0, 1, 3] {
            _ = listener.receive(media(SSRC(9), number), from: alice, at: seconds(Double(number) / 50))
        }
        let asked = listener.takeDatagrams().flatMap(\.packets).compactMap(\.nack)
        #expect(asked == [GenericNACK(sender: SSRC(1), media: SSRC(9), sequenceNumbers: [SequenceNumber(rawValue: 1)])])
    }

    @Test func aGroupIsNotAsked() {
        var configuration = RTPSessionConfiguration(hearsGroup: true)
        configuration.lossProtection.sourcesSupportNACK = true
        var listener = session(1, configuration)
        for number in 0..<500 where number % 7 != 0 {
            _ = listener.receive(media(SSRC(9), number), from: alice, at: seconds(Double(number) / 50))
        }
        #expect(listener.takeDatagrams().flatMap(\.packets).compactMap(\.nack).isEmpty)

        var talker = session(9, RTPSessionConfiguration(remotes: [Endpoint(.v4(0xEF00_0101), port: 5_004)]))
        for number in 0..<10 { talker.send(number, at: seconds(Double(number) / 50)) }
        _ = talker.takeDatagrams()
        _ = talker.receive(nack([3]), from: Endpoint(.v4(0xEF00_0101), port: 5_004), at: seconds(0.2))
        #expect(talker.takeDatagrams().isEmpty)
    }

    @Test func overtakenPacketsAreWaitedForOnceThatHasBeenSeen() throws {
        let network = NetworkModel(
            delay: .milliseconds(20), reordering: Reordering(share: 0.1, heldBack: .milliseconds(25)))
        let link = ProtectedLink.link(network, .nack, .nack, seed: 4)
        link.run(until: seconds(60))
        let late = ProtectedLink.questions(of: link.right).filter { $0.at > seconds(5) }
        #expect(late.count <= 5, "\(late.count)")
        #expect(link.left.session.sendStream.retransmission.retransmittedCount <= 20)
    }

    @Test func theLastPacketOfATalkspurtIsAskedFor() throws {
        let link = try ProtectedLink.link("b10", .nack, .nack, seed: 1)
        link.run(until: seconds(10))
        // From here on nothing comes any more.
        link.right.session.playoutDelay(of: SSRC(9), is: .milliseconds(100))
        link.right.session.wait(until: link.now + .milliseconds(150))
        let highest = try #require(link.right.heardNumbers.max())
        let asked = link.right.session.takeDatagrams().flatMap(\.packets).compactMap(\.nack).filter {
            $0.sequenceNumbers.contains(SequenceNumber(rawValue: UInt16(highest + 1)))
        }
        #expect((1...2).contains(asked.count), "\(asked.count)")
    }

    /// As with GStreamer, which answers and whose reports tell of no round trip.
    @Test(arguments: [(400, 20), (80, 20), (20, 80)])
    func aRoundTripThatOnlyAnswersTellOfIsLearnedAgain(first: Int, then: Int) throws {
        var configuration = RTPSessionConfiguration()
        configuration.lossProtection.sourcesSupportNACK = true
        var listener = session(1, configuration)
        var answers: [(at: Instant, number: Int)] = []
        for step in 0..<60_000 {
            let now = seconds(Double(step) / 1_000)
            listener.wait(until: now)
            while let answer = answers.first, answer.at <= now {
                answers.removeFirst()
                _ = listener.receive(media(SSRC(9), answer.number), from: alice, at: now)
            }
            let number = step / 20
            if step % 20 == 0, number % 13 != 7 { _ = listener.receive(media(SSRC(9), number), from: alice, at: now) }
            for asked in listener.takeDatagrams().flatMap(\.packets).compactMap(\.nack).flatMap(\.sequenceNumbers) {
                // The stream's first number is 65 535.
                let answer = Int(asked.advanced(by: 1).rawValue)
                guard answer % 13 == 7 else { continue }
                answers.append((now + .milliseconds(step < 10_000 ? first : then), answer))
            }
        }
        let source = try #require(listener.sources.first)
        let roundTrip = try #require(source.roundTrip)
        #expect(abs(roundTrip / .milliseconds(1) - Double(then)) < 5, "\(roundTrip)")
        #expect(source.recovery.retransmittedCount > 60, "\(source.recovery)")
    }

    /// What was asked for on suspicion and then turned out to be missing counts as asked for.
    @Test func noMoreIsAnsweredThanWasAskedFor() throws {
        let network = NetworkModel(loss: .random(0.1), delay: .milliseconds(5))
        let link = ProtectedLink.link(network, .nack, .nack, seed: 3)
        link.run(until: seconds(30))
        let recovery = try #require(link.right.session.sources.first?.recovery)
        #expect(recovery.retransmittedCount > 80)
        #expect(recovery.requestedCount >= recovery.retransmittedCount, "\(recovery)")
        #expect(recovery.retransmittedCount * 10 >= recovery.requestedCount * 7, "\(recovery)")
    }

    @Test func theFirstPacketAfterAPauseIsAskedForThoughItWasSuspectedBefore() {
        for startsTalkspurt in [false, true] {
            var missing = NACKList()
            let depth = Duration.milliseconds(100)
            var roundTrip = RoundTrip()
            roundTrip.reported(.milliseconds(20), at: .start)
            missing.arrived(ahead: 0, as: SequenceNumber(rawValue: 7), isRetransmission: false, at: .start) { _ in
                .start
            }
            missing.suspectTail(place: seconds(0.02), at: seconds(0.03))
            let suspected = missing.ask(depth: depth, roundTrip: roundTrip, limit: 9, at: seconds(0.03))
            #expect(suspected == [SequenceNumber(rawValue: 8)])
            // Half a second later the talker goes on. The first packet is lost; or else it was the last one before that.
            missing.arrived(
                ahead: 1, as: SequenceNumber(rawValue: 9), isRetransmission: false, startsTalkspurt: startsTalkspurt,
                at: seconds(0.54)
            ) { seconds(0.54) - .milliseconds(20) * $0 }
            missing.review(depth: depth, at: seconds(0.54))
            let asked = missing.ask(depth: depth, roundTrip: roundTrip, limit: 9, at: seconds(0.54))
            #expect(asked == (startsTalkspurt ? [] : [SequenceNumber(rawValue: 8)]))
        }
    }

    /// Stalls make the round trip long on average; between them an answer comes as soon as ever.
    @Test func onAnUnevenNetworkTheFastestRoundTripTellsWhatIsAnAnswerAndWhatIsWorthAsking() throws {
        let network = try NetworkModel(
            parsing: "loss=3% burst=3 delay=14ms jitter=exponential:8ms order=kept stalls=100ms-200ms/2.5s")
        let link = ProtectedLink.link(network, .nack, .nack, seed: 1)
        link.right.session.playoutDelay(of: SSRC(9), is: .milliseconds(180))
        link.run(until: seconds(1))
        link.right.session.playoutDelay(of: SSRC(9), is: .milliseconds(180))
        link.run(until: seconds(60))
        let source = try #require(link.right.session.sources.first)
        let lostCount = Int(link.left.session.sendStream.packetCount) * 3 / 100
        #expect(source.recovery.retransmittedCount > lostCount * 7 / 10, "\(source.recovery) of about \(lostCount)")
    }

    @Test func aBurstOfLossIsNoStorm() throws {
        let link = try ProtectedLink.link("b50", .nack, .nack, seed: 7)
        link.left.speech = Speech(frameCount: FrameCount(120), byteCount: 20)
        link.run(until: seconds(20))
        let questions = ProtectedLink.questions(of: link.right)
        let byteCount = questions.map(\.bytes.count).reduce(0, +)
        #expect(questions.count <= 1_010)
        #expect(byteCount <= 123_000)
    }

    @Test func oneWhoNeverRepliesIsAskedSeldom() {
        var configuration = RTPSessionConfiguration()
        configuration.lossProtection.sourcesSupportNACK = true
        var listener = session(1, configuration)
        var count = 0
        for number in 0..<5_000 {
            let now = seconds(Double(number) / 50)
            listener.wait(until: now)
            if number % 5 != 0 { _ = listener.receive(media(SSRC(9), number), from: alice, at: now) }
            count += listener.takeDatagrams().flatMap(\.packets).compactMap(\.nack).count
        }
        #expect(count < 120, "\(count)")
    }
}
