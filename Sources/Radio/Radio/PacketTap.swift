public import TenfourAudioCore
public import TenfourPackets
public import TenfourSession

/// Gets each received packet of audio after its decryption, for a recording of the packets themselves. All calls come
/// from the network thread: they must neither wait nor take long.
public protocol PacketTap: Sendable {
    /// A packet has arrived at `now`, by CLOCK_MONOTONIC: an original, a retransmission, or a copy of an earlier packet.
    func receive(_ payload: Span<UInt8>, _ packet: MediaPacket, at now: Instant)
    /// A talker has left, or has sent nothing for a while.
    func leave(_ ssrc: SSRC, at now: Instant)
}
