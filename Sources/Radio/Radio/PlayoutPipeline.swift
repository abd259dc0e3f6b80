internal import TenfourAudioCore
internal import TenfourJitterBuffer
internal import TenfourOpusCodec
internal import TenfourSystem

/// Converts packets from a ring buffer to audio for the card, with a mixer and decoders.
///
/// Use it on the playback thread only. Nothing is allocated after `init`.
struct PlayoutPipeline: ~Copyable, Sendable {
    var mixer: Mixer
    private var decoders: RadioDecoders
    private let format: LPCMFormat

    /// `format` is the card's format. `longestPull` is the longest audio that is pulled at a time, in frames at the
    /// card's rate.
    init(
        format: LPCMFormat, configuration: PlayoutConfiguration, decoding: DecoderConfiguration = .init(),
        longestPull: FrameCount
    ) throws(RadioError) {
        let decoders = try RadioDecoders(channelCount: format.channelCount, decoding)
        do {
            mixer = try Mixer(format: format, configuration: configuration, longestPull: longestPull)
        } catch {
            throw RadioError(error)
        }
        self.decoders = decoders
        self.format = format
    }

    /// Fills `output` (interleaved, with the card's channels) with the next audio. `now` is not read from a clock. It
    /// is the time at which the first frame will be heard, minus the usual duration of the card's queue.
    @_noAllocation @_noLocks
    mutating func pull(
        into output: inout MutableSpan<Float>, at now: Instant,
        from packets: borrowing RingBufferConsumer<IncomingPacket>
    ) {
        mixer.request(at: now)
        while insertNext(of: packets) {}
        let frames = output.count / format.channelCount
        decoders.beginPull(FrameCount(frames * SampleRate.opus.hertz / format.rate.hertz))
        mixer.pull(into: &output, with: &decoders)
    }

    /// Removes the oldest packets of a ring that is more than half full. Call it while the card has not begun to play: the
    /// newest packets need the space, and playout begins with them.
    @_noAllocation @_noLocks
    mutating func dropOldest(of packets: borrowing RingBufferConsumer<IncomingPacket>) {
        while packets.isHalfFull, Self.dropNext(of: packets) {}
    }

    /// Writes the present state into `report`.
    @_noAllocation @_noLocks
    mutating func write(to report: inout PlaybackReport) {
        mixer.write(to: &report.mixer)
        report.decoder = decoders.budget
    }

    /// Exempt from the compiler's allocation check. Reviewed by hand: the closure does not outlive the call, so nothing
    /// is retained for it.
    @_semantics("no_performance_analysis")
    private mutating func insertNext(of packets: borrowing RingBufferConsumer<IncomingPacket>) -> Bool {
        packets.pop { mixer.insert($0) }
    }

    /// Exempt from the compiler's allocation check. Reviewed by hand: the closure captures nothing.
    @_semantics("no_performance_analysis")
    private static func dropNext(of packets: borrowing RingBufferConsumer<IncomingPacket>) -> Bool {
        packets.pop { _ in }
    }
}

/// The decoders of all talkers of a mixer, with one budget.
///
/// The type is in the file that uses it, because a debug build compiles each file alone. Such a build detects hidden
/// allocations in a decoder only if it sees the conformance.
///
/// Use it on the playback thread only. Nothing is allocated after `init`.
struct RadioDecoders: MultiStreamDecoder, ~Copyable, Sendable {
    private(set) var budget: DecoderBudget
    private var streams: InlineArray<8, StreamDecoder>
    private var selected = 0

    init(channelCount: Int, _ configuration: DecoderConfiguration) throws(RadioError) {
        budget = DecoderBudget(configuration)
        streams = try InlineArray { (_: Int) throws(RadioError) in try StreamDecoder(channelCount: channelCount) }
    }

    /// Begins a pull of `frames` at 48 000 Hz.
    @_noAllocation @_noLocks
    mutating func beginPull(_ frames: FrameCount) {
        budget.beginPull(frames, at: budget.measures ? ThreadTime.processor() : 0)
    }

    @_noAllocation @_noLocks
    mutating func select(stream: Int) { selected = stream }

    @_noAllocation @_noLocks
    mutating func decode(_ packet: borrowing EncodedPacket, into samples: inout MutableSpan<Float>) -> FrameCount? {
        streams[selected].decode(packet, into: &samples, within: &budget)
    }

    @_noAllocation @_noLocks
    mutating func recover(
        _ frameCount: FrameCount, from nextPacket: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
    ) -> Bool {
        streams[selected].recover(frameCount, from: nextPacket, into: &samples, within: &budget)
    }

    @_noAllocation @_noLocks
    mutating func conceal(_ frameCount: FrameCount, into samples: inout MutableSpan<Float>) -> ConcealmentMethod? {
        streams[selected].conceal(frameCount, into: &samples, within: &budget)
    }

    @_noAllocation @_noLocks
    mutating func reset() { streams[selected].reset() }
}
