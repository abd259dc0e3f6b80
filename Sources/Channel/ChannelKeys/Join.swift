internal import TenfourSession

/// JOIN: the cookie said back, who wants what, a share, and the proof of the join key over all of it.
public struct Join: Hashable, Sendable {
    public let nonce: UInt128
    public let cookie: Cookie
    /// Which join key proves it.
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

    /// Reads 128 bytes that are there.
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

    /// Whether who says it has `key`. The work is the same whatever the answer: where the channel is unknown, ask with a key
    /// that nobody has.
    public func isProved(by key: JoinKey) -> Bool { proof ^ expectedProof(of: key) == 0 }

    /// Appends 128 bytes.
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

/// A relay by the name that stands in a link, so that a JOIN for one relay is none for another.
public struct RelayID: Hashable, Sendable {
    let rawValue: UInt128

    init(rawValue: UInt128) { self.rawValue = rawValue }

    /// `host` as in a link: capitals count as small letters, an IPv6 address has no brackets and is one however it is written.
    public init(host: String, port: UInt16) {
        let host = host.contains(":") ? IPAddress(host).map { "\($0)" } ?? host : host
        let text = Array("tenfour 1 relay \(host.lowercased()):\(port)".utf8)
        rawValue = sha256(text.span).span.number(at: 0)
    }
}

/// REFUSAL: an answer to JOIN that is no session.
public struct Refusal: Hashable, Sendable {
    public enum Reason: UInt8, Sendable, CaseIterable {
        /// The channel is unknown, or the secret differs. Anybody may have said so.
        case unproved = 0
        case full = 1
        case limited = 2
        /// Not by this relay, or not in this role.
        case refused = 3
        /// The channel has a new secret.
        case rekeyed = 4
        case stopping = 5
        /// The station that answered its channel's members has left.
        case left = 6
        /// The channel is full, and the member's place went to one from a network with fewer members. In good-byes only.
        case displaced = 7
    }

    public let nonce: UInt128
    public let reason: Reason
    private var tag: UInt128

    static let byteCount = 40

    /// `key` is what `join` was checked against, be it one that nobody has.
    public init(of join: Join, for reason: Reason, key: JoinKey) {
        nonce = join.nonce
        self.reason = reason
        tag = 0
        tag = expectedTag(join, key)
    }

    /// Reads 40 bytes that are there.
    init(parsing datagram: Span<UInt8>) throws(ControlParseError) {
        guard let reason = Reason(rawValue: datagram[20]), reason != .displaced, datagram.isZero(in: 21..<24) else {
            throw .value
        }
        nonce = datagram.number(at: 4)
        self.reason = reason
        tag = datagram.number(at: 24)
    }

    /// Appends 40 bytes.
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
    /// The text for people.
    public var description: String {
        switch self {
        case .unproved: "the relay does not know this channel, or the secret differs"
        case .full: "the channel, or the relay, is full"
        case .limited: "too many join the relay at once"
        case .refused: "the relay goes by another name than the one in the link"
        case .rekeyed: "the channel has a new secret"
        case .stopping: "the relay is stopping"
        case .left: "the station that answered has left"
        case .displaced: "the channel is full, and your place was given to a member of another network"
        }
    }
}
