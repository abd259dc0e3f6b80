internal import TenfourSession

/// JOIN: the relay's cookie, the channel, relay and role, the member's X25519 public key, and a proof that the member
/// has the join key.
public struct Join: Hashable, Sendable {
    public let nonce: UInt128
    public let cookie: Cookie
    /// Identifies the channel, and the join key with which the sender proves its role.
    public let channelID: UInt128
    public let relay: RelayID
    public let role: Role
    let share: SharePoint
    private var proof: UInt128

    static let byteCount = 128

    init(nonce: UInt128, cookie: Cookie, key: JoinKey, relay: RelayID, share: SharePoint) {
        self.nonce = nonce
        self.cookie = cookie
        channelID = key.channelID
        self.relay = relay
        role = key.role
        self.share = share
        proof = 0
        proof = expectedProof(of: key)
    }

    /// Parses a JOIN of 128 bytes; the caller must have checked the length.
    init(parsing datagram: Span<UInt8>) throws(ControlParseError) {
        guard let role = Role(rawValue: datagram[72]), datagram.isZero(in: 73..<80) else { throw .value }
        nonce = datagram.number(at: 4)
        cookie = Cookie(parsing: datagram, at: 20)
        channelID = datagram.number(at: 40)
        relay = RelayID(rawValue: datagram.number(at: 56))
        self.role = role
        share = SharePoint(parsing: datagram, at: 80)
        proof = datagram.number(at: 112)
    }

    /// Whether the sender of this JOIN has `key`. The check takes the same time for either result. For an unknown
    /// channel, pass a dummy key.
    public func isProved(by key: JoinKey) -> Bool { proof ^ expectedProof(of: key) == 0 }

    /// Appends the 128 bytes of the JOIN.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        writeUnproved(into: &datagram)
        datagram.append(number: proof)
    }

    private func writeUnproved(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .join)
        datagram.append(number: nonce)
        cookie.write(into: &datagram)
        datagram.append(number: channelID)
        datagram.append(number: relay.rawValue)
        datagram.append(role.rawValue)
        datagram.append(zeros: 7)
        share.write(into: &datagram)
    }

    private func expectedProof(of key: JoinKey) -> UInt128 {
        var bytes = InlineArray<112, UInt8>(repeating: 0)
        fill(&bytes) { writeUnproved(into: &$0) }
        return shortMAC(key: HKDF.expand(key.bytes, "join", count: 32)) { $0.update(bytes.span) }
    }
}

/// Identifies a relay by the host and port in a link, so that a JOIN for one relay is not valid at another.
public struct RelayID: Hashable, Sendable {
    let rawValue: UInt128

    init(rawValue: UInt128) { self.rawValue = rawValue }

    /// Makes the id from `host` and `port` of a link. Capitals count as small letters; an IPv6 address has no brackets,
    /// and all its notations give the same id.
    public init(host: String, port: UInt16) {
        let host = host.contains(":") ? IPAddress(host).map { "\($0)" } ?? host : host
        let text = Array("tenfour 1 relay \(host.lowercased()):\(port)".utf8)
        rawValue = sha256(text.span).span.number(at: 0)
    }
}

/// REFUSAL: the relay's answer to a JOIN that it rejects.
public struct Refusal: Hashable, Sendable {
    public enum Reason: UInt8, Sendable, CaseIterable {
        /// The relay does not know the channel, or the member's secret is wrong. Anybody may have sent a refusal with
        /// this reason, because it is not authenticated.
        case unproved = 0
        case full = 1
        case limited = 2
        /// The JOIN is for another relay, or for another role than the role of its join key. In a GOODBYE, this reason
        /// means that the channel has been removed.
        case refused = 3
        /// The channel has a new secret.
        case rekeyed = 4
        case stopping = 5
        /// The endpoint that ran the relay has left the channel.
        case left = 6
        /// The channel is full, and this member's slot was given to a member from a network with fewer members. This
        /// reason occurs only in a GOODBYE.
        case displaced = 7
    }

    public let nonce: UInt128
    public let reason: Reason
    private var tag: UInt128

    static let byteCount = 40

    /// Makes and authenticates the refusal of `join`. `key` must be the key that `join` was checked with, even if it
    /// was a dummy key.
    public init(of join: Join, for reason: Reason, key: JoinKey) {
        nonce = join.nonce
        self.reason = reason
        tag = 0
        tag = expectedTag(join, key)
    }

    /// Parses a REFUSAL of 40 bytes; the caller must have checked the length.
    init(parsing datagram: Span<UInt8>) throws(ControlParseError) {
        guard let reason = Reason(rawValue: datagram[20]), reason != .displaced, datagram.isZero(in: 21..<24) else {
            throw .value
        }
        nonce = datagram.number(at: 4)
        self.reason = reason
        tag = datagram.number(at: 24)
    }

    /// Appends the 40 bytes of the REFUSAL.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        writeUntagged(into: &datagram)
        datagram.append(number: tag)
    }

    func isAuthentic(for join: Join, key: JoinKey) -> Bool { tag ^ expectedTag(join, key) == 0 }

    private func writeUntagged(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .refusal)
        datagram.append(number: nonce)
        datagram.append(reason.rawValue)
        datagram.append(zeros: 3)
    }

    private func expectedTag(_ join: Join, _ key: JoinKey) -> UInt128 {
        var bytes = InlineArray<152, UInt8>(repeating: 0)
        fill(&bytes) {
            join.write(into: &$0)
            writeUntagged(into: &$0)
        }
        return shortMAC(key: HKDF.expand(key.bytes, "refusal", count: 32)) { $0.update(bytes.span) }
    }
}

extension Refusal.Reason: CustomStringConvertible {
    /// The text shown to people.
    public var description: String {
        switch self {
        case .unproved: "the relay does not know this channel, or the link's secret is wrong"
        case .full: "the channel or the relay is full"
        case .limited: "too many members are joining the relay at the same time"
        case .refused: "the relay does not accept the host name in the link"
        case .rekeyed: "the channel has a new secret"
        case .stopping: "the relay is stopping"
        case .left: "the station that forwards the channel has left"
        case .displaced:
            "the channel is full, and the relay has removed this station in favour of a member of another network"
        }
    }
}
