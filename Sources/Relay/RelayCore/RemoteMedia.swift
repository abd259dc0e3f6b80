public import TenfourAudioCore
internal import TenfourChannelKeys
public import TenfourPackets
internal import TenfourSession

/// Receives the datagrams of talkers of the other relays of the cluster, which are forwarded to this relay's members and
/// nowhere else.
extension Relay {
    /// The result of receiving a datagram of another relay.
    public enum RemoteReception: Hashable, Sendable {
        /// The datagram is to be forwarded to all members of the channel. `stream` is the number of its stream; it is
        /// negative, as that of no talker of this relay is.
        case forward(stream: Int)
        /// A repeated packet; nothing is forwarded.
        case handled
        case discarded(RelayDiscard)
    }

    public mutating func receive(
        _ datagram: Span<UInt8>, of channel: ChannelIndex, from relay: BootID, at now: Instant
    ) -> RemoteReception {
        let reception = read(datagram, of: channel, from: relay, at: now)
        if case .discarded(let reason) = reception { count(.discarded(reason)) }
        return reception
    }

    private mutating func read(
        _ datagram: Span<UInt8>, of channel: ChannelIndex, from relay: BootID, at now: Instant
    ) -> RemoteReception {
        guard channels[channel] != nil, datagram.count > RTPHeader.byteCount,
            datagram.count <= Self.maximumMediaByteCount
        else { return .discarded(.malformedMedia) }
        if datagram[0] == ControlPacket.firstByte {
            return remoteAnnouncement(datagram, of: channel, from: relay, at: now)
        }
        guard 128...191 ~= datagram[0], !RTCPCompound.isRTCP(secondByte: datagram[1]) else {
            return .discarded(.malformedMedia)
        }
        let ssrc = SSRC(datagram.uint32(at: 8))
        guard let index = remotes.index(of: ssrc, in: channel), remotes[index]?.rank.relay == relay else {
            return .discarded(.unannounced)
        }
        let slot = TalkerIndex(remote: index)
        if !channels.renewSlot(of: slot, ssrc, in: channel, at: now) {
            guard channels[channel]?.takeSlot(slot, ssrc, at: now) ?? false else { return .discarded(.tooManyVoices) }
        }
        if let reason = boundBits(datagram.count, in: channel, at: now) { return .discarded(reason) }
        if remotes[index]?.stream == nil, let limits = channels[channel]?.limits {
            remotes.begin(TalkerStream(ssrc, limits, remotes[index]?.counts, at: now), of: index, at: now)
        }
        guard let arrival = remotes.packetArrived(datagram, of: ssrc, index, at: now) else { return .handled }
        if let due = arrival.missesDue { remotes.expect(due) }
        if arrival.reception == .duplicate { return .handled }
        channels.heardMedia(of: ssrc, fromRelay: relay, in: channel, at: now)
        if channels.hasFloorOutput(in: channel) { sendFloorMessages(of: channel, at: now) }
        channels.countForwarded(datagram.count, in: channel)
        return .forward(stream: -1 - 2 * index)
    }

    private mutating func remoteAnnouncement(
        _ datagram: Span<UInt8>, of channel: ChannelIndex, from relay: BootID, at now: Instant
    ) -> RemoteReception {
        guard case .announcement(let announcement)? = try? ControlPacket(parsing: datagram) else {
            return .discarded(.malformedMedia)
        }
        guard let index = remotes.index(of: announcement.ssrc, in: channel), remotes[index]?.rank.relay == relay else {
            return .discarded(.unannounced)
        }
        if let reason = boundBits(datagram.count, in: channel, at: now) { return .discarded(reason) }
        remotes.announced(datagram, of: announcement.epoch, index, at: now)
        channels.countForwarded(datagram.count, in: channel)
        return .forward(stream: -2 - 2 * index)
    }

    // MARK: - Claims

    /// Whether a talker of another relay has the SSRC of an announcement, and is not the talker that makes it.
    func isTakenRemotely(by announcement: AnnouncedEpoch, in channel: ChannelIndex) -> Bool {
        guard let remote = remotes[announcement.ssrc, in: channel] else { return false }
        return remote.rank.epoch != announcement.epoch
    }

    /// Whether the talker of another relay has made a later announcement there. The talker has then left this relay, and
    /// its announcement has waited while the relay stood still.
    func isOutdated(_ announcement: AnnouncedEpoch, in channel: ChannelIndex) -> Bool {
        guard let remote = remotes[announcement.ssrc, in: channel],
            case .announcement(let latest)? = try? ControlPacket(parsing: remote.announcement.span)
        else { return false }
        return announcement.index <= latest.index
    }

    /// Ends the claim of a talker that has come from another relay, and continues its counts. Sets the time of the new
    /// claim, so that it is later than the old one.
    mutating func takeOverRemote(_ ssrc: SSRC, in channel: ChannelIndex, by talker: TalkerIndex, at now: Instant) {
        var milliseconds = wallClock(at: now).sinceEpoch
        if let index = remotes.index(of: ssrc, in: channel), let remote = remotes[index] {
            milliseconds = max(milliseconds, remote.rank.milliseconds + 1)
            talkers[talker]?.counts = remote.stream?.counts ?? remote.counts
            removeRemote(index)
        }
        talkers[talker]?.claimMilliseconds = milliseconds
    }

