internal import TenfourAudioCore
internal import TenfourPackets

/// The talkers of one channel that are heard at the same time. Each holds a talker from its first packet until another needs
/// it and no packet has come for a second.
///
/// A packet of one that has a talker costs a search among a few; nothing here allocates but a talker that was never needed
/// before.
struct TalkerSlots: Sendable {
    private var holders: [Holder] = []

    private struct Holder: Sendable {
        /// Among the relay's talkers.
        var talker: TalkerIndex
        var ssrc: SSRC
        var lastPacket: Instant
    }

    /// After a pause of this length another talker may take the slot.
    static let pause = Duration.seconds(1)

    /// A packet came. False where its talker has no talker under that SSRC.
    mutating func renew(_ talker: TalkerIndex, _ ssrc: SSRC, at now: Instant) -> Bool {
        for index in holders.indices where holders[index].talker == talker && holders[index].ssrc == ssrc {
            holders[index].lastPacket = now
            return true
        }
        return false
    }

    /// Takes a talker for one that has none, of `most` that there are. False where all of them are in use.
    mutating func add(_ talker: TalkerIndex, _ ssrc: SSRC, of most: Int, at now: Instant) -> Bool {
        let holder = Holder(talker: talker, ssrc: ssrc, lastPacket: now)
        if holders.count >= most { holders.removeAll { now - $0.lastPacket >= Self.pause } }
        guard holders.count < most else { return false }
        holders.append(holder)
        return true
    }

    mutating func remove(_ talker: TalkerIndex) { holders.removeAll { $0.talker == talker } }
}
