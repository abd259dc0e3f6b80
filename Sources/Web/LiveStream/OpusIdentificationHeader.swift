/// The identification header of Opus in Ogg, which is also the codec's private data in WebM (RFC 7845 section 5.1).
enum OpusIdentificationHeader {
    /// Two channels, as RTP announces them; mono packets are played in both. There is no pre-skip, because a listener
    /// begins in the middle of a stream: no sample belongs to an encoder's start. The input rate is 48 000 Hz, the gain
    /// zero, the channel mapping that of stereo.
    static let bytes: [UInt8] = Array("OpusHead".utf8) + [1, 2, 0, 0, 0x80, 0xBB, 0, 0, 0, 0, 0]
}
