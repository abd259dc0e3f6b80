internal import TenfourAudioCore
internal import TenfourPackets
internal import TenfourSession

/// The last report of one listener on a talker's stream.
struct ListenerView: Sendable {
    /// Of the packets since its last report, in 1/256: what is missing though it was sent again.
    var fractionLost: UInt8
    /// What it takes redundant coding under; 255 where it does not.
    var redPayloadType: UInt8
    /// How far behind it may play, in milliseconds; zero where it does not say.
    var depth: UInt16
    /// How it makes up what stays lost.
    var concealment: PacketLossConcealment
    /// When it said so, in seconds.
    var second: UInt32

    init(_ fractionLost: UInt8, _ capabilities: Capabilities?, at now: Instant) {
        self.fractionLost = fractionLost
        redPayloadType = capabilities?.redPayloadType ?? .max
        depth = UInt16(clamping: Int((capabilities?.depth ?? .zero) / .milliseconds(1)))
        concealment = capabilities?.concealment ?? .plain
        second = Self.second(now)
    }

    static func second(_ now: Instant) -> UInt32 { UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000) }
}

/// What the listeners of one talker say together. Nobody's word counts more than that of all others on its line: one who
/// lies changes nothing where twenty speak. Concealment is the exception: one older listener is enough for plain.
struct ListenersVerdict: Sendable {
    /// The 90th percentile, in 1/256.
    var fractionLost: UInt8
    /// What nine of ten take.
    var redPayloadType: UInt8?
    /// What nine of ten have at least.
    var depth: Duration?
    /// Of the weakest: a sender that counts on less does a little more against loss than some need.
    var concealment: PacketLossConcealment

    /// Longer ago than this is not true any more, in seconds.
    private static let memory: UInt32 = 15

    /// Nil where nobody has said anything. `line` is what its members have in common: their network.
    init?(_ views: [MemberID: ListenerView], at now: Instant, line: (MemberID) -> UInt64) {
        let second = ListenerView.second(now)
        var all: [(line: UInt64, view: ListenerView)] = []
        all.reserveCapacity(views.count)
        for (member, view) in views where second &- view.second <= Self.memory { all.append((line(member), view)) }
        guard !all.isEmpty else { return nil }
        concealment = all.lazy.map(\.view.concealment).min() ?? .plain
        all.sort { ($0.line, $0.view.fractionLost) < ($1.line, $1.view.fractionLost) }

        var lines: [ListenerView] = []
        var start = 0
        for index in all.indices where index + 1 == all.count || all[index + 1].line != all[start].line {
            lines.append(all[(start + index) / 2].view)
            start = index + 1
        }
        lines.sort { $0.fractionLost < $1.fractionLost }
        fractionLost = lines[(lines.count * 9 + 9) / 10 - 1].fractionLost

        let redPayloadTypes = lines.map(\.redPayloadType).sorted()
        let common = redPayloadTypes[redPayloadTypes.count / 2]
        let takers = redPayloadTypes.count { $0 == common }
        redPayloadType = common < 128 && takers * 10 >= lines.count * 9 ? common : nil

        let depths = lines.map(\.depth).filter { $0 > 0 }.sorted()
        depth = depths.isEmpty ? nil : .milliseconds(Int(depths[(depths.count - 1) / 10]))
    }
}
