internal import TenfourAudioCore
internal import TenfourPackets

/// The talkers of one channel that are forwarded at the same time, each in a slot. A talker keeps its slot from its
/// first packet until another talker needs it and no packet has arrived for one second.
///
/// The slot of a packet is found by linear search, because a channel has few slots. Memory is allocated only when more
/// slots are in use than ever before.
struct TalkerSlots: Sendable {
    private var holders: [Holder] = []

    private struct Holder: Sendable {
        /// The talker's index in the `TalkerRegistry`.
        var talker: TalkerIndex
        var ssrc: SSRC
        var lastPacket: Instant
    }

    /// The time without a packet after which another talker may take the slot.
    static let pause = Duration.seconds(1)

    /// Records the arrival of a talker's packet. Returns false if the talker has no slot with this SSRC.
    mutating func renew(_ talker: TalkerIndex, _ ssrc: SSRC, at now: Instant) -> Bool {
        for index in holders.indices where holders[index].talker == talker && holders[index].ssrc == ssrc {
            holders[index].lastPacket = now
            return true
        }
        return false
    }

    /// Assigns one of `most` slots to a talker that has none. Returns false if all slots are in use.
    mutating func add(_ talker: TalkerIndex, _ ssrc: SSRC, of most: Int, at now: Instant) -> Bool {
        let holder = Holder(talker: talker, ssrc: ssrc, lastPacket: now)
        if holders.count >= most { holders.removeAll { now - $0.lastPacket >= Self.pause } }
        guard holders.count < most else { return false }
        holders.append(holder)
        return true
    }

    mutating func remove(_ talker: TalkerIndex) { holders.removeAll { $0.talker == talker } }
}
