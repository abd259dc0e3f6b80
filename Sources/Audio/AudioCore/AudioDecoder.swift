/// A decoder of one stream. Turns packets into interleaved samples at 48 000 Hz.
///
/// All functions run on the playback thread and must not allocate, lock or wait. The conforming type marks them with
/// `@_noAllocation @_noLocks`; a jitter buffer that calls a decoder without these marks from a marked function does not
/// compile. Since packets come from the network, a decoder refuses bytes that it cannot decode and never traps.
public protocol AudioDecoder: ~Copyable {
    /// Decodes `packet` into the front of `samples`. Returns the number of frames, at most
    /// `EncodedPacket.longestDuration`; nil if the packet cannot be decoded.
    mutating func decode(_ packet: borrowing EncodedPacket, into samples: inout MutableSpan<Float>) -> FrameCount?

    /// Recovers lost frames, the last `frameCount` frames before `nextPacket`: decodes them from the in-band FEC of
    /// `nextPacket` into the front of `samples`. `frameCount` is a multiple of 2.5 ms. Returns false if the frames
    /// cannot be recovered.
    mutating func recover(
        _ frameCount: FrameCount, from nextPacket: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
    ) -> Bool

    /// Fills the front of `samples` with `frameCount` frames that continue the audio decoded before and fade during a
    /// long loss. `frameCount` is a multiple of 2.5 ms, at most 20 ms. Returns the method of concealment; nil if the
    /// decoder cannot conceal the frames.
    mutating func conceal(_ frameCount: FrameCount, into samples: inout MutableSpan<Float>) -> ConcealmentMethod?

    /// Resets the decoder. Call it before the first packet of another stream.
    mutating func reset()
}

/// The method by which lost audio was concealed.
public enum ConcealmentMethod: Hashable, BitwiseCopyable, Sendable {
    /// Concealed by signal processing, such as pitch repetition.
    case plain
    /// Concealed by a neural network (deep PLC).
    case neural
}

/// The decoders of several streams. They have one common budget, for example of processor time.
public protocol MultiStreamDecoder: AudioDecoder, ~Copyable {
    /// Selects the decoder for all following calls. `stream` is an index from 0.
    mutating func select(stream: Int)
}
