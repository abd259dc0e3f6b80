internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// A member whose packets come from another address has moved, or somebody repeats what it overheard. Who answers from there
/// to what only the member can open is believed.
extension Relay {
    /// Where a member may be.
    struct Path: Sendable {
        var endpoint: Endpoint
        var challenge: UInt128
        /// Bytes that came from there, less those that went there.
        var credit = 0
        var lastChallenge: Instant?

        static let interval = Duration.milliseconds(200)
        /// Of a sealed challenge.
        static let byteCount = 53
        static let maximumCredit = 4_096
    }

    /// Something right came from there, of `byteCount` bytes.
    mutating func suspectMove(of member: Int, to endpoint: Endpoint, _ byteCount: Int, at now: Instant) {
        var path = paths[member] ?? Path(endpoint: endpoint, challenge: newChallenge())
        if path.endpoint != endpoint {
            path.endpoint = endpoint
            path.challenge = newChallenge()
            path.credit = 0
        }
        path.credit = min(path.credit + byteCount, Path.maximumCredit)
        if path.credit >= Path.byteCount, path.lastChallenge.map({ now - $0 >= Path.interval }) ?? true {
            path.lastChallenge = now
            path.credit -= Path.byteCount
            outbox.put(.pathChallenge(path.challenge), for: member, of: &sessions, to: endpoint)
        }
        paths[member] = path
    }

    mutating func pathAnswer(
        _ answer: UInt128, of member: Int, from sender: Endpoint, at now: Instant
    ) -> Reception {
        guard let path = paths[member], path.endpoint == sender, path.challenge == answer, path.lastChallenge != nil
        else { return .discarded(.strayPathAnswer) }
        paths[member] = nil
        let channel = Int(sessions[member].channel)
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

    private mutating func newChallenge() -> UInt128 { UInt128(generator.next()) << 64 | UInt128(generator.next()) }
}
