package import TenfourChannelKeys

/// Encrypts a roster for the relay to keep: only members have the key. The key follows from the roster's signature, so
/// each roster has its own, and a roster is encrypted in only one way.
package struct RosterCipher {
    private let key: SecretBytes

    /// The bytes of the canonical form in a page; the last page may have fewer.
    static let pageByteCount = 1024
    static let maximumPageCount = (RosterContents.maximumByteCount + pageByteCount - 1) / pageByteCount
    /// The longest change that fits into a record beside the rest of NEWS.
    static let maximumChangeByteCount = 1232 - 78 - GroupSecretID.byteCount - SealedGroupSecret.byteCount
    /// Added to the version that a change follows from, so that no page has its nonce.
    private static let changeNonce: UInt64 = 1 << 63

    package init(_ root: MediaRoot, _ head: RosterHead) { key = root.rosterKey(signature: head.signature.bytes) }

    func pages(of contents: RosterContents) -> [[UInt8]] {
        let bytes = contents.bytes
        return stride(from: 0, to: bytes.count, by: Self.pageByteCount).enumerated().map { page, start in
            sealedPage(bytes.span.extracting(start..<min(start + Self.pageByteCount, bytes.count)), UInt16(page))
        }
    }

    func openPage(_ sealed: [UInt8], _ page: UInt16) -> [UInt8]? { open(sealed, UInt64(page)) }

    func openChange(_ sealed: [UInt8], follows version: UInt32) -> [UInt8]? {
        open(sealed, Self.changeNonce | UInt64(version))
    }

    package func sealedPage(_ plain: Span<UInt8>, _ page: UInt16) -> [UInt8] { seal(plain, UInt64(page)) }

    /// Returns nil if the sealed change is too long for a record.
    package func sealedChange(_ plain: Span<UInt8>, follows version: UInt32) -> [UInt8]? {
        let sealed = seal(plain, Self.changeNonce | UInt64(version))
        return sealed.count <= Self.maximumChangeByteCount ? sealed : nil
    }

    private func seal(_ plain: Span<UInt8>, _ nonce: UInt64) -> [UInt8] {
        let none: [UInt8] = []
        return [UInt8](capacity: plain.count + AEAD.tagByteCount) { output in
            key.withBytes { AEAD.seal(plain, counter: nonce, data: none.span, key: $0, into: &output) }
        }
    }

    private func open(_ sealed: [UInt8], _ nonce: UInt64) -> [UInt8]? {
        let none: [UInt8] = []
        var bytes = sealed
        var span = bytes.mutableSpan
        guard key.withBytes({ AEAD.open(&span, counter: nonce, data: none.span, key: $0) }) else { return nil }
        bytes.removeLast(AEAD.tagByteCount)
        return bytes
    }
}
