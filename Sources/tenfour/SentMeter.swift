import Engine
import Quality
import RTP
import Radio

/// What was sent, second by second, and how it came through by the reports of whoever heard it.
struct SentMeter {
    private(set) var seconds: [Second] = []
    private var current = Second()
    private var before = (packetCount: 0, byteCount: 0)
    private var whole = Second()
    private let keepsSeconds: Bool

    /// A second of it, or all.
    struct Second {
        var duration = Duration.seconds(1)
        var packetCount = 0
        var byteCount = 0
        /// What was reported last.
        var view: ReceiverView?
        /// Of the packets, 0…1.
        var lossShare: Double? { view?.lossShare }
    }

    init(keepsSeconds: Bool) { self.keepsSeconds = keepsSeconds }

    mutating func look(at snapshot: SessionSnapshot) {
        let transmission = snapshot.transmission
        for _ in 0..<max(Int(snapshot.elapsed.components.seconds) - seconds.count, 0) where keepsSeconds {
            seconds.append(current)
            current = Second()
        }
        current.packetCount += transmission.packetCount - before.packetCount
        current.byteCount += transmission.byteCount - before.byteCount
        current.view = transmission.lastView
        before = (transmission.packetCount, transmission.byteCount)
        whole = Second(
            duration: snapshot.elapsed, packetCount: transmission.packetCount, byteCount: transmission.byteCount,
            view: transmission.lastView)
    }

    /// The second that is not over yet counts as one.
    var members: (whole: [(String, JSON)], seconds: [[(String, JSON)]]) {
        var total = whole
        if let view = total.view, total.packetCount > 0 {
            total.view?.lossShare = min(max(Double(view.lostCount) / Double(total.packetCount), 0), 1)
        }
        let lost = ("lost", total.view.map { JSON.integer(max($0.lostCount, 0)) } ?? .null)
        return (total.members + [lost], (seconds + [current]).map(\.members))
    }
}

extension SentMeter.Second {
    /// As whoever hears it may judge it, as far as reports tell: what they bring back and how deep they buffer, these do not.
    var model: EModel? {
        view.map { view in
            EModel(
                delay: (view.roundTrip ?? .zero) / 2, lossShare: view.lossShare,
                burstRatio: (view.burstLength ?? 1) * (1 - view.lossShare))
        }
    }

    var members: [(String, JSON)] {
        let seconds = duration / .seconds(1)
        return [
            ("packets", .integer(packetCount)),
            ("kbit_s", .decimal(seconds > 0 ? Double(byteCount) * 8 / seconds / 1_000 : nil, places: 1)),
            ("lost_share", .decimal(lossShare, places: 5)),
            ("burst_length", .decimal(view?.burstLength, places: 2)),
            ("jitter_ms", .decimal(view.map { $0.jitter / .milliseconds(1) }, places: 2)),
            ("round_trip_ms", .decimal(view?.roundTrip.map { $0 / .milliseconds(1) }, places: 2)),
            ("score", .decimal(model?.score, places: 2)), ("rating", .decimal(model?.rating, places: 1)),
        ]
    }
}
