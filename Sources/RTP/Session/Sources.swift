public import TenfourAudioCore
internal import TenfourPackets

/// Who is there: sources come with their first packet, and go with a good-bye, in silence, or because others need the room.
extension RTPSession {
    enum SourceLookup {
        case source(Int)
        case refused(DiscardReason)
    }

    func index(of ssrc: SSRC) -> Int? { sources.firstIndex { $0.ssrc == ssrc } }

    /// The source, when what is said about it comes from the host that it sends from. Reports may come from another port.
    func index(of ssrc: SSRC, at sender: Endpoint) -> Int? {
        index(of: ssrc).flatMap { sources[$0].endpoint.address == sender.address ? $0 : nil }
    }

    /// Who a packet of media comes from.
    mutating func admit(_ ssrc: SSRC, from sender: Endpoint, at now: Instant) -> SourceLookup {
        if let index = index(of: ssrc) {
            return sources[index].sends(from: sender, at: now) ? .source(index) : .refused(.collision)
        }
        guard makeRoom(at: now) else { return .refused(.tooManySources) }
        listeners.remove(ssrc)
        var source = Source(ssrc: ssrc, endpoint: sender, at: now)
        let known = reporters.remove(ssrc, at: sender.address)
        if let known { (source.since, source.name) = (known.since, known.name) }
        sources.append(source)
        watch(source)
        events.post(.sourceAppeared(ssrc, from: sender))
        if let name = known?.name { events.post(.sourceNamed(ssrc, name)) }
        return .source(sources.count - 1)
    }

    /// A report came: whoever sent it is there, even if silent. But not a stranger where there is no group: nothing of ours
    /// goes there, and we are not to report the less often for it.
    mutating func reportArrived(from ssrc: SSRC, at sender: Endpoint, _ now: Instant) {
        guard ssrc != self.ssrc else { return }
        guard index(of: ssrc) != nil else {
            if configuration.isGroup || isReceiver(sender) { listeners.heard(ssrc, at: now) }
            reporterHeard(ssrc, at: sender, now)
            return
        }
        guard let index = index(of: ssrc, at: sender) else { return }
        sources[index].reportArrived(at: now)
    }

    /// A source leaves a moment after its good-bye, which may have overtaken its last packets.
    mutating func goodbyeArrived(from ssrc: SSRC, at sender: Endpoint, reason: String, _ now: Instant) {
        listeners.remove(ssrc)
        reporterLeft(ssrc, at: sender, reason: reason, now)
        receivers.remove(ssrc, at: sender.address)
        if let index = index(of: ssrc, at: sender), sources[index].goodbye == nil {
            sources[index].goodbye = (reason, now)
            watch(sources[index])
        }
        schedule.membersLeft(membership(at: now), at: now)
    }

    mutating func removeGoneSources(at now: Instant) {
        let timeout = memberTimeout
        for source in sources where source.expiry(memberTimeout: timeout) <= now { remove(source) }
        removeSilentReporters(at: now)
        sourceDeadline = sources.lazy.map { $0.expiry(memberTimeout: timeout) }.min()
        if let silent = reporters.earliestReport {
            sourceDeadline = min(sourceDeadline ?? silent + timeout, silent + timeout)
        }
    }

    /// A packet with our SSRC has come (RFC 3550 section 8.2): our own, looped, or that of another station which chose
    /// the same. For the latter we say good-bye under the old SSRC and take a new one, at most once in
    /// `collisionInterval`.
    mutating func receiveOwnSSRC(_ header: RTPHeader, at now: Instant) -> DiscardReason {
        guard !sentPackets.contains(header) else { return .loop }
        if let lastCollision, now - lastCollision < Self.collisionInterval { return .collision }
        lastCollision = now
        takeAnotherSSRC(at: now)
        return .collision
    }

    /// Says good-bye under our SSRC, which is another station's, and takes a new one: `identityChanged` tells which. For a
    /// caller who knows of it by other ways than packets.
    public mutating func takeAnotherSSRC(at now: Instant) {
        sendGoodbye(at: now)
        let old = ssrc
        repeat {
            identity.ssrc = SSRC(UInt32(truncatingIfNeeded: identity.draw()))
        } while ssrc == old || index(of: ssrc) != nil
        sendStream.beginAnew()
        sentDatagrams.removeAll()
        events.post(.identityChanged(ssrc))
    }

    /// Our SSRC changes for a collision at most once in this time. Chance makes one collision in four thousand million.
    /// A station that made many would otherwise keep us from being heard.
    public static let collisionInterval = Duration.seconds(60)

    /// Where all places are taken, the source that has been silent longest gives up its own, unless it is still talking.
    private mutating func makeRoom(at now: Instant) -> Bool {
        guard sources.count >= Self.maximumSourceCount else { return true }
        guard let quietest = sources.min(by: { $0.lastPacket < $1.lastPacket }),
            now - quietest.lastPacket > Source.longestPause
        else { return false }
        remove(quietest)
        return true
    }

    private mutating func remove(_ source: Source) {
        guard let index = index(of: source.ssrc) else { return }
        sources.remove(at: index)
        events.post(.sourceLeft(source.ssrc, reason: source.goodbye?.reason))
    }

    private mutating func watch(_ source: Source) {
        let expiry = source.expiry(memberTimeout: memberTimeout)
        sourceDeadline = sourceDeadline.map { min($0, expiry) } ?? expiry
    }

    var memberTimeout: Duration {
        schedule.memberTimeout(listenerCount: listeners.count, sourceCount: sources.count)
    }
}
