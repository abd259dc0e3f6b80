package import TenfourAudioCore
internal import TenfourJitterBuffer
internal import TenfourOpusCodec

/// The decoder of one talker, with a budget of processor time that it shares with no other talker.
package struct RadioDecoder: AudioDecoder, ~Copyable, Sendable {
    private var budget: DecoderBudget
    private var stream: StreamDecoder

    package init(channelCount: Int = 1, _ configuration: DecoderConfiguration = .init()) throws(RadioError) {
        budget = DecoderBudget(configuration)
        stream = try StreamDecoder(channelCount: channelCount)
    }

    @_noAllocation @_noLocks
    package mutating func decode(
        _ packet: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
    ) -> FrameCount? {
        stream.decode(packet, into: &samples, within: &budget)
    }

    @_noAllocation @_noLocks
    package mutating func recover(
        _ frameCount: FrameCount, from nextPacket: borrowing EncodedPacket, into samples: inout MutableSpan<Float>
    ) -> Bool {
        stream.recover(frameCount, from: nextPacket, into: &samples, within: &budget)
    }

    @_noAllocation @_noLocks
    package mutating func conceal(
        _ frameCount: FrameCount, into samples: inout MutableSpan<Float>
    ) -> ConcealmentMethod? {
        stream.conceal(frameCount, into: &samples, within: &budget)
    }

    @_noAllocation @_noLocks
    package mutating func reset() { stream.reset() }
}
