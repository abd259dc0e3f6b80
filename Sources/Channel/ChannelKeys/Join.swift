internal import TenfourSession

/// JOIN or JOIN2: the relay's cookie, the channel, relay and role, the member's part of the key exchange, and a proof that
/// the member has the join key.
public struct Join: Hashable, Sendable {
    public let nonce: UInt128
    public let cookie: Cookie
    /// Identifies the channel, and the join key with which the sender proves its role.
    public let channelID: UInt128
    public let relay: RelayID
    public let role: Role
    let exchange: KeyExchange
    private var proof: UInt128

    /// The member's part of the key exchange.
    enum KeyExchange: Hashable, Sendable {
        /// JOIN: an X25519 public key. Everybody with the join key can answer.
        case share(SharePoint)
        /// JOIN2: message 1 of a Noise handshake. Only the relay with the expected static key can answer.
        case noise(NoiseRequest)
    }

    /// The length of a JOIN; a JOIN2 has `longestByteCount`.
    static let byteCount = 128
    static let longestByteCount = 192
    private static let headByteCount = 80
    private static let proofByteCount = 16

    init(nonce: UInt128, cookie: Cookie, key: JoinKey, relay: RelayID, share: SharePoint) {
        self.init(nonce, cookie, key, relay, .share(share))
    }

    /// Makes a JOIN2. `request` makes message 1 of the Noise handshake with the given prologue, or returns nil.
    init?(
        nonce: UInt128, cookie: Cookie, key: JoinKey, relay: RelayID,
        request: (_ prologue: [UInt8]) -> NoiseRequest?
    ) {
        let head = Join(nonce, cookie, key, relay, .noise(NoiseRequest()))
        guard let request = request(head.prologue) else { return nil }
        self.init(nonce, cookie, key, relay, .noise(request))
    }

    private init(_ nonce: UInt128, _ cookie: Cookie, _ key: JoinKey, _ relay: RelayID, _ exchange: KeyExchange) {
        self.nonce = nonce
        self.cookie = cookie
        channelID = key.channelID
        self.relay = relay
        role = key.role
        self.exchange = exchange
        proof = 0
        proof = expectedProof(of: key)
    }

    /// Parses a JOIN of 128 bytes, or a JOIN2 of 192 bytes; the caller must have checked the length.
    init(parsing datagram: Span<UInt8>) throws(ControlParseError) {
        guard let role = Role(rawValue: datagram[72]), datagram.isZero(in: 73..<80) else { throw .value }
        nonce = datagram.number(at: 4)
        cookie = Cookie(parsing: datagram, at: 20)
        channelID = datagram.number(at: 40)
        relay = RelayID(rawValue: datagram.number(at: 56))
        self.role = role
        exchange =
            datagram.count == Self.byteCount
            ? .share(SharePoint(parsing: datagram, at: Self.headByteCount))
            : .noise(NoiseRequest(parsing: datagram, at: Self.headByteCount))
        proof = datagram.number(at: datagram.count - Self.proofByteCount)
    }

    /// Whether the member joins only a relay that proves itself by its static key: this is a JOIN2.
    public var demandsRelayKey: Bool { if case .noise = exchange { true } else { false } }

    /// The length of the datagram.
    var byteCount: Int { demandsRelayKey ? Self.longestByteCount : Self.byteCount }

    /// The prologue of the Noise handshake: everything before message 1.
    var prologue: [UInt8] {
        label("tenfour 1 join") + [UInt8](capacity: Self.headByteCount) { writeHead(into: &$0) }
    }

    /// Whether the sender of this JOIN has `key`. The check takes the same time for either result. For an unknown
    /// channel, pass a dummy key.
    public func isProved(by key: JoinKey) -> Bool { proof ^ expectedProof(of: key) == 0 }

    /// Appends the 128 bytes of the JOIN, or the 192 bytes of the JOIN2.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        writeUnproved(into: &datagram)
        datagram.append(number: proof)
    }

    private func writeUnproved(into datagram: inout OutputSpan<UInt8>) {
        writeHead(into: &datagram)
        switch exchange {
        case .share(let share): share.write(into: &datagram)
        case .noise(let request): request.write(into: &datagram)
        }
    }

    private func writeHead(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: demandsRelayKey ? .join2 : .join)
        datagram.append(number: nonce)
        cookie.write(into: &datagram)
        datagram.append(number: channelID)
        datagram.append(number: relay.rawValue)
        datagram.append(role.rawValue)
        datagram.append(zeros: 7)
    }

    private func expectedProof(of key: JoinKey) -> UInt128 {
        let proofKey = HKDF.expand(key.bytes, demandsRelayKey ? "join 2" : "join", count: 32)
        return shortMAC(key: proofKey) { mac in
            withBytes(proved: false) { mac.update($0) }
        }
    }

    /// Calls `body` with the bytes of the datagram, with or without the proof. Allocates no memory.
    func withBytes(proved: Bool, _ body: (Span<UInt8>) -> Void) {
        var bytes = InlineArray<192, UInt8>(repeating: 0)
        let count = byteCount - (proved ? 0 : Self.proofByteCount)
        prefill(&bytes, count: count) {
            writeUnproved(into: &$0)
            if proved { $0.append(number: proof) }
        }
        body(bytes.span.extracting(..<count))
    }
}

/// Message 1 of the Noise handshake in a JOIN2, with an empty payload: 96 bytes that only the relay can open.
struct NoiseRequest: Sendable {
    private let words: InlineArray<6, UInt128>

    static let byteCount = 96

    /// 96 zero bytes, which stand for a message that is not made yet.
    init() { words = InlineArray(repeating: 0) }

    /// Reads the 96 bytes at `offset`; `bytes` must contain them.
    init(parsing bytes: Span<UInt8>, at offset: Int) {
        words = InlineArray { bytes.number(at: offset + 16 * $0) }
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        for index in words.indices { bytes.append(number: words[index]) }
    }

    var bytes: [UInt8] { [UInt8](capacity: Self.byteCount) { write(into: &$0) } }
}

extension NoiseRequest: Hashable {
    static func == (left: Self, right: Self) -> Bool {
        left.words.indices.allSatisfy { left.words[$0] == right.words[$0] }
    }

    func hash(into hasher: inout Hasher) {
        for index in words.indices { hasher.combine(words[index]) }
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
        /// The owner of the managed channel has not added this member, or has removed it. This reason occurs only as the
        /// answer to a JOIN2, and in its session.
        case notAdmitted = 8
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

    func isAuthentic(for join: Join, key: JoinKey) -> Bool {
        (reason != .notAdmitted || join.demandsRelayKey) && tag ^ expectedTag(join, key) == 0
    }

    private func writeUntagged(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .refusal)
        datagram.append(number: nonce)
        datagram.append(reason.rawValue)
        datagram.append(zeros: 3)
    }

    private func expectedTag(_ join: Join, _ key: JoinKey) -> UInt128 {
        var bytes = InlineArray<24, UInt8>(repeating: 0)
        fill(&bytes) { writeUntagged(into: &$0) }
        return shortMAC(key: HKDF.expand(key.bytes, "refusal", count: 32)) { mac in
            join.withBytes(proved: true) { mac.update($0) }
            mac.update(bytes.span)
        }
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
        case .notAdmitted: "the channel's owner has not added this station, or has removed it"
        }
    }
}
