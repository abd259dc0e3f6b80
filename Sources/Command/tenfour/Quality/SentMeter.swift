import TenfourAudioCore
import TenfourCallQuality
import TenfourChannelMember
internal import TenfourJSON
import TenfourPackets
import TenfourRadio
import TenfourSession

/// Measures the audio sent per second, and its delivery according to the receivers' reports.
///
/// The number of lost packets is the number in the reports, minus the packets that arrived by retransmission, plus the
/// packets sent while a channel's relay was unreachable. With several receivers, the report received last counts.
struct SentMeter {
    private var seconds: [Second] = []
    private var current = Second()
    private var whole = Second()
    /// The state at the last report of each receiver: the number of packets that it had reported as lost, and the
    /// number of packets that we had sent.
    private var reported: [SSRC: (lostCount: Int, packetCount: Int)] = [:]
    /// The time from the start of the session to the last receiver report; nil if none has arrived.
    private(set) var lastReport: Duration?
    /// The number of packets that we had sent at the time of the last receiver report.
    private var packetCountAtReport = 0
    /// The number of packets that we had sent when the present outage of the relay began; nil if there is no outage.
    private var packetCountAtOutage: Int?
    /// The number of packets that we had sent when the relay last returned. The relay's reports count packets from then
    /// on.
    private var packetCountAtReturn = 0
    /// The number of packets reported as lost before the relay last returned.
    private var lostBeforeReturn = 0
    /// The number of our last packets of which no report shows that they arrived; nil where all is known, or nothing.
    private(set) var uncoveredCount: Int?
    /// Whether at least one partner did not hear us at the last update.
    private var isUnheard = false
    private let keepsSeconds: Bool
    private let coding: CodingSettings

    /// The maximum number of receivers in `reported`, so that reports from many SSRCs cannot fill the memory.
    private static let maximumReceiverCount = 256

    /// The figures of one second, or of the whole session.
    struct Second {
        var duration = Duration.seconds(1)
        var packetCount = 0
        var byteCount = 0
        /// The codec's bit rate in bit/s, summed over all packets. Divided by `packetCount` it is the mean bit rate.
        var bitRateSum = 0
        /// The last receiver report; nil if none has arrived.
        var view: ReceiverView?
        /// The loss according to the receiver that reported last; nil without reports.
        var loss: Loss?
        /// The number of packets sent while the relay was unreachable.
        var outageCount = 0
        /// The number of packets lost at the end of the session, after those that the receiver's reports count.
        var lostAtEndCount: Int?
        /// The time in which we transmitted and at least one partner did not hear us.
        var notHeard = Duration.zero
    }

    struct Loss {
        var receiver: SSRC
        var lostCount = 0
        var packetCount = 0
    }

    /// Creates a meter. If `keepsSeconds` is true, the figures of each second are kept. `coding` is the encoding of our
    /// stream.
    init(keepsSeconds: Bool, coding: CodingSettings) {
        self.keepsSeconds = keepsSeconds
        self.coding = coding
    }

    mutating func update(with snapshot: RadioSnapshot) {
        for _ in 0..<max(Int(snapshot.elapsed.components.seconds) - seconds.count, 0) where keepsSeconds {
            seconds.append(current)
            current = Second()
            current.view = whole.view
        }
        addNotHeard(snapshot)
        let sendStream = snapshot.sendStream
        let packetCount = sendStream.packetCount - whole.packetCount
        // Uses the constant bit rate of G.711: only the bit rate of Opus follows the loss protection.
        let bitRate = coding.encoding == .opus ? snapshot.lossProtection.bitRate : coding.payloadBitRate
        current.add(packetCount, sendStream.byteCount - whole.byteCount, at: bitRate)
        whole.add(packetCount, sendStream.byteCount - whole.byteCount, at: bitRate)
        whole.duration = snapshot.elapsed
        (current.lostAtEndCount, whole.lostAtEndCount) = (snapshot.lostAtEndCount, snapshot.lostAtEndCount)
        let uncoveredCount = snapshot.coveredCount.map { sendStream.packetCount - $0 } ?? 0
        self.uncoveredCount = snapshot.lostAtEndCount == nil && uncoveredCount > 0 ? uncoveredCount : nil
    }

    /// Adds the time in which a partner has not heard us. It is known late that a partner does not: what was before counts in
    /// the seconds in which it was.
    private mutating func addNotHeard(_ snapshot: RadioSnapshot) {
        let unheard = snapshot.hearings.filter(\.state.isUnheard)
        defer { isUnheard = !unheard.isEmpty }
        guard !unheard.isEmpty else { return }
        var left = max(snapshot.elapsed - whole.duration, .zero)
        if !isUnheard { left = max(left, unheard.compactMap(\.duration).max() ?? .zero) }
        whole.notHeard += left
        var share = min(left, snapshot.elapsed - .seconds(snapshot.elapsed.components.seconds))
        current.notHeard += share
        for index in seconds.indices.reversed() where left > .zero {
            left -= share
            share = max(min(left, .seconds(1) - seconds[index].notHeard), .zero)
            seconds[index].notHeard += share
        }
    }

