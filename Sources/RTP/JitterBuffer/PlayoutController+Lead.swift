internal import TenfourAudioCore
internal import TenfourPackets

// MARK: A talker that sends faster than real time
extension PlayoutController {
    /// Records the delay of an original packet. Returns the time by which it was faster than all packets before.
    @_noAllocation @_noLocks
    mutating func insertDelay(of packet: PacketInfo, start: FrameCount, at arrival: FrameCount) -> FrameCount {
        let before = delay.base
        // Such a delay does not fit into one estimate with those before.
        if let before, arrival - start - before < TimestampUnwrapper.earliest { delay.restart() }
        delay.insert(start: start, at: arrival, startsTalkspurt: packet.startsTalkspurt, hasWaited: packet.hasWaited)
        // Packets that waited together were not sent together.
        guard !packet.hasWaited, let before, let base = delay.base else { return .zero }
        return max(before - base, .zero)
    }

    /// Drops the oldest packets if the talker is so far ahead that playout would be too late. The packet inserted last
    /// begins at `start`, and was faster than all before by `gain`.
    @_noAllocation @_noLocks
    mutating func limitLead(_ gain: FrameCount, start: FrameCount, at now: FrameCount) {
        guard let head = queue.head, let base = delay.base else { return }
        let present = playing?.delay ?? now - head.start
        guard lead.exceedsLimit(gaining: gain, delay: present - base) else { return }
        // The delays of the packets before say nothing about the next ones.
        delay.restart()
        delay.insert(start: start, at: now, startsTalkspurt: false)
        lead.shorten()
        statistics.resyncs += 1
        var excess = present - targetDelay(at: now) - lead.kept
        var position = playing?.position ?? head.start
        while excess > .zero, queue.count > 1, let head = queue.head {
            dropHead(playedTo: position)
            last = DecodedPacket(head)
            let next = max(queue.head?.start ?? head.end, position)
            excess -= next - position
            playing?.position = next
            playing?.delay -= next - position
            position = next
        }
    }

    /// Drops the whole queue, because the talker's numbers have jumped.
    @_noAllocation @_noLocks
    mutating func dropQueue() {
        while let head = queue.head { dropHead(playedTo: playing?.position ?? head.start) }
    }

    @_noAllocation @_noLocks
    private mutating func dropHead(playedTo position: FrameCount) {
        guard let head = queue.head else { return }
        statistics.dropped += max(head.end - max(head.start, position), .zero)
        queue.removeHead()
    }
}
