internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPackets

/// What the talkers of one channel may do together: register SSRCs, be heard at the same time, and send bits.
extension Relay {
    /// An SSRC whose talker was silent for so long gives way to a new one, where a channel has no room for both.
    static let silenceBeforeDisplaced = Duration.seconds(5)

    /// Why a packet of `index` is beyond its channel's bounds; nil where it is within them.
    mutating func boundStream(
        _ index: TalkerIndex, of member: MemberID, _ ssrc: SSRC, _ byteCount: Int, at now: Instant
    ) -> RelayDiscard? {
        let channel = sessions.channel(of: member)
        if !channels.renewSlot(of: index, ssrc, in: channel, at: now) {
            guard talkers[index]?.claim == ssrc else { return .unannounced }
            guard channels[channel]?.takeSlot(index, ssrc, at: now) ?? false else { return .tooManyVoices }
        }
        return boundBits(byteCount, in: channel, at: now)
    }

    /// Counts bits that are to be forwarded in a channel. Returns the reason where they are too many.
    mutating func boundBits(_ byteCount: Int, in channel: ChannelIndex, at now: Instant) -> RelayDiscard? {
        channels.spend(byteCount, in: channel, at: now) ? nil : .tooManyChannelBits
    }

    /// Makes room for one more SSRC in a channel: that of the talker who was silent longest is free again, if that is long
    /// enough. False where there is no room.
    mutating func makeRoomForSSRC(in channel: ChannelIndex, of index: TalkerIndex, at now: Instant) -> Bool {
        guard let most = channels[channel]?.limits.channelTalkers else { return true }
        // One that takes another SSRC gives its own up.
        let ownCount = talkers[index]?.claim == nil ? 0 : 1
        // Where the limit was lowered there may be several too many.
        while let claimants = channels[channel]?.claimants, claimants.count - ownCount >= most {
            guard let silent = silentLongest(of: claimants, but: index, at: now),
                now - silent.since >= Self.silenceBeforeDisplaced
            else { return false }
            release(silent.index, at: now)
        }
        return true
    }

    private func silentLongest(of claimants: [MemberID], but index: TalkerIndex, at now: Instant) -> (
        index: TalkerIndex, since: Instant
    )? {
        var silent: (index: TalkerIndex, since: Instant)?
        for member in claimants {
            guard let other = sessions[member].talker, other != index, let since = talkers[other]?.silentSince,
                since < silent?.since ?? now
            else {
                continue
            }
            silent = (other, since)
        }
        return silent
    }
}

extension RelayedChannel {
    mutating func takeSlot(_ index: TalkerIndex, _ ssrc: SSRC, at now: Instant) -> Bool {
        slots.add(index, ssrc, of: limits.channelVoices, at: now)
    }

    /// Whether so many bytes more are within what is forwarded in a second, as much as two seconds at once.
    mutating func spend(_ byteCount: Int, at now: Instant) -> Bool {
        let cost = Int64(8 * byteCount) * 1_000_000_000 / Int64(max(limits.channelBitsPerSecond, 1))
        return bits.spend(cost, most: Self.savedBits, at: now.nanoseconds)
    }

    private static let savedBits: Int64 = 2_000_000_000
}
