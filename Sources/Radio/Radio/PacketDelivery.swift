internal import TenfourAudioCore
internal import TenfourJitterBuffer
internal import TenfourPackets
internal import TenfourSession
internal import TenfourSystem

/// What becomes of received packets: they go to the playback thread, into the history and to the tap.
///
/// Use it on the network thread only.
struct PacketDelivery: ~Copyable {
    private let incoming: RingBufferProducer<IncomingPacket>?
    private var history: HistoryKeeper?
    private let tap: (any PacketTap)?
    /// The number of packets and demands that the playback thread was too slow for.
    private(set) var droppedCount = 0

    /// `incoming` leads to the playback thread; nil if nothing is played.
    init(_ incoming: consuming RingBufferProducer<IncomingPacket>?, _ controls: Controls, _ tap: (any PacketTap)?) {
        self.incoming = incoming
        history = controls.replays.map { HistoryKeeper($0, controls.talkerVolumes) }
        self.tap = tap
    }

    /// Delivers a packet, and before it the copies that it brought.
    mutating func deliver(_ packet: MediaPacket, of datagram: Span<UInt8>, at now: Instant) {
        for index in 0..<packet.copyCount { deliverOne(packet.copy(index), of: datagram, at: now) }
        deliverOne(packet, of: datagram, at: now)
    }

    private mutating func deliverOne(_ packet: MediaPacket, of datagram: Span<UInt8>, at now: Instant) {
        let start = packet.description.offset
        let payload = datagram.extracting(start..<(start + packet.description.byteCount))
        // A packet that ends a replay ends it before it is played.
        history?.insert(payload, packet, at: now)
        pass { $0.set(packet, of: datagram, arrivedAt: now) }
        tap?.receive(payload, packet, at: now)
    }

    /// A talker has left, or has sent nothing for a while.
    mutating func leave(_ ssrc: SSRC, at now: Instant) {
        pass { $0.set(.goodbye, of: ssrc) }
        tap?.leave(ssrc, at: now)
    }

    /// Passes the delay that recovery needs to the playback thread.
    mutating func demand(_ demand: RecoveryDemand, of ssrc: SSRC) { pass { $0.set(.repair(demand), of: ssrc) } }

    /// Passes the noise of a talker's pause to the playback thread. Replays and the tap get only audio.
    mutating func deliver(_ noise: ComfortNoise, after begin: SequenceNumber, of ssrc: SSRC) {
        pass { $0.set(.comfortNoise(noise, after: begin), of: ssrc) }
    }

    /// Hands over a copy of the history if a replay was asked for.
    mutating func answerReplay(at now: Instant) { history?.answerRequest(at: now) }

    mutating func forgetOld(at now: Instant) { history?.forgetOld(at: now) }

    private mutating func pass(_ fill: (inout IncomingPacket) -> Void) {
        if let isTaken = incoming?.push(fill), !isTaken { droppedCount += 1 }
    }
}
