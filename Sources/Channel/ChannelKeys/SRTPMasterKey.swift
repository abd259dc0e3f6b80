/// Cipher and authentication of SRTP.
public enum SRTPSuite: UInt8, Sendable, CaseIterable {
    /// AES_CM_128_HMAC_SHA1_80 of RFC 3711, which everything speaks.
    case aesCounterMode = 1
    /// AEAD_AES_128_GCM of RFC 7714.
    case aesGCM = 2

    /// How much longer a packet becomes.
    public var tagByteCount: Int { self == .aesCounterMode ? 10 : 16 }

    /// Of key and salt together.
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

    /// As another program gives it; nil where the length is not `suite.masterByteCount`.
    public init?(_ suite: SRTPSuite, keyAndSalt: SecretBytes) {
        guard keyAndSalt.count == suite.masterByteCount else { return nil }
        self.init(suite, keyAndSalt)
    }
}
