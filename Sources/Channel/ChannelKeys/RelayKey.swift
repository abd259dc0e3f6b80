/// The static X25519 key pair of a relay, by which members recognise it (Protocol/13-members.md).
public struct RelayKey: Sendable, Equatable {
    let secret: SecretBytes
    let pair: KeyShare

    /// Makes a random key pair. `generator` must be unpredictable: the system's generator, outside tests.
    public init(using generator: inout some RandomNumberGenerator) {
        self.init(SecretBytes(count: SharePoint.byteCount, using: &generator))
    }

    init(_ secret: SecretBytes) {
        self.secret = secret
        pair = KeyShare(secret)
    }

    /// Reads the secret key from the 52 base32 digits in a relay's key file; returns nil for any other text.
    public init?(fileText text: String) {
        let digits = Array(text.utf8)
        guard let bytes = Base32.bytes(digits.span, count: SharePoint.byteCount) else { return nil }
        self.init(bytes)
    }

    /// The secret key as 52 base32 digits. Write this text into a file that only the relay can read.
    public var fileText: String { secret.withBytes { Base32.text(of: $0) } }

    public var publicKey: RelayPublicKey { RelayPublicKey(pair.point) }

    public static func == (left: Self, right: Self) -> Bool { left.secret == right.secret }
}

/// The public part of a relay's static key.
public struct RelayPublicKey: Hashable, Sendable {
    let point: SharePoint

    init(_ point: SharePoint) { self.point = point }

    /// Reads the key from 52 base32 digits; returns nil for any other text.
    public init?(_ text: String) {
        let digits = Array(text.utf8)
        guard let bytes = Base32.bytes(digits.span, count: SharePoint.byteCount) else { return nil }
        point = bytes.withBytes { SharePoint(parsing: $0, at: 0) }
    }

    /// The key as 52 base32 digits.
    public var text: String { Base32.text(of: point.bytes.span) }
}
