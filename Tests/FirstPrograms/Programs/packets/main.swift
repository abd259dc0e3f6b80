import TenfourPackets

// A datagram as a socket delivers it: an RTP header, and the first bytes of an
// Opus packet of 20 ms.
let datagram: [UInt8] = [
    0x80, 0xEF, 0xFF, 0xFE,  // version 2; marker, payload type 111; number 65534
    0x00, 0x01, 0x77, 0x00,  // timestamp 96000, in frames at 48 000 Hz
    0x1A, 0x2B, 0x3C, 0x4D,  // SSRC
    0x78, 0x01, 0x02, 0x03,  // Opus: the table of contents, then encoded audio
]
do {
    let header = try RTPHeader(parsing: datagram.span)
    let number = header.sequenceNumber
    print("stream \(header.ssrc.digits), packet \(number.rawValue)")
    print("payload type \(header.payloadType), \(header.payload.count) bytes")
    print("first of a talkspurt: \(header.marker)")

    let opus = try OpusPacket(parsing: datagram.span.extracting(header.payload))
    let channels = opus.toc.isStereo ? "stereo" : "mono"
    print("Opus: \(opus.toc.mode), \(opus.frameCount.duration()), \(channels)")

    // The number wraps after 65535.
    let later = number.advanced(by: 4)
    let distance = later.distance(after: number)
    print("packet \(later.rawValue) is \(distance) packets later")
} catch {
    print("discarded: \(error)")
}
