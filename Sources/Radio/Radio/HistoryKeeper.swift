internal import TenfourAudioCore
internal import TenfourSession
internal import TenfourTransmissions

/// The network thread's part of a replay: it keeps the packets that arrive, and hands over copies of them.
struct HistoryKeeper: ~Copyable {
    private var history = TransmissionHistory()
    private let replays: Replays

    init(_ replays: Replays) { self.replays = replays }

    mutating func insert(_ payload: Span<UInt8>, _ packet: MediaPacket, at now: Instant) {
        history.insert(
            payload,
            ReceivedPacket(
                ssrc: packet.ssrc, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp,
                frameCount: packet.description.frameCount, encoding: packet.encoding, origin: packet.origin),
            at: now)
    }

    /// Hands over a copy if a replay was asked for. A copy takes about a millisecond.
    mutating func answerRequest(at now: Instant) {
        guard let range = replays.takeRequest() else { return }
        forgetOld(at: now)
        replays.deliver(history.copy(), range, at: now)
    }

    mutating func forgetOld(at now: Instant) { history.forget(at: now) }
}
