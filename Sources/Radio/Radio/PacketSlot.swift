package import TenfourAudioCore
package import TenfourJitterBuffer
internal import TenfourOpusCodec
package import TenfourPackets
package import TenfourSession

/// An Opus packet in a ring buffer between two threads.
package struct PacketSlot: BitwiseCopyable, Sendable {
    /// The maximum length of a payload, in bytes; a longer payload is truncated. No valid packet that we send is
    /// longer.
    static let capacity = 1_440

    var byteCount = 0
    var bytes = InlineArray<1_440, UInt8>(repeating: 0)

    var payload: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(first: byteCount) }
    }

    /// Copies a payload into the slot, truncated if it does not fit.
    package mutating func fill(_ payload: Span<UInt8>) {
        byteCount = min(payload.count, bytes.count)
        for index in 0..<byteCount { bytes[index] = payload[index] }
    }
}

/// A packet from the capture thread to the network thread.
struct OutgoingPacket: BitwiseCopyable, Sendable {
    /// The position of the packet's first frame, counted from the start of the stream.
    var position = FrameCount.zero
    var startsTalkspurt = false
    var packet = PacketSlot()
}

/// A packet, or a message about its source, from the network thread to the playback thread.
package struct IncomingPacket: BitwiseCopyable, Sendable {
    package var ssrc = SSRC(0)
    package var info = PacketInfo(
        sequenceNumber: SequenceNumber(rawValue: 0), timestamp: RTPTimestamp(rawValue: 0), frameCount: .zero)
    package var arrival = Instant.start
    /// The message; nil for a packet.
    var news: News?
    package var packet = PacketSlot()

    package enum News: BitwiseCopyable, Sendable {
        /// The talker has left.
        case goodbye
        /// The delay that recovery needs for the source from now on. It applies to the source's present jitter buffer.
        /// The network thread repeats the message, because the source may get another jitter buffer later.
        case repair(RecoveryDemand)
        /// The noise of the talker's pause after the audio with this number.
        case comfortNoise(ComfortNoise, after: SequenceNumber)
    }

    package init() {}

    /// Turns the slot into a message about the source `ssrc`. The slot may still contain the bytes of an older packet.
    package mutating func set(_ news: News, of ssrc: SSRC) {
        self.ssrc = ssrc
        self.news = news
        packet.byteCount = 0
    }

    package mutating func set(
        _ media: MediaPacket, of datagram: Span<UInt8>, arrivedAt arrival: Instant
    ) {
        ssrc = media.ssrc
        self.arrival = arrival
        news = nil
        let end = media.description.offset + media.description.byteCount
        let payload = datagram.extracting(media.description.offset..<end)
        info = PacketInfo(
            sequenceNumber: media.sequenceNumber, timestamp: media.timestamp, frameCount: media.description.frameCount,
            carriesFEC: media.encoding == .opus && OpusDecoder.hasInBandFEC(payload), origin: media.origin,
            encoding: media.encoding, startsTalkspurt: media.marker, hasWaited: media.hasWaited)
        packet.fill(payload)
    }
}

extension RecoveryDemand {
    /// Converts the recovery delay of the RTP session to the type of the jitter buffer.
    package init(_ repair: RecoveryDelay) {
        self.init(lookAhead: repair.lookAhead, retransmissionTime: repair.retransmissionTime, limit: repair.limit)
    }
}

extension Mixer {
    /// Inserts a packet into the mixer, or applies a message about its source.
    @_noAllocation @_noLocks
    mutating func insert(_ packet: borrowing IncomingPacket) {
        switch packet.news {
        case .goodbye: end(packet.ssrc)
        case .repair(let demand): setRecoveryDemand(demand, of: packet.ssrc)
        case .comfortNoise(let noise, let begin): setComfortNoise(noise, after: begin, of: packet.ssrc)
        case nil: insertPayload(of: packet)
        }
    }

    /// Exempt from the compiler's allocation check, which would take the end of a Span's lifetime for a deallocation.
    /// Reviewed by hand: nothing is freed here.
    @_semantics("no_performance_analysis")
    private mutating func insertPayload(of packet: borrowing IncomingPacket) {
        insert(packet.packet.payload, packet.info, from: packet.ssrc, arrivedAt: packet.arrival)
    }
}

extension JitterBuffer {
    /// Inserts a packet or applies a message, as `Mixer.insert` does. `arrival` is the arrival time on the card's
    /// clock. The caller keeps this clock.
    @_noAllocation @_noLocks
    package mutating func insert(_ packet: borrowing IncomingPacket, arrivedAt arrival: FrameCount) {
        switch packet.news {
        case .goodbye: end()
        case .repair(let demand): setRecoveryDemand(demand)
        case .comfortNoise(let noise, let begin): setComfortNoise(noise, after: begin)
        case nil: insertPayload(of: packet, arrivedAt: arrival)
        }
    }

    /// Exempt from the compiler's allocation check, which would take the end of a Span's lifetime for a deallocation.
    /// Reviewed by hand: nothing is freed here.
    @_semantics("no_performance_analysis")
    private mutating func insertPayload(of packet: borrowing IncomingPacket, arrivedAt arrival: FrameCount) {
        insert(packet.packet.payload, packet.info, arrivedAt: arrival)
    }
}
