internal import TenfourChannelKeys

/// The keys and proofs of one run, which follow from CPace's key.
package struct PairingKeys: Sendable {
    /// The tags by which the initiator and the responder prove that they have the key (the draft's Ta and Tb, 32
    /// bytes).
    let initiatorTag: SecretBytes
    let responderTag: SecretBytes
    private let linkKey: SecretBytes
    private let receiptKey: SecretBytes

    /// The channel identifier of CPace (CI), which contains the protocol's version.
    static let channel = Array("tenfour 1 pairing".utf8)

    /// `key` is CPace's key, `session` its session identifier.
    init(_ key: SecretBytes, session: [UInt8], initiatorShare: [UInt8], responderShare: [UInt8]) {
        var hash = SHA512()
        hash.update(Array("CPaceMac".utf8).span)
        hash.update(session.span)
        key.withBytes { hash.update($0) }
        let macKey = hash.finish()
        initiatorTag = Self.tag(of: initiatorShare, key: macKey)
        responderTag = Self.tag(of: responderShare, key: macKey)
        let root = key.withBytes { HKDF.extract(salt: Self.channel.span, secret: $0) }
        linkKey = HKDF.expand(root, Array("link".utf8), count: 32)
        receiptKey = HKDF.expand(root, Array("receipt".utf8), count: 32)
    }

    /// The tag of a message that consists of a share and empty data.
    private static func tag(of share: [UInt8], key: SecretBytes) -> SecretBytes {
        HMACSHA512.tag(
            of: LEB128.bytes(share.count) + share + LEB128.bytes(0), key: key, count: PairingMessage.tagByteCount)
    }

    /// Returns LINK: the responder's tag, and `link` sealed.
    package func link(_ link: [UInt8], _ message: PairingMessage) -> [UInt8] {
        let start = message.bytes(responderTag.withBytes { tag in tag.indices.map { tag[$0] } })
        return sealed(link, behind: start, key: linkKey)
    }

    /// Opens the link in a LINK; nil if it was not sealed under this key.
    func openedLink(_ datagram: Span<UInt8>) -> [UInt8]? {
        opened(datagram, from: PairingMessage.sealedOffset, key: linkKey)
    }

    func receipt(_ message: PairingMessage) -> [UInt8] { sealed([], behind: message.bytes(), key: receiptKey) }

    func isReceipt(_ datagram: Span<UInt8>) -> Bool {
        opened(datagram, from: PairingMessage.headerByteCount, key: receiptKey) != nil
    }

    /// Each key seals one message only, so the counter is constant.
    private func sealed(_ body: [UInt8], behind start: [UInt8], key: SecretBytes) -> [UInt8] {
        [UInt8](capacity: start.count + body.count + AEAD.tagByteCount) { datagram in
            datagram.append(start.span)
            key.withBytes { AEAD.seal(body.span, counter: 1, data: start.span, key: $0, into: &datagram) }
        }
    }

    private func opened(_ datagram: Span<UInt8>, from offset: Int, key: SecretBytes) -> [UInt8]? {
        guard datagram.count >= offset + AEAD.tagByteCount else { return nil }
        var body = (offset..<datagram.count).map { datagram[$0] }
        var span = body.mutableSpan
        let isAuthentic = key.withBytes {
            AEAD.open(&span, counter: 1, data: datagram.extracting(0..<offset), key: $0)
        }
        return isAuthentic ? Array(body.dropLast(AEAD.tagByteCount)) : nil
    }
}

extension SecretBytes {
    /// Whether the 32 bytes at the end of the header of `datagram` are these. Compares in constant time.
    func isTag(of datagram: Span<UInt8>) -> Bool {
        let start = PairingMessage.headerByteCount
        return self == SecretBytes(copying: datagram.extracting(start..<start + PairingMessage.tagByteCount))
    }
}