    /// Releases the claim of a talker of another relay with BYE to the members.
    mutating func releaseRemote(_ index: Int, at now: Instant) {
        guard let talker = remotes[index] else { return }
        removeRemote(index)
        sendGoodbye(of: talker.ssrc, in: talker.channel, except: nil, at: now)
    }

    mutating func removeRemote(_ index: Int) {
        guard let talker = remotes[index] else { return }
        channels[talker.channel]?.slots.remove(TalkerIndex(remote: index))
        remotes.remove(index)
    }

    /// Sends a new member the last announcements of the talkers of other relays, unless they are too old.
    mutating func sendRemoteAnnouncements(to member: MemberID, at now: Instant) {
        for index in remotes.indices(in: sessions[member].channel) {
            guard let talker = remotes[index], !talker.announcement.isEmpty,
                now - talker.announcedAt < .milliseconds(Int(Announcement.maximumClockError))
            else { continue }
            if hasRoomForMembers { outbox.put(repeated: talker.announcement.span, for: member, of: &sessions) }
        }
    }

    // MARK: - Time

    /// Asks for missing packets, reports what the members say, ends silent streams, and releases claims of relays that
    /// are gone.
    mutating func pollRemoteTalkers(at now: Instant) {
        guard let deadline = remotes.deadline, deadline <= now else { return }
        for index in remotes.indices {
            guard let talker = remotes[index] else { continue }
            if let end = talker.heldUntil, end <= now {
                releaseRemote(index, at: now)
                continue
            }
            guard let stream = talker.stream, stream.nextDeadline <= now else { continue }
            let numbers = remotes.nextRequests(of: index, at: now)
            if !numbers.isEmpty, talker.heldUntil == nil {
                clusterRequests.append(.nack(talker.rank.relay, talker.channel, talker.ssrc, numbers))
            }
            if stream.nextReport <= now { report(talker, stream, index, at: now) }
            if stream.isOver(at: now) { remotes.endStream(of: index) }
        }
        var next: Instant?
        for channel in channels.indices where channels[channel]?.remoteMembers.deadline != nil {
            if channels[channel]?.remoteMembers.expire(at: now) ?? false { mergeRoster(of: channel, at: now) }
            if let due = channels[channel]?.remoteMembers.deadline { next = next.map { min($0, due) } ?? due }
        }
        remotes.updateDeadline(next)
    }

    private mutating func report(_ talker: RemoteTalker, _ stream: TalkerStream, _ index: Int, at now: Instant) {
        remotes.reported(index, at: now)
        let verdict = ListenersVerdict(stream.views, at: now) { sessions[$0].endpoint.address.linePrefix }
        guard let verdict, talker.heldUntil == nil else { return }
        let summary = ListenersSummary(
            lineCount: UInt32(clamping: verdict.lineCount), fractionLost: verdict.fractionLost,
            redPayloadType: verdict.redPayloadType ?? .max, hasDeepConcealment: verdict.concealment == .deep,
            depth: UInt16(clamping: Int((verdict.depth ?? .zero) / .milliseconds(1))))
        clusterRequests.append(.report(talker.rank.relay, talker.channel, talker.ssrc, summary))
    }
}

/// Requests and reports of the cluster's other relays that concern this relay's own talkers.
extension Relay {
    /// Passes a stored packet of a talker of this relay to `body`. Does nothing if it is not stored, or is too old.
    public func withPacket(
        _ number: SequenceNumber, of ssrc: SSRC, in channel: ChannelIndex, at now: Instant,
        _ body: (Span<UInt8>) -> Void
    ) {
        guard let index = ownTalker(ssrc, in: channel), let ring = talkers[index]?.stream?.ring,
            let packet = ring.packet(number, at: now)
        else { return }
        ring.withBytes(packet, body)
    }

    /// Keeps what the members of another relay say about a talker of this relay.
    public mutating func report(
        _ summary: ListenersSummary, about ssrc: SSRC, in channel: ChannelIndex, from relay: BootID, at now: Instant
    ) {
        guard let index = ownTalker(ssrc, in: channel) else { return }
        talkers[index]?.stream?.remoteViews[relay] = RemoteView(summary, at: now)
    }

    private func ownTalker(_ ssrc: SSRC, in channel: ChannelIndex) -> TalkerIndex? {
        ssrcs[ssrc]?.first { sessions[$0].channel == channel }.flatMap { sessions[$0].talker }
    }
}

/// The last summary of another relay of the cluster about its listeners of a talker.
struct RemoteView: Sendable {
    var lineCount: Int
    var view: ListenerView

    /// More access lines than these do not count, so that a summary costs little.
    private static let mostLines: UInt32 = 1_000

    init(_ summary: ListenersSummary, at now: Instant) {
        lineCount = Int(min(summary.lineCount, Self.mostLines))
        view = ListenerView(summary.fractionLost, nil, at: now)
        view.redPayloadType = summary.redPayloadType
        view.depth = summary.depth
        view.concealment = summary.hasDeepConcealment ? .deep : .plain
    }
}
