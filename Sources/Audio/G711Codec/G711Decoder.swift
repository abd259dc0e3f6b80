public import TenfourAudioCore
public import TenfourResampling

/// A decoder of G.711. Each packet may be µ-law or A-law.
///
/// Decodes at 8 000 Hz and resamples to 48 000 Hz. Each byte is a sample, so any bytes can be decoded.
///
/// For the playback thread: after `init` nothing is allocated.
public struct G711Decoder: AudioDecoder, ~Copyable, Sendable {
    private let channelCount: Int
    private var resampler: RateConverter
    private var repetition = PitchRepetition()
    /// Decoded or concealed samples at 8 000 Hz.
    private var narrow = FixedBuffer<Float>(repeating: 0, count: longestPacket)
    /// The resampled samples at 48 000 Hz, one channel.
    private var wide = FixedBuffer<Float>(repeating: 0, count: longestPacket * ratio)

    private static var ratio: Int { 6 }
    /// The longest packet, 120 ms, in samples at 8 000 Hz.
    private static var longestPacket: Int { 960 }

    /// Creates a decoder with 1 or more output channels. All channels have the same samples.
    public init(channelCount: Int = 1) throws(RateConverterError) {
        self.channelCount = channelCount
        resampler = try RateConverter(from: SampleRate(hertz: 8_000), to: .opus)
    }

    @_noAllocation @_noLocks
    public mutating func decode(
        _ packet: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
    ) -> FrameCount? {
        guard !packet.isEmpty, packet.count <= Self.longestPacket, hasSpace(for: packet.count, in: samples) else {
            return nil
        }
        let law: G711Law = packet.encoding == .pcma ? .a : .mu
        for index in 0..<packet.count { narrow[index] = Float(law.decode(packet[index])) / 32_768 }
        repetition.join(&narrow, count: packet.count)
        return write(packet.count, into: &samples)
    }

    /// Returns false, since G.711 has no in-band FEC.
    @_noAllocation @_noLocks
    public mutating func recover(
        _ frameCount: FrameCount, from nextPacket: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
    ) -> Bool {
        false
    }

    @_noAllocation @_noLocks
    public mutating func conceal(
        _ frameCount: FrameCount, into samples: inout MutableSpan<Float>
    ) -> ConcealmentMethod? {
        let count = frameCount.rawValue / Self.ratio
        guard count > 0, count <= Self.longestPacket, hasSpace(for: count, in: samples) else { return nil }
        repetition.conceal(count, into: &narrow)
        _ = write(count, into: &samples)
        return .plain
    }

    @_noAllocation @_noLocks
    public mutating func reset() { repetition.reset() }

    /// Returns whether `count` samples at 8 000 Hz, resampled, fit into `samples`.
    @_noAllocation @_noLocks
    private func hasSpace(for count: Int, in samples: borrowing MutableSpan<Float>) -> Bool {
        count * Self.ratio * channelCount <= samples.count
    }

    /// Resamples the first `count` samples of `narrow` into all channels of `samples`. Returns the number of frames.
    @_noAllocation @_noLocks
    private mutating func write(_ count: Int, into samples: inout MutableSpan<Float>) -> FrameCount {
        let frames = count * Self.ratio
        let produced = Self.resample(narrow, count, with: &resampler, into: &wide)
        for frame in 0..<frames {
            let sample = frame < produced ? wide[frame] : 0
            for channel in 0..<channelCount { samples[frame * channelCount + channel] = sample }
        }
        return FrameCount(frames)
    }

    /// Resamples the first `count` samples of `narrow` into `wide`. Returns the number of samples written.
    ///
    /// Exempt from the allocation check: the compiler treats the end of a Span's lifetime as a deallocation, but
    /// nothing is freed.
    @_semantics("no_performance_analysis")
    private static func resample(
        _ narrow: borrowing FixedBuffer<Float>, _ count: Int, with resampler: inout RateConverter,
        into wide: inout FixedBuffer<Float>
    ) -> Int {
        var output = wide.mutableSpan(in: 0..<count * ratio)
        return resampler.process(narrow.span(in: 0..<count), into: &output).produced.rawValue
    }
}
