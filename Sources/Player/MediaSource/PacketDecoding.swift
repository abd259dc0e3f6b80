internal import TenfourAudioCore

/// A demuxer whose packets this module decodes itself.
protocol PacketDecoding: Demuxer {
    /// The format of the samples that `decode` writes.
    var decodedFormat: LPCMFormat { get }
    /// The position of the last packet's first frame, in decoded frames from the start of the track.
    var packetStart: Int { get }
    /// The range of the last packet's frames that are played, without the decoder's start-up and the padding at the
    /// end.
    var audibleFrames: Range<Int> { get }
    /// The duration of audio to decode before a position, so that the output is exact from this position on.
    var preroll: Duration { get }

    /// Decodes the last packet into the front of `samples`, which holds `OpusDecoder`'s longest packet. Returns the
    /// number of frames; nil if the packet is damaged.
    func decode(into samples: inout MutableSpan<Float>) -> Int?
    func resetDecoder()
}
