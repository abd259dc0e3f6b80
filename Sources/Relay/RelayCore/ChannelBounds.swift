internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPackets

/// Limits on all talkers of a channel together: registered SSRCs, simultaneous talkers, and bits per second.
extension Relay {
    /// The time without a packet after which a talker may lose its SSRC to a new talker, if the channel has reached its
    /// limit of SSRCs.
    static let silenceBeforeDisplaced = Duration.seconds(5)

    /// Checks a packet of a talker against the limits of its channel. Returns the reason to drop it; nil if the packet
    /// is within the limits.
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

    /// Counts the bits of a datagram to be forwarded in a channel. Returns the reason to drop the datagram if the bits
    /// exceed the channel's bit rate; nil if they do not.
    mutating func boundBits(_ byteCount: Int, in channel: ChannelIndex, at now: Instant) -> RelayDiscard? {
        channels.spend(byteCount, in: channel, at: now) ? nil : .tooManyChannelBits
    }

    /// Makes room for one more SSRC in a channel. If the channel is full, releases the SSRC of the talker that has been
    /// silent longest, provided that its silence has lasted at least `silenceBeforeDisplaced`. Returns false if there
    /// is no room.
    mutating func makeRoomForSSRC(in channel: ChannelIndex, of index: TalkerIndex, at now: Instant) -> Bool {
        guard let most = channels[channel]?.limits.channelTalkers else { return true }
        // Does not count the talker's former SSRC, because the talker gives it up when it registers another SSRC.
        let ownCount = talkers[index]?.claim == nil ? 0 : 1
        // Releases several SSRCs if the limit was lowered, and one SSRC if the channel is full.
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

    /// Counts `byteCount` bytes against the bit rate of the channel, which allows a burst of two seconds. Returns false
    /// if the bytes exceed the bit rate.
    mutating func spend(_ byteCount: Int, at now: Instant) -> Bool {
        let cost = Int64(8 * byteCount) * 1_000_000_000 / Int64(max(limits.channelBitsPerSecond, 1))
        return bits.spend(cost, most: Self.savedBits, at: now.nanoseconds)
    }

    private static let savedBits: Int64 = 2_000_000_000
}
