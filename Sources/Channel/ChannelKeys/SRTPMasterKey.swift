/// An SRTP crypto suite: a cipher and an authentication algorithm.
public enum SRTPSuite: UInt8, Sendable, CaseIterable {
    /// AES_CM_128_HMAC_SHA1_80 of RFC 3711, which all SRTP implementations support.
    case aesCounterMode = 1
    /// AEAD_AES_128_GCM of RFC 7714.
    case aesGCM = 2

    /// The number of bytes that encryption adds to an RTP packet.
    public var tagByteCount: Int { self == .aesCounterMode ? 10 : 16 }

    /// The number of bytes of key and salt together.
    public var masterByteCount: Int { 16 + (self == .aesCounterMode ? 14 : 12) }
}

/// The key from which a sender's SRTP session keys are derived: 16 bytes of key, then the salt.
public struct SRTPMasterKey: Sendable, Equatable {
    public let suite: SRTPSuite
    let bytes: SecretBytes

    init(_ suite: SRTPSuite, _ bytes: SecretBytes) {
        precondition(bytes.count == suite.masterByteCount)
        self.suite = suite
        self.bytes = bytes
    }

    /// Makes a key from the key and salt of another program; nil if their total length is not `suite.masterByteCount`.
    public init?(_ suite: SRTPSuite, keyAndSalt: SecretBytes) {
        guard keyAndSalt.count == suite.masterByteCount else { return nil }
        self.init(suite, keyAndSalt)
    }
}
