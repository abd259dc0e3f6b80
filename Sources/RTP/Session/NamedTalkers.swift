internal import TenfourAudioCore
internal import TenfourPackets

/// Keeps the talkers that the relay of our channel names, as long as no packet of them has come: they are no sources. Their
/// audio is missing like that of a source which transmits and whose packets are lost: its key may arrive late.
struct NamedTalkers: Sendable {
    private var talkers: [(ssrc: SSRC, transmission: StatedTransmission)] = []

    /// Takes over the talkers that the relay names. Returns the events about those whose audio was missing and that it names
    /// no more.
    mutating func named(_ ssrcs: [SSRC], at now: Instant) -> [Event] {
        let ended = talkers.filter { !ssrcs.contains($0.ssrc) && $0.transmission.isMissing }
        talkers = ssrcs.prefix(HearingRequest.maximumTalkerCount).map { ssrc in
            var transmission = talkers.first { $0.ssrc == ssrc }?.transmission ?? StatedTransmission()
            transmission.stated(true, at: now)
            return (ssrc, transmission)
        }
        return ended.map { .mediaReturned($0.ssrc, isArriving: false) }
    }

    /// Removes a talker of which a packet has come. Returns its transmission; nil if the relay does not name it.
    mutating func remove(_ ssrc: SSRC) -> StatedTransmission? {
        talkers.firstIndex { $0.ssrc == ssrc }.map { talkers.remove(at: $0).transmission }
    }

    /// The time at which the audio of a talker will be missing; nil if none is expected.
    var missingDeadline: Instant? {
        talkers.reduce(nil) { earlier($0, $1.transmission.deadline(lastPacket: nil, isLossy: true)) }
    }

    /// Determines whose audio is missing. Returns what has changed.
    mutating func updateMissing(at now: Instant) -> [Event] {
        talkers.indices.compactMap { index in
            talkers[index].transmission.update(lastPacket: nil, isLossy: true, at: now)
                ? talkers[index].transmission.event(of: talkers[index].ssrc) : nil
        }
    }
}
