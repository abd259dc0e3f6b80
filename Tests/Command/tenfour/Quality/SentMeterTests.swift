import TenfourAudioCore
import TenfourCallQuality
import TenfourChannelKeys
import TenfourChannelMember
import TenfourJSON
import TenfourPackets
import TenfourSoundCard
import Testing

@testable import TenfourRadio
@testable import TenfourSession
@testable import tenfour

/// Tests the reported loss of sent packets.
struct SentMeterTests {
    private struct Sender: ~Copyable {
        var rtpSession: RTPSession
        var meter: SentMeter
        var count = 0

        init(frame: Duration = .milliseconds(20), encoding: AudioEncoding = .opus) {
            var coding = CodingSettings()
            coding.frame = frame
            coding.encoding = encoding
            meter = SentMeter(keepsSeconds: true, coding: coding)
            var configuration = RTPSessionConfiguration()
            configuration.remotes = [Endpoint(.loopbackV4, port: 6_000)]
            rtpSession = RTPSession(identity: Identity(ssrc: SSRC(1)), configuration: configuration, at: .start)
        }

        mutating func send(packets: Int) {
            let payload: [UInt8] = [0xF8, 1, 2]
            for _ in 0..<packets {
                rtpSession.send(
                    payload.span, at: FrameCount(960 * count), startsTalkspurt: count == 0,
                    now: .start + .milliseconds(20 * count))
                count += 1
            }
            meter.update(with: RadioSnapshot(rtpSession: rtpSession, elapsed: .milliseconds(20 * count)))
        }

        mutating func hear(of lostCount: Int, from receiver: UInt32) {
            meter.record(
                ReceiverView(lossShare: 0, lostCount: lostCount, jitter: .zero, roundTrip: nil), of: SSRC(receiver))
        }

        var lostShare: String? {
            meter.members.whole.first { $0.0 == "lost_share" }.map { $0.1.line }
        }
    }

    private let joined = ChannelEvent.joined(.talk, seenAt: Endpoint(.loopbackV4, port: 6_000))

    /// The same loss lowers the score more if packets are short.
    @Test func shortPacketsScoreLess() throws {
        let scores = try [Duration.microseconds(2_500), .milliseconds(20)].map { frame in
            var sender = Sender(frame: frame)
            sender.send(packets: 50)
            sender.hear(of: 5, from: 2)
            let score = sender.meter.members.whole.first { $0.0 == "score" }?.1.line
            return try #require(score.flatMap { Double($0) })
        }
        #expect(scores[0] < scores[1] - 0.3, "\(scores)")
    }

    @Test func packetsSentDuringAnOutageAreLost() {
        var sender = Sender()
        sender.meter.record(joined)
        sender.send(packets: 100)
        sender.hear(of: 2, from: 8)
        sender.send(packets: 25)
        sender.meter.record(.lost)
        sender.send(packets: 75)
        #expect(sender.meter.lostCount == 102, "packets sent during a continuing outage are lost")
        sender.meter.record(joined)
        sender.send(packets: 200)
        sender.hear(of: 1, from: 9)
        #expect(sender.meter.lostCount == 103)
        #expect(sender.lostShare == "0.2575")
        let seconds = sender.meter.members.seconds.compactMap { members in
            members.first { $0.0 == "lost" }.flatMap { Int($0.1.line) }
        }
        #expect(seconds.reduce(0, +) == 103, "\(seconds)")
    }

    /// A relay that stops sends a goodbye, so it received everything until then.
    @Test func aRelayThatStopsHasHeardAll() {
        var sender = Sender()
        sender.send(packets: 50)
        sender.hear(of: 0, from: 8)
        sender.send(packets: 50)
        sender.meter.record(.closed(.stopping))
        sender.send(packets: 10)
        sender.meter.record(joined)
        sender.send(packets: 10)
        #expect(sender.meter.lostCount == 10)
    }

    @Test func beforeTheFirstReportNothingIsKnown() {
        var sender = Sender()
        sender.send(packets: 50)
        sender.meter.record(.lost)
        #expect(sender.meter.lostCount == nil)
        sender.hear(of: 3, from: 8)
        #expect(sender.meter.lostCount == 3)
    }

