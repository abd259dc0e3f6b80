internal import TenfourAudioCore
internal import TenfourSession
internal import TenfourTransmissions

/// The network thread's part of a replay: it keeps the packets that arrive, hands over copies of them, and ends a
/// replay when somebody begins to talk.
struct HistoryKeeper: ~Copyable {
    private var history = TransmissionHistory()
    private var starts = TransmissionStarts()
    private let replays: Replays
    private let volumes: TalkerVolumes

    init(_ replays: Replays, _ volumes: TalkerVolumes) {
        self.replays = replays
        self.volumes = volumes
    }

    mutating func insert(_ payload: Span<UInt8>, _ packet: MediaPacket, at now: Instant) {
        let received = ReceivedPacket(
            ssrc: packet.ssrc, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp,
            frameCount: packet.description.frameCount, encoding: packet.encoding, origin: packet.origin)
        history.insert(payload, received, at: now)
        let begins = starts.insert(received, byteCount: payload.count, hasMarker: packet.marker, at: now)
        if begins, volumes.volume(of: packet.ssrc) > 0 { replays.interrupt() }
    }

    /// Hands over a copy if a replay was asked for. A copy takes about a millisecond.
    mutating func answerRequest(at now: Instant) {
        guard let request = replays.takeRequest() else { return }
        forgetOld(at: now)
        replays.deliver(history.copy(), request, at: now)
    }

    mutating func forgetOld(at now: Instant) { history.forget(at: now) }
}
