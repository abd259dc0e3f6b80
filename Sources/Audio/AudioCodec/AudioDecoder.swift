public import TenfourAudioCore

/// A decoder of one stream: packets go in, interleaved samples at 48 000 Hz come out.
///
/// All functions run on the playback thread and must not allocate, lock or wait. The conforming type marks them with
/// `@_noAllocation @_noLocks`; a jitter buffer that calls a decoder without these marks from a marked function does not compile.
/// Bytes come from the network: a decoder refuses what it cannot decode and never traps.
public protocol AudioDecoder: ~Copyable {
    /// Decodes `packet` into the front of `samples`. Returns the number of frames, which are at most
    /// `EncodedPacket.longestDuration`; nil where it refuses the packet.
    mutating func decode(_ packet: borrowing EncodedPacket, into samples: inout MutableSpan<Float>) -> FrameCount?

    /// Decodes the last `frameCount` frames before `nextPacket`, which were lost, from the in-band FEC of `nextPacket`, into the
    /// front of `samples`. `frameCount` is a multiple of 2.5 ms. Returns false where it refuses.
    mutating func recover(
        _ frameCount: FrameCount, from nextPacket: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
    ) -> Bool

    /// Fills the front of `samples` with `frameCount` frames that continue what was decoded before, and that fade as losses
    /// add up. `frameCount` is a multiple of 2.5 ms, at most 20 ms. Returns how it was done; nil where it refuses.
    mutating func conceal(_ frameCount: FrameCount, into samples: inout MutableSpan<Float>) -> ConcealmentMethod?

    /// Forgets the stream so far: the next packet begins another one.
    mutating func reset()
}

/// How lost audio was concealed.
public enum ConcealmentMethod: Hashable, BitwiseCopyable, Sendable {
    /// By signal processing, such as pitch repetition.
    case plain
    /// By a neural network (deep PLC).
    case neural
}

/// The decoders of several streams, which share a limit such as processor time.
public protocol MultiStreamDecoder: AudioDecoder, ~Copyable {
    /// Directs the calls that follow to the decoder of `stream`, which counts from 0.
    mutating func select(stream: Int)
}
