public import TenfourAudioCore
public import TenfourPackets

/// A participant of a session: it sends media, or it only reports, as a partner does whose microphone is closed.
public struct Participant: Hashable, Sendable {
    public let ssrc: SSRC
    /// The name that it gave, without control characters; nil where it gave none.
    public var name: String?
    public var endpoint: Endpoint
    /// The time of its first packet or report.
    public var since: Instant
    /// Whether packets of sound come.
    public var isSending: Bool
    /// When they began to come, or stopped.
    public var sendingChanged: Instant

    /// A source whose media has not come for this time has closed its microphone.
    static let pause = Duration.seconds(1)
}

/// Keeps the participants that report and send no sound. One comes with its first report, and goes with a good-bye or after a
/// time-out.
struct Reporters: Sendable {
    private(set) var all: [Participant] = []
    /// When each reported last, in the same order.
    private var lastReports: [Instant] = []
    private var newCount = 0
    /// The last participants that sent BYE, latest last: a report that a BYE has overtaken is ignored.
    private var departed: [(ssrc: SSRC, at: Instant)] = []

    private static let maximumDepartedCount = 8
    /// How long a good-bye may have overtaken reports.
    private static let grace = Duration.seconds(5)
    /// The most reporters that are listed.
    private static let maximumCount = 32
    /// The most reporters at addresses that nobody typed.
    static let maximumStrangerCount = 24

    mutating func heard(_ ssrc: SSRC, at sender: Endpoint, _ now: Instant) {
        if let index = index(of: ssrc) {
            guard all[index].endpoint.address == sender.address else { return }
            lastReports[index] = now
            return
        }
        guard all.count < Self.maximumCount, !departed.contains(where: { $0.ssrc == ssrc && now - $0.at < Self.grace })
        else { return }
        all.append(
            Participant(
                ssrc: ssrc, name: nil, endpoint: sender, since: now, isSending: false, sendingChanged: now))
        lastReports.append(now)
        newCount += 1
    }

    mutating func recordGoodbye(_ ssrc: SSRC, at now: Instant) {
        if departed.count == Self.maximumDepartedCount { departed.removeFirst() }
        departed.append((ssrc, now))
    }

    /// Returns whether that is a new name of one who is known to be there for longer than this report.
    mutating func named(_ ssrc: SSRC, _ name: String, at sender: Endpoint) -> Bool {
        guard let index = index(of: ssrc), all[index].endpoint.address == sender.address, all[index].name != name
        else { return false }
        all[index].name = name
        return index < all.count - newCount
    }

    /// Returns the participants that came with the report that was read.
    mutating func removeNew() -> ArraySlice<Participant> {
        defer { newCount = 0 }
        return all.suffix(newCount)
    }

    /// Returns who it was; nil where it was nobody who reports from there.
    mutating func remove(_ ssrc: SSRC, at address: IPAddress) -> Participant? {
        guard let index = index(of: ssrc), all[index].endpoint.address == address else { return nil }
        lastReports.remove(at: index)
        if index >= all.count - newCount { newCount -= 1 }
        return all.remove(at: index)
    }

    /// Returns who was silent since `limit`.
    mutating func removeSilent(since limit: Instant) -> [Participant] {
        let gone = all.indices.filter { lastReports[$0] <= limit }.map { all[$0] }
        for participant in gone { _ = remove(participant.ssrc, at: participant.endpoint.address) }
        return gone
    }

    func knows(_ ssrc: SSRC) -> Bool { index(of: ssrc) != nil }

    /// Whether it came with the report that is being read.
    func isNew(_ ssrc: SSRC) -> Bool { all.suffix(newCount).contains { $0.ssrc == ssrc } }

    /// The last report of the reporter that is silent longest.
    var earliestReport: Instant? { lastReports.min() }

    private func index(of ssrc: SSRC) -> Int? { all.firstIndex { $0.ssrc == ssrc } }
}
