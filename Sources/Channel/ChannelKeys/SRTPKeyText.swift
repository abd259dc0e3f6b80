private import CSodium

extension SRTPSuite {
    /// The suite's name in SDP (RFC 4568 section 6.2, RFC 7714 section 14.2) and in ffmpeg's options.
    public var name: String { self == .aesCounterMode ? "AES_CM_128_HMAC_SHA1_80" : "AEAD_AES_128_GCM" }

    /// Finds the suite with this name, in capital or small letters; nil if there is none.
    public init?(name: String) {
        guard let suite = Self.allCases.first(where: { $0.name == name.uppercased() }) else { return nil }
        self = suite
    }
}

extension SRTPMasterKey {
    /// Makes a random key. `generator` must be unpredictable: the system's generator, outside tests.
    public init(_ suite: SRTPSuite, using generator: inout some RandomNumberGenerator) {
        self.init(suite, SecretBytes(count: suite.masterByteCount, using: &generator))
    }

    /// Parses key and salt in base64, with or without `=` at the end; nil for any other text. The C function is
    /// `sodium_base642bin`.
    public init?(_ suite: SRTPSuite, base64 text: String) {
        let characters = text.utf8.prefix { $0 != UInt8(ascii: "=") }.map { CChar(bitPattern: $0) }
        let padding = text.utf8.dropFirst(characters.count)
        guard padding.count <= 2, padding.allSatisfy({ $0 == UInt8(ascii: "=") }) else { return nil }
        var byteCount = 0
        let bytes = SecretBytes(count: suite.masterByteCount) { bytes in
            unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                let code = unsafe sodium_base642bin(
                    bytes.baseAddress!, bytes.count, characters, characters.count, nil, &byteCount, nil,
                    sodium_base64_VARIANT_ORIGINAL_NO_PADDING)
                if code != 0 { byteCount = 0 }
            }
        }
        guard byteCount == suite.masterByteCount else { return nil }
        self.init(suite, bytes)
    }

    /// Key and salt in base64. Show this text only to people who may have the key.
    public var base64Text: String {
        bytes.withBytes { base64($0) }
    }
}

/// Returns `bytes` in base64 with padding (RFC 4648 section 4). The C function is `sodium_bin2base64`.
package func base64(_ bytes: Span<UInt8>) -> String {
    var text = [CChar](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    unsafe bytes.withUnsafeBufferPointer { bytes in
        _ = unsafe sodium_bin2base64(&text, text.count, bytes.baseAddress, bytes.count, sodium_base64_VARIANT_ORIGINAL)
    }
    return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
