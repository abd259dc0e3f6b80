internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPackets

/// The members that may talk, by index, and which of them do.
struct TalkerRegistry: Sendable {
    private var talkers: [Talker?] = []
    private var free: [TalkerIndex] = []
    /// The talkers whose packets have come within the last seconds.
    private(set) var talking: [TalkerIndex] = []
    /// No stream has to be polled before this time; nil while nobody talks. A stored value, because each packet asks for it.
    private(set) var deadline: Instant?

    var indices: some Sequence<TalkerIndex> { talkers.indices.lazy.map { TalkerIndex($0) } }

    /// Nil if the index is free. Reading copies the whole talker, and the subscript is a coroutine, whose frame may be allocated: the
    /// functions that each packet needs change the talker in place.
    subscript(index: TalkerIndex) -> Talker? {
        _read { yield talkers[index.number] }
        _modify { yield &talkers[index.number] }
    }

    /// The length of a datagram without its hop tag. Nil if the index is free.
    mutating func check(_ datagram: Span<UInt8>, of index: TalkerIndex) throws(HopTagChecker.Failure) -> Int? {
        try talkers[index.number]?.checker.check(datagram)
    }

    /// Counts a datagram against the limits of its talker. Returns the reason where it is more than they allow.
    mutating func spend(_ byteCount: Int, of index: TalkerIndex, at now: Instant) -> RelayDiscard? {
        talkers[index.number]?.spend(byteCount, at: now)
    }

    /// Counts a packet of a talker's stream. Returns nil if the stream has not begun or has another SSRC.
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

    /// A stream begins.
    mutating func begin(_ stream: TalkerStream, of index: TalkerIndex, at now: Instant) {
        talkers[index.number]?.stream = stream
        talking.append(index)
        expect(now + TalkerStream.firstReport)
    }

    /// A stream ends. Its counts are kept for the talker's next one. Returns false if there is none.
    mutating func endStream(of index: TalkerIndex) -> Bool {
        guard let stream = talkers[index.number]?.stream else { return false }
        talkers[index.number]?.counts = stream.counts
        talkers[index.number]?.talkspurtEndedAt = stream.lastPacket
        talkers[index.number]?.stream = nil
        talking.removeAll { $0 == index }
        return true
    }

    /// A stream has to be polled at `moment` at the latest.
    mutating func expect(_ moment: Instant) { deadline = deadline.map { min($0, moment) } ?? moment }

    /// All streams that were due have been polled.
    mutating func updateDeadline() { deadline = talking.compactMap { self[$0]?.stream?.nextDeadline }.min() }
}
