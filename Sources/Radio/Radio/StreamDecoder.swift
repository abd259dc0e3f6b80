internal import TenfourAudioCore
internal import TenfourG711Codec

/// The decoders of one talker: one for each codec, because the payload type may change within a stream and no decoder
/// can be created on an audio thread.
///
/// Use it on the playback thread only. Nothing is allocated after `init`.
struct StreamDecoder: ~Copyable, Sendable {
    private var opus: LimitedOpusDecoder
    private var g711: G711Decoder
    /// The encoding of the packet decoded last. Concealment uses the same decoder.
    private var encoding = AudioEncoding.opus

    init(channelCount: Int) throws(RadioError) {
        let opus = try LimitedOpusDecoder(channelCount: channelCount)
        do { g711 = try G711Decoder(channelCount: channelCount) } catch { throw RadioError(error) }
        self.opus = opus
    }

    /// Decodes a packet; see `AudioDecoder.decode`.
    @_noAllocation @_noLocks
    mutating func decode(
        _ packet: borrowing EncodedPacket, into samples: inout MutableSpan<Float>, within budget: inout DecoderBudget
    ) -> FrameCount? {
        encoding = packet.encoding
        switch packet.encoding {
        case .opus: return opus.decode(packet, into: &samples, within: &budget)
        case .pcmu, .pcma: return g711.decode(packet, into: &samples)
        }
    }

    /// Recovers the audio before a packet; see `AudioDecoder.recover`.
    @_noAllocation @_noLocks
    mutating func recover(
        _ frameCount: FrameCount, from nextPacket: borrowing EncodedPacket, into samples: inout MutableSpan<Float>,
        within budget: inout DecoderBudget
    ) -> Bool {
        switch nextPacket.encoding {
        case .opus: return opus.recover(frameCount, from: nextPacket, into: &samples, within: &budget)
        case .pcmu, .pcma: return g711.recover(frameCount, from: nextPacket, into: &samples)
        }
    }

    /// Conceals a lost packet; see `AudioDecoder.conceal`.
    @_noAllocation @_noLocks
    mutating func conceal(
        _ frameCount: FrameCount, into samples: inout MutableSpan<Float>, within budget: inout DecoderBudget
    ) -> ConcealmentMethod? {
        switch encoding {
        case .opus: return opus.conceal(frameCount, into: &samples, within: &budget)
        case .pcmu, .pcma: return g711.conceal(frameCount, into: &samples)
        }
    }

    @_noAllocation @_noLocks
    mutating func reset() {
        opus.reset()
        g711.reset()
        encoding = .opus
    }
}
