import TenfourCallQuality
import TenfourChannelMember
import TenfourPackets
import TenfourRadio
import TenfourSession

/// What was sent, second by second, and how it came through by the reports of whoever heard it.
///
/// All loss here is what reports count as lost, and what was sent while a channel's relay was gone: a packet that came when it
/// was asked for again is not. Where several report, it is the last of them who is believed.
struct SentMeter {
    private var seconds: [Second] = []
    private var current = Second()
    private var whole = Second()
    /// As it was when a receiver last reported.
    private var reported: [SSRC: (lostCount: Int, packetCount: Int)] = [:]
    /// When a receiver last reported, since the start.
    private(set) var lastReport: Duration?
    /// How many packets had been sent when a receiver last reported.
    private var packetCountAtReport = 0
    /// The same when the relay went; nil while there is one, or none was there before.
    private var packetCountAtOutage: Int?
    /// The same when it had come back: it counts from there, and not what was lost before.
    private var packetCountAtReturn = 0
    private var lostBeforeReturn = 0
    private let keepsSeconds: Bool
    /// What a packet holds.
    private let frame: Duration

    /// Nobody is heard by more than a few; a flood of numbers is not kept.
    private static let maximumReceiverCount = 256

    /// A second of it, or all.
    struct Second {
        var duration = Duration.seconds(1)
        var packetCount = 0
        var byteCount = 0
        /// What the codec was allowed for each packet, added up.
        var bitRateSum = 0
        /// What was reported last.
        var view: ReceiverView?
        /// What the last receiver's reports count, and of how many packets; nil where none came.
        var loss: Loss?
        /// Packets that were sent while the relay was gone, besides.
        var outageCount = 0
    }

    struct Loss {
        var receiver: SSRC
        var lostCount = 0
        var packetCount = 0
    }

    /// Every packet holds `frame`.
    init(keepsSeconds: Bool, frame: Duration) {
        self.keepsSeconds = keepsSeconds
        self.frame = frame
    }

    mutating func look(at snapshot: RadioSnapshot) {
        for _ in 0..<max(Int(snapshot.elapsed.components.seconds) - seconds.count, 0) where keepsSeconds {
            seconds.append(current)
            current = Second()
            current.view = whole.view
        }
        let sendStream = snapshot.sendStream
        let packetCount = sendStream.packetCount - whole.packetCount
        current.add(packetCount, sendStream.byteCount - whole.byteCount, at: snapshot.lossProtection.bitRate)
        whole.add(packetCount, sendStream.byteCount - whole.byteCount, at: snapshot.lossProtection.bitRate)
        whole.duration = snapshot.elapsed
    }

    /// A receiver has reported, after what was looked at last.
    mutating func take(_ view: ReceiverView, of receiver: SSRC) {
        let before = reported[receiver] ?? (0, packetCountAtReturn)
        guard before.packetCount > 0 || reported.count < Self.maximumReceiverCount else { return }
        reported[receiver] = (view.lostCount, whole.packetCount)
        var loss = current.loss.flatMap { $0.receiver == receiver ? $0 : nil } ?? Loss(receiver: receiver)
        loss.lostCount += view.lostCount - before.lostCount
        loss.packetCount += whole.packetCount - before.packetCount
        current.loss = loss
        whole.loss = Loss(
            receiver: receiver, lostCount: lostBeforeReturn + view.lostCount,
            packetCount: whole.packetCount - whole.outageCount)
        (current.view, whole.view) = (view, view)
        lastReport = whole.duration
        packetCountAtReport = whole.packetCount
    }

    /// A relay that falls silent has heard what it reported last; one that takes its leave, all until then.
    mutating func take(_ event: ChannelEvent) {
        guard whole.loss != nil else { return }
        switch event {
        case .lost: packetCountAtOutage = packetCountAtOutage ?? packetCountAtReport
        case .closed: packetCountAtOutage = packetCountAtOutage ?? whole.packetCount
        case .joined: endOutage()
        default: break
        }
    }

    private mutating func endOutage() {
        guard let begin = packetCountAtOutage else { return }
        packetCountAtOutage = nil
        current.outageCount += whole.packetCount - begin
        whole.outageCount += whole.packetCount - begin
        packetCountAtReturn = whole.packetCount
        lostBeforeReturn = max(whole.loss?.lostCount ?? 0, 0)
        reported = [:]
    }

    /// With an outage that goes on, as if it ended here.
    private var settled: Self {
        var settled = self
        settled.endOutage()
        return settled
    }

    /// Of all that was sent, packets that nobody heard in the end; nil where no reports came.
    var lostCount: Int? { settled.whole.lostCount }

    /// The second that is not over yet counts as one.
    var members: (whole: [(String, JSON)], seconds: [[(String, JSON)]]) {
        let settled = settled
        return (settled.whole.members(frame: frame), (seconds + [settled.current]).map { $0.members(frame: frame) })
    }
}

extension SentMeter.Second {
    fileprivate mutating func add(_ packetCount: Int, _ byteCount: Int, at bitRate: Int) {
        self.packetCount += packetCount
        self.byteCount += byteCount
        bitRateSum += packetCount * bitRate
    }

    /// What was missed before may have come since: that is no loss, and no gain. Nil where no report came.
    fileprivate var lostCount: Int? {
        guard loss != nil || outageCount > 0 else { return nil }
        return max(loss?.lostCount ?? 0, 0) + outageCount
    }

    /// Of the packets that reports tell of, and those of an outage, 0…1.
    private var lossShare: Double? {
        let packetCount = (loss?.packetCount ?? 0) + outageCount
        guard let lostCount, packetCount > 0 else { return nil }
        return min(Double(lostCount) / Double(packetCount), 1)
    }

    /// What the codec was allowed, in bit/s.
    private var bitRate: Int? { packetCount > 0 ? bitRateSum / packetCount : nil }

    /// As whoever hears it may judge it, as far as reports tell: how deep they buffer, these do not.
    private func model(frame: Duration) -> EModel? {
        guard let view, let lossShare else { return nil }
        return EModel(
            delay: (view.roundTrip ?? .zero) / 2, lossShare: lossShare,
            burstRatio: (view.burstLength ?? 1) * (1 - lossShare), missingShare: view.discardShare ?? 0,
            codec: .opus(
                bitRate: bitRate ?? EModel.Codec.usualBitRate, frame: frame,
                deepShare: view.concealment == .deep ? 1 : 0))
    }

    fileprivate func members(frame: Duration) -> [(String, JSON)] {
        let seconds = duration / .seconds(1)
        let model = model(frame: frame)
        return [
            ("packets", .integer(packetCount)),
            ("kbit_s", .decimal(seconds > 0 ? Double(byteCount) * 8 / seconds / 1_000 : nil, places: 1)),
            ("codec_kbit_s", .decimal(bitRate.map { Double($0) / 1_000 }, places: 1)),
            ("lost", lostCount.map { .integer($0) } ?? .null),
            ("lost_share", .decimal(lossShare, places: 5)),
            ("burst_length", .decimal(view?.burstLength, places: 2)),
            ("missing_share", .decimal(view?.discardShare, places: 5)),
            ("jitter_ms", .decimal(view.map { $0.jitter / .milliseconds(1) }, places: 2)),
            ("round_trip_ms", .decimal(view?.roundTrip.map { $0 / .milliseconds(1) }, places: 2)),
            ("score", .decimal(model?.score, places: 2)), ("rating", .decimal(model?.rating, places: 1)),
        ]
    }
}
