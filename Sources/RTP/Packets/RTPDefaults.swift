/// Default numbers that need no agreement between the two ends. The reasons are in Protocol/01-media.md.
public enum RTPDefaults {
    /// The registered UDP port of RTP (avt-profile-1, RFC 3551 section 8). RTCP shares it, or uses the next port.
    public static let port: UInt16 = 5004
    /// The payload type of Opus, if no session description states another. It is dynamic (RFC 3551 section 3); browsers
    /// use 111, too.
    public static let opusPayloadType: UInt8 = 111
    /// The payload type of redundant coding (RFC 2198), if no session description states another. Chromium uses 63,
    /// too.
    public static let redPayloadType: UInt8 = 63
    /// The payload type of comfort noise, which is static (RFC 3389 section 4, RFC 3551 section 6).
    public static let comfortNoisePayloadType: UInt8 = 13
}
