/// Default numbers that need no agreement. Protocol/01-media.md has the reasons.
public enum RTPDefaults {
    /// RTP's registered UDP port (avt-profile-1, RFC 3551 section 8). RTCP shares it, or takes the next.
    public static let port: UInt16 = 5004
    /// The payload type of Opus, unless a session description has another. Dynamic (RFC 3551 section 3); browsers use
    /// the same.
    public static let opusPayloadType: UInt8 = 111
    /// The payload type of redundant coding (RFC 2198), unless a session description has another. Chromium uses the
    /// same.
    public static let redPayloadType: UInt8 = 63
}
