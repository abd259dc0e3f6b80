internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Proves that a member whose packets come from another address has moved there: only the member can answer a sealed
/// challenge. An eavesdropper may repeat its packets from anywhere.
struct PathValidator: Sendable {
    private var paths: [MemberID: Path] = [:]

    /// An address where a member may be.
    private struct Path: Sendable {
        var endpoint: Endpoint
        var challenge: UInt128
        /// Bytes that came from the address, less those that went there.
        var credit = 0
        var lastChallenge: Instant?
    }

    private static let interval = Duration.milliseconds(200)
    /// The length of a sealed challenge.
    static let challengeByteCount = 53
    private static let maximumCredit = 4_096

    /// Takes an authentic datagram of `byteCount` bytes from `endpoint`, where the member is not known to be. Returns the
    /// challenge to send there, if one is due and no longer than what came.
    mutating func datagramArrived(
        of member: MemberID, from endpoint: Endpoint, byteCount: Int, using generator: inout CSPRNG, at now: Instant
    ) -> UInt128? {
        var path = paths[member] ?? Path(endpoint: endpoint, challenge: Self.draw(using: &generator))
        if path.endpoint != endpoint {
            path = Path(endpoint: endpoint, challenge: Self.draw(using: &generator), lastChallenge: path.lastChallenge)
        }
        path.credit = min(path.credit + byteCount, Self.maximumCredit)
        let isDue =
            path.credit >= Self.challengeByteCount
            && path.lastChallenge.map { now - $0 >= Self.interval } ?? true
        if isDue {
            path.lastChallenge = now
            path.credit -= Self.challengeByteCount
        }
        paths[member] = path
        return isDue ? path.challenge : nil
    }

    /// Whether an answer from `sender` is that to the challenge sent there. If it is, the path is valid and forgotten.
    mutating func validate(_ answer: UInt128, of member: MemberID, from sender: Endpoint) -> Bool {
        guard let path = paths[member], path.endpoint == sender, path.challenge == answer, path.lastChallenge != nil
        else { return false }
        paths[member] = nil
        return true
    }

    mutating func remove(_ member: MemberID) { paths[member] = nil }

    private static func draw(using generator: inout CSPRNG) -> UInt128 {
        UInt128(generator.next()) << 64 | UInt128(generator.next())
    }
}
