internal import TenfourAudioCore

/// A parser whose packets this module can decode.
protocol PacketDecoding: Demuxer {
    /// Of what `decode` gives.
    var decodedFormat: LPCMFormat { get }
    /// Where the frames of the packet that `nextPacket` gave last begin, in decoded frames from the beginning of the track.
    var packetStart: Int { get }
    /// Which of them are sound: not what a decoder gives first and nobody shall hear, nor what is there to fill up the last.
    var packetSound: Range<Int> { get }
    /// How much sound before a position a decoder must have had to give the right one there.
    var preroll: Duration { get }

    /// Decodes the packet that `nextPacket` gave last into the front of `samples`, which has room for `OpusDecoder`'s longest
    /// packet, and returns how many frames it held; nil where it is damaged.
    func decode(into samples: inout MutableSpan<Float>) -> Int?
    func resetDecoder()
}
