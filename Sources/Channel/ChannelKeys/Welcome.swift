/// WELCOME: the relay's share, and terms that only who said JOIN can open.
public struct Welcome: Hashable, Sendable {
    public let nonce: UInt128
    public let session: UInt64
    let share: SharePoint

    static let byteCount = openByteCount + Terms.byteCount + AEAD.tagByteCount
    static let openByteCount = 60

    /// The terms that a relay grants, in WELCOME and whenever a lease is renewed.
    public struct Terms: Hashable, Sendable {
        /// For how long the relay sends without another record, in seconds.
        public var lease: UInt16
        /// The relay's time of day.
        public var clock: WallClock
        /// Where the relay sees the member.
        public var address: PeerAddress

        static let byteCount = 29

        public init(lease: UInt16, clock: WallClock, address: PeerAddress) {
            self.lease = lease
            self.clock = clock
            self.address = address
        }

        /// Reads 29 bytes that are there.
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

    /// Reads what is open.
    init(parsing datagram: Span<UInt8>) {
        nonce = datagram.number(at: 4)
        session = datagram.number(at: 20)
        share = SharePoint(parsing: datagram, at: 28)
    }

    /// The relay's answer to a proved JOIN: appends 105 bytes and gives the keys that both sides now have. Nil, and nothing
    /// appended, where the member's share is of low order.
    ///
    /// `key` is the one that proved `join`, `share` is drawn for this session, `session` names it.
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
        guard let agreed = share.agreement(with: join.share) else { return nil }
        let keys = SessionKeys(session: session, agreed: agreed, key: key, join: join, welcome: start.span)
        datagram.append(start.span)
        let body = [UInt8](capacity: Terms.byteCount) { terms.write(into: &$0) }
        keys.relayControl.withBytes {
            AEAD.seal(body.span, counter: 0, data: start.span, key: $0, into: &datagram)
        }
        return keys
    }

    /// The member's side of the same. Nil where it is no answer to `join`.
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
