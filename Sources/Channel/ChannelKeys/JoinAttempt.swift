/// A member's one attempt to join: HELLO, COOKIE, JOIN, WELCOME, without their timing.
///
/// Nothing that is not an answer to what it said changes it.
public struct JoinAttempt: Sendable {
    private let key: JoinKey
    private let relay: RelayID
    private let nonce: UInt128
    private let share: KeyShare
    /// One for each cookie, oldest first. Somebody on the path can answer HELLO before the relay does.
    private var joins: [Join] = []

    /// How many different cookies are answered: the relay's own, and false ones that came before it.
    public static let maximumCookieCount = 4

    /// Whether a relay has answered HELLO: JOIN is what it says now.
    public var hasCookie: Bool { !joins.isEmpty }
    /// How many datagrams are to be said again while there is no answer: HELLO, or the JOIN of each cookie.
    public var datagramCount: Int { max(joins.count, 1) }

    /// The meaning of the relay's datagram for the attempt.
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

    /// Appends what is to be said now: HELLO, and after a cookie its JOIN. 128 bytes.
    public func write(into datagram: inout OutputSpan<UInt8>) { write(datagramCount - 1, into: &datagram) }

    /// Appends what is to be said again, the one with that number below `datagramCount`. 128 bytes.
    public func write(_ number: Int, into datagram: inout OutputSpan<UInt8>) {
        if joins.indices.contains(number) {
            joins[number].write(into: &datagram)
        } else {
            ControlPacket.writeHello(nonce: nonce, into: &datagram)
        }
    }

    public mutating func receive(_ datagram: Span<UInt8>) -> Answer {
        switch try? ControlPacket(parsing: datagram) {
        case .cookie(let cookie, let answered) where answered == nonce:
            guard joins.count < Self.maximumCookieCount, !joins.contains(where: { $0.cookie == cookie }) else {
                return .nothing
            }
            joins.append(Join(nonce: nonce, cookie: cookie, key: key, relay: relay, share: share.point))
            return .cookie
        case .welcome:
            for join in joins {
                guard let opened = Welcome.open(datagram, to: join, key: key, share: share) else { continue }
                return .welcome(opened.terms, opened.keys)
            }
            return .nothing
        case .refusal(let refusal) where refusal.nonce == nonce:
            guard !joins.isEmpty else { return .nothing }
            if refusal.reason == .unproved { return .refusal(.unproved) }
            let isAuthentic = joins.contains { refusal.isAuthentic(for: $0, key: key) }
            return isAuthentic ? .refusal(refusal.reason) : .nothing
        default: return .nothing
        }
    }
}
