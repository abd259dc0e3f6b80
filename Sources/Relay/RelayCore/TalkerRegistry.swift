internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// The members that may talk, by index, and the indices of the members with a current stream.
struct TalkerRegistry: Sendable {
    private var talkers: [Talker?] = []
    private var free: [TalkerIndex] = []
    /// The talkers with a current stream. A stream ends 10 s after its last packet.
    private(set) var talking: [TalkerIndex] = []
    /// The earliest time at which a stream may have to be polled; nil if there is no stream. It is stored, because it
    /// is read for each packet.
    private(set) var deadline: Instant?

    var indices: some Sequence<TalkerIndex> { talkers.indices.lazy.map { TalkerIndex($0) } }

    /// The talker at an index; nil if the index is free. Reading copies the whole talker, and calling the subscript may
    /// allocate memory, because it is a coroutine. The functions that run for each packet therefore change the talker
    /// in place.
    subscript(index: TalkerIndex) -> Talker? {
        _read { yield talkers[index.number] }
        _modify { yield &talkers[index.number] }
    }

    /// Checks the hop tag of a datagram with the talker's key. Returns the length of the datagram without the tag; nil
    /// if the index is free.
    mutating func check(_ datagram: Span<UInt8>, of index: TalkerIndex) throws(HopTagChecker.Failure) -> Int? {
        try talkers[index.number]?.checker.check(datagram)
    }

    /// Whether the talker has registered `ssrc`.
    func hasClaimed(_ ssrc: SSRC, _ index: TalkerIndex) -> Bool { talkers[index.number]?.claim == ssrc }

    /// Counts a datagram against the limits of its talker. Returns the reason to drop the datagram if it exceeds a
    /// limit; nil if it does not.
    mutating func spend(_ byteCount: Int, of index: TalkerIndex, at now: Instant) -> RelayDiscard? {
        talkers[index.number]?.spend(byteCount, at: now)
    }

    /// Records a packet of a talker's stream. Returns nil if the talker has no stream, or a stream with another SSRC.
    mutating func packetArrived(
        _ datagram: Span<UInt8>, of ssrc: SSRC, from index: TalkerIndex, at now: Instant
    ) -> TalkerStream.Arrival? {
        talkers[index.number]?.stream?.packetArrived(datagram, of: ssrc, at: now)
    }

    mutating func insert(_ talker: Talker) -> TalkerIndex {
        if let index = free.popLast() {
            talkers[index.number] = talker
            return index
        }
        talkers.append(talker)
        return TalkerIndex(talkers.count - 1)
    }

    mutating func remove(_ index: TalkerIndex) {
        talkers[index.number] = nil
        free.append(index)
    }

    /// Starts the stream of a talker.
    mutating func begin(_ stream: TalkerStream, of index: TalkerIndex, at now: Instant) {
        talkers[index.number]?.stream = stream
        talking.append(index)
        expect(now + TalkerStream.firstReport)
    }

    /// Ends the stream of a talker, and keeps the packet counts for the talker's next stream. Returns false if there is
    /// no stream.
    mutating func endStream(of index: TalkerIndex) -> Bool {
        guard let stream = talkers[index.number]?.stream else { return false }
        talkers[index.number]?.counts = stream.counts
        talkers[index.number]?.talkspurtEndedAt = stream.lastPacket
        talkers[index.number]?.stream = nil
        talking.removeAll { $0 == index }
        return true
    }

    /// Sets `deadline` to `moment`, if `moment` is earlier.
    mutating func expect(_ moment: Instant) { deadline = deadline.map { min($0, moment) } ?? moment }

    /// Recomputes `deadline` after all streams that were due have been polled.
    mutating func updateDeadline() { deadline = talking.compactMap { self[$0]?.stream?.nextDeadline }.min() }
}