    /// The bit rate of G.711 is always 64 kbit/s, and its score is that of a telephone line: `Ie` = 0 and `Bpl` =
    /// 25.1.
    @Test func aStreamOfG711IsScoredAsG711() {
        func figures(_ encoding: AudioEncoding) -> [String: String] {
            var sender = Sender(encoding: encoding)
            sender.send(packets: 100)
            sender.hear(of: 5, from: 1)
            return Dictionary(uniqueKeysWithValues: sender.meter.members.whole.map { ($0.0, $0.1.line) })
        }
        #expect(figures(.pcmu)["codec_kbit_s"] == "64" && figures(.opus)["codec_kbit_s"] == "32")
        let expected = EModel(lossShare: 0.05, codec: .g711).score
        let score = figures(.pcma)["score"].flatMap { Double($0) } ?? 0
        #expect(abs(score - expected) < 0.01 && score > 3.8, "\(score)")
    }

    /// The partner's last report covers 200 of 900 packets, and it does not answer the BYE; or it answers, and says that the
    /// last 20 are lost.
    @Test func whatNoReportShowsIsNotCountedAsArrived() {
        func meter(_ covered: Int, lostAtEnd: Int?) -> ([String: String], SessionReport) {
            var sender = Sender()
            sender.send(packets: 900)
            sender.hear(of: 3, from: 2)
            var snapshot = RadioSnapshot(rtpSession: sender.rtpSession, elapsed: .seconds(18))
            (snapshot.coveredCount, snapshot.lostAtEndCount) = (covered, lostAtEnd)
            var monitor = QualityMonitor(keepsSeconds: false, coding: CodingSettings())
            monitor.update(with: snapshot)
            monitor.record(
                .receiverReported(SSRC(2), ReceiverView(lossShare: 0, lostCount: 3, jitter: .zero, roundTrip: nil)))
            snapshot.capture = .init(
                level: Level(meanSquare: 0), levelHistory: LevelHistory(), xrunCount: 0, missed: .zero, overrunCount: 0,
                isCardLost: false, silentChannel: nil, levelAdvice: nil, realTime: .notAsked)
            let members = monitor.sent.members.whole.map { ($0.0, $0.1.line) }
            return (Dictionary(members) { $1 }, SessionReport(snapshot, TalkerNames(), monitor))
        }
        var (members, report) = meter(200, lostAtEnd: nil)
        #expect(members["lost"] == "3" && members["uncovered"] == "700")
        #expect(report.line.contains("3 of them lost; no report shows that the last 700 arrived"), "\(report.line)")
        #expect(report.text.contains("no report shows that the last 700 packets arrived"), "\(report.text)")
        (members, report) = meter(880, lostAtEnd: 20)
        #expect(members["lost"] == "23" && members["uncovered"] == "0")
        #expect(report.line.contains("23 of them lost") && !report.line.contains("no report"), "\(report.line)")
    }

    /// That nothing is heard is known after three seconds; the time before counts in the seconds in which it was.
    @Test func theTimeBeforeItWasKnownIsNotHeardEither() {
        var meter = SentMeter(keepsSeconds: true, coding: CodingSettings())
        for tick in 0...80 {
            let elapsed = Duration.milliseconds(100 * tick)
            let session = RTPSession(
                identity: Identity(ssrc: SSRC(1)), configuration: RTPSessionConfiguration(), at: .start)
            var snapshot = RadioSnapshot(rtpSession: session, elapsed: elapsed)
            if (53...70).contains(tick) {
                snapshot.hearings = [
                    Hearing(
                        ssrc: SSRC(2), endpoint: Endpoint(.loopbackV4, port: 6_000), state: .hearsNothing,
                        duration: elapsed - .milliseconds(2_500))
                ]
            }
            meter.update(with: snapshot)
        }
        #expect(meter.notHeard == .milliseconds(4_500))
        let seconds = meter.members.seconds.map { $0.first { $0.0 == "not_heard_ms" }?.1.line }
        #expect(seconds == ["0", "0", "500", "1000", "1000", "1000", "1000", "0", "0"])
    }
}
