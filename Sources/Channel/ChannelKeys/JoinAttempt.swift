/// A member's attempt to join: writes HELLO and JOIN, and reads COOKIE, WELCOME and REFUSAL. The caller decides when to
/// send a message.
///
/// Datagrams that do not answer this attempt change nothing.
public struct JoinAttempt: Sendable {
    private let key: JoinKey
    private let relay: RelayID
    private let nonce: UInt128
    private let share: KeyShare
    /// One JOIN for each cookie, oldest first. There may be several, because an attacker on the path can answer HELLO
    /// with a forged cookie before the relay.
    private var joins: [Join] = []

    /// The maximum number of different cookies that are answered with a JOIN: the relay's cookie, and forged cookies
    /// that arrived earlier. Further cookies are ignored.
    public static let maximumCookieCount = 4

    /// Whether a COOKIE has answered HELLO. From then on, JOIN is sent instead of HELLO.
    public var hasCookie: Bool { !joins.isEmpty }
    /// The number of datagrams to repeat while there is no answer: one HELLO, or one JOIN for each cookie.
    public var datagramCount: Int { max(joins.count, 1) }

    /// The result of receiving a datagram during the attempt to join.
    public enum Answer: Sendable {
        /// The datagram contains a new cookie. The caller must send the JOIN for it.
        case cookie
        case welcome(Welcome.Terms, SessionKeys)
        /// The relay refused the JOIN. The reason `unproved` is only a hint, because anybody may have sent it.
        case refusal(Refusal.Reason)
        /// The datagram belongs to another attempt, is a repetition, or is not authentic.
        case nothing
    }

    /// Begins an attempt to join, with a random nonce and a random X25519 key pair. `generator` must be unpredictable.
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

    /// Appends the next datagram to send, 128 bytes: HELLO, or the JOIN for the latest cookie.
    public func write(into datagram: inout OutputSpan<UInt8>) { write(datagramCount - 1, into: &datagram) }

    /// Appends one of the datagrams to repeat, 128 bytes. `number` is its index, 0..<`datagramCount`.
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
