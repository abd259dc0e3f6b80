internal import TenfourAudioCore
internal import TenfourPackets
internal import TenfourSession

/// The last report of one listener on a talker's stream, reduced to the values that the talker needs.
struct ListenerView: Sendable {
    /// The fraction of packets since the previous report that stayed lost despite retransmission, in 1/256.
    var fractionLost: UInt8
    /// The payload type under which the listener accepts redundancy (RFC 2198); 255 if it accepts none.
    var redPayloadType: UInt8
    /// The listener's longest playout delay in milliseconds, measured from the arrival of the fastest packet; zero if
    /// its report does not state one.
    var depth: UInt16
    /// The listener's method of concealing packets that stay lost.
    var concealment: PacketLossConcealment
    /// The time of the report, in seconds of the monotonic clock.
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

/// A summary of the reports of all listeners of one talker. All listeners on one access line count as one, so that
/// among twenty lines, false reports from one line change nothing. The exception is the concealment, for which
/// every listener counts.
struct ListenersVerdict: Sendable {
    /// The 90th percentile of the fractions of packets that stayed lost, one per access line, in 1/256.
    var fractionLost: UInt8
    /// The payload type for redundancy (RFC 2198) that the listeners on at least nine of ten access lines accept; nil
    /// if there is none.
    var redPayloadType: UInt8?
    /// The 10th percentile of the listeners' longest playout delays, one per access line; nil if no report states one.
    var depth: Duration?
    /// The weakest concealment among all listeners. For listeners with better concealment, the sender therefore sends
    /// somewhat more redundancy than they need.
    var concealment: PacketLossConcealment
    /// The number of access lines.
    private(set) var lineCount: Int

    /// The age in seconds after which a report is ignored.
    private static let memory: UInt32 = 15

    /// Creates the summary; nil if there is no recent report. `line` returns the network prefix that identifies the
    /// access line of a member.
    /// The access lines in a summary of another relay each count with the values of the summary.
    init?(
        _ views: [MemberID: ListenerView], _ remoteViews: [BootID: RemoteView] = [:], at now: Instant,
        line: (MemberID) -> UInt64
    ) {
        let second = ListenerView.second(now)
        var all: [(line: UInt64, view: ListenerView)] = []
        all.reserveCapacity(views.count)
        for (member, view) in views where second &- view.second <= Self.memory { all.append((line(member), view)) }
        let remotes = remoteViews.values.filter { second &- $0.view.second <= Self.memory && $0.lineCount > 0 }
        guard !all.isEmpty || !remotes.isEmpty else { return nil }
        concealment = (all.lazy.map(\.view.concealment) + remotes.lazy.map(\.view.concealment)).min() ?? .plain
        all.sort { ($0.line, $0.view.fractionLost) < ($1.line, $1.view.fractionLost) }

        var lines: [ListenerView] = []
        var start = 0
        for index in all.indices where index + 1 == all.count || all[index + 1].line != all[start].line {
            lines.append(all[(start + index) / 2].view)
            start = index + 1
        }
        for remote in remotes { lines.append(contentsOf: repeatElement(remote.view, count: remote.lineCount)) }
        lineCount = lines.count
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
