import Engine
import Quality
import RTP
import Radio

/// What was sent, second by second, and how it came through by the reports of whoever heard it.
///
/// All loss here is what reports count as lost: a packet that came when it was asked for again is not. Where several report,
/// it is the last of them who is believed.
struct SentMeter {
    private var seconds: [Second] = []
    private var current = Second()
    private var whole = Second()
    /// As it was when a receiver last reported.
    private var reported: [SSRC: (lostCount: Int, packetCount: Int)] = [:]
    /// When a receiver last reported, since the start.
    private(set) var lastReport: Duration?
    private let keepsSeconds: Bool

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
    }

    struct Loss {
        var receiver: SSRC
        var lostCount = 0
        var packetCount = 0
    }

    init(keepsSeconds: Bool) { self.keepsSeconds = keepsSeconds }

    mutating func look(at snapshot: SessionSnapshot) {
        for _ in 0..<max(Int(snapshot.elapsed.components.seconds) - seconds.count, 0) where keepsSeconds {
            seconds.append(current)
            current = Second()
            current.view = whole.view
        }
        let transmission = snapshot.transmission
        let packetCount = transmission.packetCount - whole.packetCount
        current.add(packetCount, transmission.byteCount - whole.byteCount, at: snapshot.defence.bitRate)
        whole.add(packetCount, transmission.byteCount - whole.byteCount, at: snapshot.defence.bitRate)
        whole.duration = snapshot.elapsed
    }

    /// A receiver has reported, after what was looked at last.
    mutating func take(_ view: ReceiverView, of receiver: SSRC) {
        let before = reported[receiver] ?? (0, 0)
        guard before.packetCount > 0 || reported.count < Self.maximumReceiverCount else { return }
        reported[receiver] = (view.lostCount, whole.packetCount)
        var loss = current.loss.flatMap { $0.receiver == receiver ? $0 : nil } ?? Loss(receiver: receiver)
        loss.lostCount += view.lostCount - before.lostCount
        loss.packetCount += whole.packetCount - before.packetCount
        current.loss = loss
        whole.loss = Loss(receiver: receiver, lostCount: view.lostCount, packetCount: whole.packetCount)
        (current.view, whole.view) = (view, view)
        lastReport = whole.duration
    }

    /// The second that is not over yet counts as one.
    var members: (whole: [(String, JSON)], seconds: [[(String, JSON)]]) {
        (whole.members, (seconds + [current]).map(\.members))
    }
}

extension SentMeter.Second {
    fileprivate mutating func add(_ packetCount: Int, _ byteCount: Int, at bitRate: Int) {
        self.packetCount += packetCount
        self.byteCount += byteCount
        bitRateSum += packetCount * bitRate
    }

    /// Of the packets that reports tell of, 0…1. What was missed before may have come since: that is no loss, and no gain.
    private var lossShare: Double? {
        loss.flatMap { $0.packetCount > 0 ? min(max(Double($0.lostCount) / Double($0.packetCount), 0), 1) : nil }
    }

    /// What the codec was allowed, in bit/s.
    private var bitRate: Int? { packetCount > 0 ? bitRateSum / packetCount : nil }

    /// As whoever hears it may judge it, as far as reports tell: how deep they buffer, these do not.
    private var model: EModel? {
        guard let view, let lossShare else { return nil }
        return EModel(
            delay: (view.roundTrip ?? .zero) / 2, lossShare: lossShare,
            burstRatio: (view.burstLength ?? 1) * (1 - lossShare), missingShare: view.discardShare ?? 0,
            codec: bitRate.map { .opus(bitRate: $0) } ?? .opus())
    }

    fileprivate var members: [(String, JSON)] {
        let seconds = duration / .seconds(1)
        return [
            ("packets", .integer(packetCount)),
            ("kbit_s", .decimal(seconds > 0 ? Double(byteCount) * 8 / seconds / 1_000 : nil, places: 1)),
            ("codec_kbit_s", .decimal(bitRate.map { Double($0) / 1_000 }, places: 1)),
            ("lost", loss.map { .integer(max($0.lostCount, 0)) } ?? .null),
            ("lost_share", .decimal(lossShare, places: 5)),
            ("burst_length", .decimal(view?.burstLength, places: 2)),
            ("missing_share", .decimal(view?.discardShare, places: 5)),
            ("jitter_ms", .decimal(view.map { $0.jitter / .milliseconds(1) }, places: 2)),
            ("round_trip_ms", .decimal(view?.roundTrip.map { $0 / .milliseconds(1) }, places: 2)),
            ("score", .decimal(model?.score, places: 2)), ("rating", .decimal(model?.rating, places: 1)),
        ]
    }
}
