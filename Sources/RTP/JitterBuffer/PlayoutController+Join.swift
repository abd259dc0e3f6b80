internal import TenfourAudioCore

// MARK: Somebody talks already when the card begins to play
extension PlayoutController {
    /// Drops the packets that waited and are too old when the card begins to play. They are not counted: they came before
    /// anybody listened. Returns the playout delay with which a talk that is joined in the middle begins; nil if playout
    /// begins with the target delay.
    @_noAllocation @_noLocks
    mutating func joinDelay(at now: FrameCount) -> FrameCount? {
        guard join.hasWaitingPackets, queue.count > 0 else { return nil }
        let target = targetDelay(at: now)
        let start = join.keptStart(due: now - target)
        let joined = start == nil ? delay.joinDelay(target: target) : target
        let due = now - joined
        while let head = queue.head, join.drops(head, wanting: min(start ?? due, due)) {
            last = DecodedPacket(head)
            skippedTo = head.end
            queue.removeHead()
        }
        if start == nil { delay.hold(at: now) }
        return joined
    }
}
