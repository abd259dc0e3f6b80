/// A member's one attempt to join: HELLO, COOKIE, JOIN, WELCOME, without their timing.
///
/// Nothing that is not an answer to what it said changes it.
public struct Joining: Sendable {
    private let key: JoinKey
    private let relay: RelayID
    private let nonce: UInt128
    private let share: KeyShare
    private var join: Join?

    /// Whether a relay has answered HELLO: JOIN is what it says now.
    public var hasCookie: Bool { join != nil }

    /// What a datagram of the relay's is to it.
    public enum Answer: Sendable {
        /// JOIN is due.
        case cookie
        case welcome(Welcome.Terms, SessionKeys)
        /// `unproved` is a hint only: anybody may have said so.
        case refusal(Refusal.Reason)
        /// Of another attempt, said again, or not authentic.
        case nothing
    }

    /// `generator` must be one that nobody can foretell. For each attempt anew.
    public init(_ key: JoinKey, relay: RelayID, using generator: inout some RandomNumberGenerator) {
        self.init(
            key, relay: relay, nonce: .random(in: 0 ... .max, using: &generator), share: KeyShare(using: &generator))
    }

    init(_ key: JoinKey, relay: RelayID, nonce: UInt128, share: KeyShare) {
        self.key = key
        self.relay = relay
        self.nonce = nonce
        self.share = share
    }

    /// Appends what is to be said now, and again until it is answered: HELLO, and after the cookie JOIN. 128 bytes.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        if let join {
            join.write(into: &datagram)
        } else {
            ControlPacket.writeHello(nonce: nonce, into: &datagram)
        }
    }

    public mutating func receive(_ datagram: Span<UInt8>) -> Answer {
        switch try? ControlPacket(parsing: datagram) {
        case .cookie(let cookie, let answered) where answered == nonce && join == nil:
            join = Join(nonce: nonce, cookie: cookie, key: key, relay: relay, share: share.point)
            return .cookie
        case .welcome:
            guard let join, let opened = Welcome.open(datagram, to: join, key: key, share: share) else {
                return .nothing
            }
            return .welcome(opened.terms, opened.keys)
        case .refusal(let refusal) where refusal.nonce == nonce:
            guard let join else { return .nothing }
            if refusal.reason == .unproved { return .refusal(.unproved) }
            return refusal.isAuthentic(for: join, key: key) ? .refusal(refusal.reason) : .nothing
        default: return .nothing
        }
    }
}
