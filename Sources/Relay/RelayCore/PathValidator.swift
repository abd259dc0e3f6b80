internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Checks that a member whose packets arrive from a new address really has moved there. Only the member can answer an
/// encrypted challenge, while an eavesdropper could replay its packets from any address.
struct PathValidator: Sendable {
    private var paths: [MemberID: Path] = [:]

    /// A member's new address, which is not validated yet.
    private struct Path: Sendable {
        var endpoint: Endpoint
        var challenge: UInt128
        /// The number of bytes received from the address, minus the number of bytes sent to it.
        var credit = 0
        var lastChallenge: Instant?
    }

    private static let interval = Duration.milliseconds(200)
    /// The length of an encrypted challenge record, in bytes.
    static let challengeByteCount = 53
    /// The maximum of `Path.credit`, in bytes. Bytes received beyond it are not counted.
    private static let maximumCredit = 4_096

    /// Records an authentic datagram of `byteCount` bytes from `endpoint`, which is not the member's address. Returns
    /// the challenge to send to `endpoint`; nil if none is due, or if fewer bytes have arrived from `endpoint` than a
    /// challenge has.
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

    /// Whether `answer` matches the challenge sent to `sender`. If so, `sender` is the member's valid address, and the
    /// state of the challenge is removed.
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
