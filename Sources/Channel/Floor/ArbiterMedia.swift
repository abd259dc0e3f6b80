public import TenfourAudioCore
public import TenfourPackets

extension FloorArbiter {
    /// Takes note of a packet of a member. Returns whether the relay may forward it: false only in a channel that
    /// requires the floor. A member that knows no floor control is given an idle floor. Allocates nothing while the
    /// talker talks.
    public mutating func heardMedia(of ssrc: SSRC, from id: FloorMemberID, at now: Instant) -> Bool {
        guard isActive else { return true }
        if let talker, talker.member == id {
            self.talker?.lastHeard = now
            return true
        }
        guard let member = members[id] else { return !configuration.isRequired }
        if talker == nil {
            // One that has asked about a required floor knows that it must request it.
            if member.isAware || configuration.isRequired && member.hasAsked {
                // The end of a talkspurt may arrive after the release, and disturbs nobody.
                if !configuration.isRequired || member.tailEnd.map({ now < $0 }) ?? false { return true }
                members[id]!.counts.unpermittedPacketCount += 1
                return false
            }
            guard member.mayTalk, !isPausing(id, at: now) else {
                members[id]!.counts.unpermittedPacketCount += 1
                return !configuration.isRequired
            }
            if let end = takeoverEnd, now < end { return true }
            begin(id, 0, ssrc, .normal, isUnaware: true, at: now)
            return true
        }
        members[id]!.counts.unpermittedPacketCount += 1
        return !configuration.isRequired
    }

    /// Whether a member that knows no floor control has talked too long, and has not been silent since. It cannot release its
    /// key for the arbiter to see, so the pause lasts until nothing has come from it for longer than between packets of speech.
    private mutating func isPausing(_ id: FloorMemberID, at now: Instant) -> Bool {
        guard let end = members[id]?.pausedUntil, now < end else { return false }
        members[id]!.pausedUntil = max(end, now + FloorTiming.quietTalker)
        return true
    }
}
