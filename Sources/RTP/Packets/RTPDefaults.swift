/// The numbers of the wire that nobody has to agree on beforehand. Protocol/01-media.md tells why these.
public enum RTPDefaults {
    /// RTP's registered UDP port (avt-profile-1, RFC 3551 section 8). RTCP shares it, or takes the next.
    public static let port: UInt16 = 5004
    /// Of Opus, unless a session description says otherwise. Dynamic (RFC 3551 section 3); browsers use the same.
    public static let opusPayloadType: UInt8 = 111
    /// Of redundant coding (RFC 2198), unless a session description says otherwise. Chromium uses the same.
    public static let redPayloadType: UInt8 = 63
}
