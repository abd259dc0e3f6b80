public import TenfourAudioCore

/// A relay's answer to HELLO. The member returns the cookie in JOIN, which proves that the member receives at its
/// address; the relay stores no state for a cookie.
public struct Cookie: Hashable, Sendable {
    let generation: UInt32
    let tag: UInt128

    static let byteCount = 20

    /// Half of the cookie's tag. It identifies the cookie among all cookies that the relay has made. Only the relay can
    /// make a valid tag.
    package var mark: UInt64 { UInt64(truncatingIfNeeded: tag) }

    fileprivate init(generation: UInt32, tag: UInt128) {
        self.generation = generation
        self.tag = tag
    }

    /// Reads a cookie from the 20 bytes at `offset`; `bytes` must contain these bytes.
    package init(parsing bytes: Span<UInt8>, at offset: Int) {
        generation = bytes.number(at: offset)
        tag = bytes.number(at: offset + 4)
    }

    package func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: generation)
        bytes.append(number: tag)
    }
}

/// The contents of a COOKIE2: a cookie, the relay's static key, and what stands for the channel's owner. Nothing in it is
/// authenticated; the member compares it with the fingerprint in its link.
public struct Cookie2: Hashable, Sendable {
    public var cookie: Cookie
    public var relay: RelayPublicKey
    public var owner: OwnerHash

    static let datagramByteCount = 104

    public init(_ cookie: Cookie, relay: RelayPublicKey, owner: OwnerHash) {
        self.cookie = cookie
        self.relay = relay
        self.owner = owner
    }

    /// Reads the 84 bytes at `offset`; `bytes` must contain them.
    init(parsing bytes: Span<UInt8>, at offset: Int) {
        cookie = Cookie(parsing: bytes, at: offset)
        relay = RelayPublicKey(SharePoint(parsing: bytes, at: offset + Cookie.byteCount))
        owner = OwnerHash(parsing: bytes, at: offset + Cookie.byteCount + SharePoint.byteCount)
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        cookie.write(into: &bytes)
        relay.point.write(into: &bytes)
        owner.write(into: &bytes)
    }
}

/// Makes and checks a relay's cookies. Cookies of the present and of the previous minute are valid.
public struct Cookies: Sendable {
    private let secret: SecretBytes
    private var latest: (generation: UInt32, key: SecretBytes)
    private var earlier: (generation: UInt32, key: SecretBytes)

    /// The time for which new cookies are made with the same key. A cookie is valid for 60 to 120 s.
    public static let generationLength = Duration.seconds(60)

    /// Generates the secret key. `generator` must be unpredictable.
    public init(using generator: inout some RandomNumberGenerator) {
        secret = SecretBytes(count: 32, using: &generator)
        latest = (0, Self.key(secret, 0))
        earlier = latest
    }

    public mutating func cookie(
        for nonce: UInt128, from source: PeerAddress, to relay: PeerAddress, at now: Instant
    ) -> Cookie {
        turn(to: now)
        return Cookie(
            generation: latest.generation,
            tag: Self.tag(latest.generation, nonce, source, relay, key: latest.key))
    }

    /// Whether `cookie` is valid: this relay made it for the same nonce, source and relay address, and it has not
    /// expired.
    public mutating func accepts(
        _ cookie: Cookie, for nonce: UInt128, from source: PeerAddress, to relay: PeerAddress, at now: Instant
    ) -> Bool {
        turn(to: now)
        let given = cookie.generation == latest.generation ? latest : earlier
        let tag = Self.tag(given.generation, nonce, source, relay, key: given.key)
        return cookie.generation == given.generation && tag ^ cookie.tag == 0
    }

    /// Returns a number that proves that the member of `session` still receives at `address`. Only a receiver at this
    /// address can send the number back.
    public mutating func receipt(for session: UInt64, at address: PeerAddress, _ now: Instant) -> UInt64 {
        cookie(for: UInt128(session), from: address, to: .nowhere, at: now).mark
    }

    /// Whether this relay made `receipt` for this session at this address, with the present or the previous key.
    public mutating func accepts(
        receipt: UInt64, for session: UInt64, at address: PeerAddress, _ now: Instant
    ) -> Bool {
        turn(to: now)
        return [latest, earlier].contains {
            UInt64(truncatingIfNeeded: Self.tag($0.generation, UInt128(session), address, .nowhere, key: $0.key))
                ^ receipt == 0
        }
    }

    /// Returns what COOKIE2 has in the place of the owner hash of a channel that the relay does not have. It always is the
    /// same for one channel id, and nobody can tell it from that of a channel that the relay has.
    public func ownerHash(ofUnknown channelID: UInt128) -> OwnerHash {
        OwnerHash(HKDF.expand(secret, label("owner hash") { $0.append(number: channelID) }, count: Bytes32.byteCount))
    }

    private mutating func turn(to now: Instant) {
        let generation = UInt32(truncatingIfNeeded: now.nanoseconds / 60_000_000_000)
        guard generation != latest.generation else { return }
        let before = generation &- 1
        earlier = latest.generation == before ? latest : (before, Self.key(secret, before))
        latest = (generation, Self.key(secret, generation))
    }

    private static func key(_ secret: SecretBytes, _ generation: UInt32) -> SecretBytes {
        HKDF.expand(secret, label("cookie") { $0.append(number: generation) }, count: sipHashKeyByteCount)
    }

    private static func tag(
        _ generation: UInt32, _ nonce: UInt128, _ source: PeerAddress, _ relay: PeerAddress, key: SecretBytes
    ) -> UInt128 {
        var bytes = InlineArray<58, UInt8>(repeating: 0)
        fill(&bytes) {
            $0.append(number: generation)
            $0.append(number: nonce)
            source.write(into: &$0)
            relay.write(into: &$0)
        }
        return sipHash(bytes.span, key: key)
    }
}

extension PeerAddress {
    /// The address that is used instead of the relay's address in receipts, so that a receipt is never valid as a
    /// cookie.
    fileprivate static let nowhere = PeerAddress(v4: 0, port: 0)
}

/// Fills all of `bytes` without allocating memory. `write` must append exactly `bytes.count` bytes.
func fill<let count: Int>(_ bytes: inout InlineArray<count, UInt8>, _ write: (inout OutputSpan<UInt8>) -> Void) {
    prefill(&bytes, count: count, write)
}

/// Fills the first bytes of `bytes` without allocating memory. `write` must append exactly `filledCount` bytes.
func prefill<let count: Int>(
    _ bytes: inout InlineArray<count, UInt8>, count filledCount: Int, _ write: (inout OutputSpan<UInt8>) -> Void
) {
    var span = bytes.mutableSpan
    unsafe span.withUnsafeMutableBufferPointer { pointer in
        var output = unsafe OutputSpan(buffer: pointer, initializedCount: 0)
        write(&output)
        let written = unsafe output.finalize(for: pointer)
        precondition(written == filledCount, "another number of bytes than announced")
    }
}
