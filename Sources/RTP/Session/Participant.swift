public import TenfourAudioCore
public import TenfourPackets

/// A participant of a session: a sender of media, or one that only sends reports, such as a partner with a closed
/// microphone.
public struct Participant: Hashable, Sendable {
    public let ssrc: SSRC
    /// The name that the participant stated, without control characters; nil if none.
    public var name: String?
    public var endpoint: Endpoint
    /// The time of the participant's first packet or report.
    public var since: Instant
    /// Whether the participant is sending audio.
    public var isSending: Bool
    /// Whether the participant says that it transmits, and nothing has arrived for 1.8 s, or for 3 s where
    /// its packets were lost lately.
    public var isMissing = false
    /// The time in which the participant said that it transmitted, and nothing arrived. Shorter interruptions do not
    /// count.
    public var outage = Duration.zero
    /// The time at which the participant began or stopped sending audio.
    public var sendingChanged: Instant

    /// The time without media after which the microphone of a source counts as closed.
    static let pause = Duration.seconds(1)
}

/// Keeps the participants that report and send no audio. A participant is added with its first report, and removed with
/// its BYE or after a time-out.
struct Reporters: Sendable {
    private(set) var all: [Participant] = []
    /// The time of each participant's last report, in the order of `all`.
    private var lastReports: [Instant] = []
    /// The transmission that each participant states, in the order of `all`.
    private var transmissions: [StatedTransmission] = []
    /// The number of participants at the end of `all` that first appeared in the report that is being read.
    private var newCount = 0
    /// The participants that sent BYE last, the latest at the end. A report that arrives after the BYE of its sender is
    /// ignored.
    private var departed: [(ssrc: SSRC, at: Instant)] = []

    private static let maximumDepartedCount = 8
    /// The time after a BYE for which reports of its sender are ignored: the BYE may have overtaken them.
    private static let grace = Duration.seconds(5)
    /// The maximum number of reporters that are listed. Further reporters are ignored.
    private static let maximumCount = 32
    /// The maximum number of reporters at addresses that are not configured remotes. Further ones are ignored.
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
        transmissions.append(StatedTransmission())
        newCount += 1
    }

    /// The reporters at `now`.
    func all(at now: Instant) -> [Participant] {
        all.indices.map {
            var participant = all[$0]
            participant.outage = transmissions[$0].outage(at: now)
            return participant
        }
    }

    /// Whether any reporter states a status.
    var hasStated: Bool { transmissions.contains(where: \.isStated) }

    /// Returns the transmission that a reporter states; nil if none with this SSRC reports from `address`.
    func transmission(of ssrc: SSRC, at address: IPAddress) -> StatedTransmission? {
        index(of: ssrc).flatMap { all[$0].endpoint.address == address ? transmissions[$0] : nil }
    }

    /// Records whether a reporter says that it transmits.
    mutating func stated(_ isTransmitting: Bool, by ssrc: SSRC, at sender: Endpoint, _ now: Instant) {
        guard let index = index(of: ssrc), all[index].endpoint.address == sender.address else { return }
        transmissions[index].stated(isTransmitting, at: now)
    }

    /// The time at which the audio of a reporter will be missing; nil if none is expected.
    var missingDeadline: Instant? {
        transmissions.reduce(nil) { earlier($0, $1.deadline(lastPacket: nil, isLossy: false)) }
    }

    /// The time since which the audio of a reporter is missing; the latest of several.
    var missingSince: Instant? { transmissions.lazy.compactMap(\.outageBegin).max() }

    /// Determines whose audio is missing. Returns what has changed.
    mutating func updateMissing(at now: Instant) -> [Event] {
        var changed: [Event] = []
        for index in all.indices where transmissions[index].update(lastPacket: nil, isLossy: false, at: now) {
            all[index].isMissing = transmissions[index].isMissing
            changed.append(transmissions[index].event(of: all[index].ssrc))
        }
        return changed
    }

    mutating func recordGoodbye(_ ssrc: SSRC, at now: Instant) {
        if departed.count == Self.maximumDepartedCount { departed.removeFirst() }
        departed.append((ssrc, now))
    }

    /// Records the name of a reporter. Returns whether the name is new and the reporter was known before the present
    /// report.
    mutating func named(_ ssrc: SSRC, _ name: String, at sender: Endpoint) -> Bool {
        guard let index = index(of: ssrc), all[index].endpoint.address == sender.address, all[index].name != name
        else { return false }
        all[index].name = name
        return index < all.count - newCount
    }

    /// Returns the participants that first appeared in the report just read. The next call does not return them again.
    mutating func removeNew() -> ArraySlice<Participant> {
        defer { newCount = 0 }
        return all.suffix(newCount)
    }

    /// Removes and returns a reporter; nil if none with this SSRC reports from `address`.
    mutating func remove(_ ssrc: SSRC, at address: IPAddress) -> Participant? {
        guard let index = index(of: ssrc), all[index].endpoint.address == address else { return nil }
        lastReports.remove(at: index)
        transmissions.remove(at: index)
        if index >= all.count - newCount { newCount -= 1 }
        return all.remove(at: index)
    }

    /// Removes and returns the reporters that have not reported since `limit`.
    mutating func removeSilent(since limit: Instant) -> [Participant] {
        let gone = all.indices.filter { lastReports[$0] <= limit }.map { all[$0] }
        for participant in gone { _ = remove(participant.ssrc, at: participant.endpoint.address) }
        return gone
    }

    func knows(_ ssrc: SSRC) -> Bool { index(of: ssrc) != nil }

    /// Whether the participant first appeared in the report that is being read.
    func isNew(_ ssrc: SSRC) -> Bool { all.suffix(newCount).contains { $0.ssrc == ssrc } }

    /// The time of a reporter's last report; nil if none with this SSRC reports, from `address` if it is given.
    func lastReport(of ssrc: SSRC, at address: IPAddress? = nil) -> Instant? {
        guard let index = index(of: ssrc), address == nil || all[index].endpoint.address == address else { return nil }
        return lastReports[index]
    }

    /// The time of the last report of the reporter that has been silent longest.
    var earliestReport: Instant? { lastReports.min() }

    private func index(of ssrc: SSRC) -> Int? { all.firstIndex { $0.ssrc == ssrc } }
}
