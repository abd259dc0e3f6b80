/// WELCOME: the relay's X25519 public key, and the terms, which only the sender of the JOIN can decrypt.
public struct Welcome: Hashable, Sendable {
    public let nonce: UInt128
    public let session: UInt64
    let share: SharePoint

    static let byteCount = openByteCount + Terms.byteCount + AEAD.tagByteCount
    static let openByteCount = 60

    /// The terms of a lease, which are sent in WELCOME and in each answer to a renewal.
    public struct Terms: Hashable, Sendable {
        /// The duration of the lease in seconds, an even number, plus one if the relay's datagrams end in trailers. The
        /// relay ends the session unless it is renewed within this time.
        public var lease: UInt16
        /// The relay's wall clock.
        public var clock: WallClock
        /// The member's address and port, as the relay sees them.
        public var address: PeerAddress

        static let byteCount = 29

        public init(lease: UInt16, clock: WallClock, address: PeerAddress) {
            self.lease = lease
            self.clock = clock
            self.address = address
        }

        /// The duration of the lease.
        public var leaseDuration: Duration { .seconds(Int(lease & ~1)) }

        /// Whether the relay's datagrams end in trailers, in a session that began with JOIN2.
        public var hasTrailers: Bool { lease & 1 == 1 }

        /// Reads the terms from the 29 bytes at `offset`; `bytes` must contain them.
        init(parsing bytes: Span<UInt8>, at offset: Int) throws(ControlParseError) {
            lease = bytes.number(at: offset)
            clock = WallClock(milliseconds: bytes.number(at: offset + 2))
            address = try PeerAddress(parsing: bytes, at: offset + 10)
        }

        func write(into bytes: inout OutputSpan<UInt8>) {
            bytes.append(number: lease)
            bytes.append(number: clock.sinceEpoch)
            address.write(into: &bytes)
        }
    }

    /// Parses the unencrypted part of a WELCOME; the caller must have checked the length.
    init(parsing datagram: Span<UInt8>) {
        nonce = datagram.number(at: 4)
        session = datagram.number(at: 20)
        share = SharePoint(parsing: datagram, at: 28)
    }

    /// Appends the relay's answer to a JOIN whose proof is right, 105 bytes, and returns the session keys. Returns nil,
    /// and appends nothing, if the member's X25519 public key is a point of low order. `join` must not be a JOIN2, which
    /// `OpenedJoin` answers.
    ///
    /// `key` is the join key that proved `join`; `share` and `session` (the session id) must be new random values.
    public static func answer(
        _ join: Join, key: JoinKey, share: KeyShare, session: UInt64, terms: Terms,
        into datagram: inout OutputSpan<UInt8>
    ) -> SessionKeys? {
        let start = [UInt8](capacity: openByteCount) {
            $0.append(header: .welcome)
            $0.append(number: join.nonce)
            $0.append(number: session)
            share.point.write(into: &$0)
        }
        guard case .share(let point) = join.exchange, let agreed = share.agreement(with: point) else { return nil }
        let keys = SessionKeys(session: session, agreed: agreed, key: key, join: join, welcome: start.span)
        datagram.append(start.span)
        let body = [UInt8](capacity: Terms.byteCount) { terms.write(into: &$0) }
        keys.relayControl.withBytes {
            AEAD.seal(body.span, counter: 0, data: start.span, key: $0, into: &datagram)
        }
        return keys
    }

    /// Decrypts WELCOME on the member's side and derives the session keys. Returns nil if the datagram is not an
    /// authentic answer to `join`.
    static func open(
        _ datagram: Span<UInt8>, to join: Join, key: JoinKey, share: KeyShare
    ) -> (terms: Terms, keys: SessionKeys)? {
        guard case .welcome(let welcome) = try? ControlPacket(parsing: datagram), welcome.nonce == join.nonce,
            let agreed = share.agreement(with: welcome.share)
        else { return nil }
        let start = datagram.extracting(..<openByteCount)
        let keys = SessionKeys(session: welcome.session, agreed: agreed, key: key, join: join, welcome: start)
        var body = InlineArray<45, UInt8>(repeating: 0)
        for index in 0..<45 { body[index] = datagram[openByteCount + index] }
        var span = body.mutableSpan
        guard keys.relayControl.withBytes({ AEAD.open(&span, counter: 0, data: start, key: $0) }),
            let terms = try? Terms(parsing: body.span, at: 0)
        else { return nil }
        return (terms, keys)
    }
}
