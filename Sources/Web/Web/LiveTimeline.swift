public import TenfourAudioCore
internal import TenfourOggOpus
public import TenfourPackets

/// Makes one gapless sequence of Opus packets, at the pace of the caller's clock, from the RTP packets of a channel.
///
/// One talker is heard at a time: the first that talks, until its talkspurt is over. Its packets pass unaltered, 200 ms
/// after their arrival. A packet that has not arrived by then is replaced by an empty packet, which decoders conceal.
/// While nobody talks, the sequence is silence.
public struct LiveTimeline: Sendable {
    /// The position at which the next packet begins.
    public private(set) var cursor = FrameCount.zero

    /// The instant of position zero.
    private let origin: Instant
    /// The talkers, in the order in which their talkspurts began. The first one is heard.
    private var talkers: [LiveTalker] = []
    /// The duration of the empty packets since the last packet of a talker.
    private var concealed = FrameCount.zero

    /// The time for which a talkspurt's first packet is held.
    static let hold = FrameCount(9_600)
    /// The maximum number of talkers; packets of further talkers are dropped.
    private static let maximumTalkerCount = 16
    /// The duration of a loss that is concealed. The rest is silence, because decoders have faded out by then.
    private static let longestConcealment = FrameCount(5_760)
    /// The maximum duration of the packets of one call. If the caller was held up for longer, the rest is skipped.
    private static let longestAdvance = FrameCount(240_000)

    /// A member who talks.
    public struct Talk: Equatable, Sendable {
        public var ssrc: SSRC
        /// The arrival of the first packet.
        public var since: Instant
    }

    public init(at now: Instant) { origin = now }

    /// The talker who is heard; nil while nobody talks.
    public var talk: Talk? { talkers.first.map { Talk(ssrc: $0.ssrc, since: $0.since) } }

    /// The other talkers, who are not heard.
    public var others: [SSRC] { talkers.dropFirst().map(\.ssrc) }

    /// Adds a packet. `isOriginal` is false for a retransmission and for a redundant copy. Any values are accepted; a
    /// payload that is not Opus is dropped.
    public mutating func insert(
        _ payload: Span<UInt8>, from ssrc: SSRC, _ sequenceNumber: SequenceNumber, _ timestamp: RTPTimestamp,
        marker: Bool = false, isOriginal: Bool = true, at now: Instant
    ) {
        guard let opus = try? OpusPacket(parsing: payload) else { return }
        let packet = ArrivedPacket(
            payload: unsafe payload.withUnsafeBufferPointer { unsafe Array($0) }, sequenceNumber: sequenceNumber,
            timestamp: timestamp, frameCount: opus.frameCount, marker: marker, isOriginal: isOriginal)
        let position = position(at: now)
        talkers.removeAll { $0.isOver(at: now) }
        if let index = talkers.firstIndex(where: { $0.ssrc == ssrc }) {
            talkers[index].insert(packet, at: now, position, cursor: cursor)
        } else if isOriginal, talkers.count < Self.maximumTalkerCount {
            talkers.append(LiveTalker(packet, from: ssrc, at: now, position))
        }
    }

    /// Ends the talkspurt of a talker that has left, after its last packet.
    public mutating func leave(_ ssrc: SSRC) {
        for index in talkers.indices where talkers[index].ssrc == ssrc { talkers[index].hasLeft() }
    }

    /// Passes the packets that are due at `now` to `emit`. The sequence then reaches from `now` to at most 120 ms after
    /// it.
    public mutating func advance(to now: Instant, _ emit: (LivePacket) -> Void) {
        let due = position(at: now)
        if due - cursor > Self.longestAdvance {
            talkers = []
            cursor = FrameCount(due.rawValue / FillingPacket.step.rawValue * FillingPacket.step.rawValue)
        }
        while cursor < due {
            talkers.removeAll { $0.isOver(at: now) }
            let packet = nextPacket()
            cursor += packet.frameCount
            emit(packet)
        }
    }

    private func position(at now: Instant) -> FrameCount { FrameCount(now - origin) }

    private mutating func nextPacket() -> LivePacket {
        for index in talkers.indices { talkers[index].drop(before: cursor) }
        guard let next = talkers.first?.nextStart else {
            // Nothing has come for as long as packets are held: the talkspurt is over, and there is nothing to conceal.
            return silence(atMost: talkers.isEmpty ? FillingPacket.longest : FrameCount(960))
        }
        if next - cursor >= FillingPacket.step {
            return concealment(atMost: next - cursor) ?? silence(atMost: next - cursor)
        }
        let (payload, frameCount) = talkers[0].removeFirst()
        concealed = .zero
        return LivePacket(start: cursor, frameCount: frameCount, payload: payload, content: .audio)
    }

    /// Returns a packet that decoders conceal; nil if nothing of the talker was heard before, or if the loss is long.
    private mutating func concealment(atMost limit: FrameCount) -> LivePacket? {
        guard concealed < Self.longestConcealment, let toc = talkers.first?.playedTOC,
            let (payload, frameCount) = FillingPacket.concealment(after: toc, atMost: limit)
        else { return nil }
        concealed += frameCount
        return LivePacket(start: cursor, frameCount: frameCount, payload: payload, content: .concealment)
    }

    /// Returns a packet of silence. What follows it in the same loss is silent too.
    private mutating func silence(atMost limit: FrameCount) -> LivePacket {
        concealed = Self.longestConcealment
        let (payload, frameCount) = FillingPacket.silence(atMost: limit)
        return LivePacket(start: cursor, frameCount: frameCount, payload: payload, content: .silence)
    }
}

/// An Opus packet as it arrived from a talker.
struct ArrivedPacket: Sendable {
    var payload: [UInt8]
    var sequenceNumber: SequenceNumber
    var timestamp: RTPTimestamp
    var frameCount: FrameCount
    var marker: Bool
    var isOriginal: Bool
}
