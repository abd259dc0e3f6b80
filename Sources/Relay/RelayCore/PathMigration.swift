internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Moves members to a new transport address after they have proved that they receive at this address.
extension Relay {
    /// Handles an authentic datagram of `byteCount` bytes from an address that is not the address of `member`. Sends a
    /// challenge to this address if one is due.
    mutating func suspectMove(of member: MemberID, to endpoint: Endpoint, _ byteCount: Int, at now: Instant) {
        let challenge = paths.datagramArrived(
            of: member, from: endpoint, byteCount: byteCount, using: &generator, at: now)
        if let challenge { outbox.put(.pathChallenge(challenge), for: member, of: &sessions, to: endpoint) }
    }

    mutating func pathAnswerArrived(
        _ answer: UInt128, of member: MemberID, from sender: Endpoint, at now: Instant
    ) -> Reception {
        guard paths.validate(answer, of: member, from: sender) else { return .discarded(.strayPathAnswer) }
        let channel = sessions[member].channel
        endThose(at: sender, in: channel, .joined, but: member, at: now)
        movePlace(member, to: sender.address)
        sessions.move(member, to: sender)
        renew(member, at: now)
        let isTalking = isTalking(member)
        if isTalking { post(.quiet(member: member)) }
        post(.moved(member: member, channel: channel, sender))
        if isTalking { post(.talking(member: member, sender)) }
        return .handled
    }
}