    /// Records a receiver's report.
    mutating func record(_ view: ReceiverView, of receiver: SSRC) {
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

    /// Records the start or end of an outage of the relay. If the relay stops answering, the outage starts at the last
    /// receiver report. If the relay says goodbye, the outage starts at this event.
    mutating func record(_ event: ChannelEvent) {
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

    /// A copy in which the present outage, if there is one, ends now.
    private var withOutageEnded: Self {
        var withOutageEnded = self
        withOutageEnded.endOutage()
        return withOutageEnded
    }

    /// The number of our packets lost despite recovery: reported by a receiver, or sent while the relay was
    /// unreachable; nil if there was neither a report nor such an outage.
    var lostCount: Int? { withOutageEnded.whole.lostCount }

    /// The time in which we transmitted and at least one partner did not hear us.
    var notHeard: Duration { whole.notHeard }

    /// The JSON members of the whole session and of each second, including the present incomplete second.
    var members: (whole: [(String, JSON)], seconds: [[(String, JSON)]]) {
        let withOutageEnded = withOutageEnded
        return (
            withOutageEnded.whole.members(coding) + [("uncovered", .integer(uncoveredCount ?? 0))],
            (seconds + [withOutageEnded.current]).map { $0.members(coding) }
        )
    }
}

extension SentMeter.Second {
    fileprivate mutating func add(_ packetCount: Int, _ byteCount: Int, at bitRate: Int) {
        self.packetCount += packetCount
        self.byteCount += byteCount
        bitRateSum += packetCount * bitRate
    }

    /// The number of packets lost; nil without reports or outages. A negative reported number, which late packets can
    /// cause, counts as zero.
    fileprivate var lostCount: Int? {
        guard loss != nil || outageCount > 0 || lostAtEndCount != nil else { return nil }
        return max(loss?.lostCount ?? 0, 0) + outageCount + (lostAtEndCount ?? 0)
    }

    /// The proportion of lost packets, 0…1, among the packets covered by reports or outages; nil if there are no such
    /// packets.
    private var lossShare: Double? {
        let packetCount = (loss?.packetCount ?? 0) + outageCount
        guard let lostCount, packetCount > 0 else { return nil }
        return min(Double(lostCount) / Double(packetCount), 1)
    }

    /// The codec's mean bit rate, in bit/s.
    private var bitRate: Int? { packetCount > 0 ? bitRateSum / packetCount : nil }

    /// Returns the call quality at the receiver, computed by the E-model from the receiver's reports; nil without
    /// reports. The receiver's playout delay is not included, since reports do not state it.
    private func model(_ coding: CodingSettings) -> EModel? {
        guard let view, let lossShare else { return nil }
        return EModel(
            delay: (view.roundTrip ?? .zero) / 2, lossShare: lossShare,
            burstRatio: (view.burstLength ?? 1) * (1 - lossShare), missingShare: view.discardShare ?? 0,
            codec: EModel.Codec(
                coding.encoding, bitRate: bitRate ?? EModel.Codec.usualBitRate, frame: coding.frame,
                deepShare: view.concealment == .deep ? 1 : 0))
    }

    fileprivate func members(_ coding: CodingSettings) -> [(String, JSON)] {
        let seconds = duration / .seconds(1)
        let model = model(coding)
        return [
            ("packets", .integer(packetCount)),
            ("kbit_s", .decimal(seconds > 0 ? Double(byteCount) * 8 / seconds / 1_000 : nil, places: 1)),
            ("codec_kbit_s", .decimal(bitRate.map { Double($0) / 1_000 }, places: 1)),
            ("lost", lostCount.map { .integer($0) } ?? .null),
            ("lost_share", .decimal(lossShare, places: 5)),
            ("burst_length", .decimal(view?.burstLength, places: 2)),
            ("missing_share", .decimal(view?.discardShare, places: 5)),
            ("not_heard_ms", .decimal(notHeard / .milliseconds(1), places: 0)),
            ("jitter_ms", .decimal(view.map { $0.jitter / .milliseconds(1) }, places: 2)),
            ("round_trip_ms", .decimal(view?.roundTrip.map { $0 / .milliseconds(1) }, places: 2)),
            ("score", .decimal(model?.score, places: 2)), ("rating", .decimal(model?.rating, places: 1)),
        ]
    }
}
