public import TenfourAudioCore
internal import TenfourPackets

/// The packets of the last ten minutes as they were received, of all talkers, so that what was missed can be heard.
///
/// The packets lie in one ring of bytes, which `init` allocates: insertion takes constant time and allocates nothing. When
/// the ring is full, the oldest packets are dropped, also if they are younger than ten minutes. 3.9 MB hold ten minutes of
/// one talker at 46 kbit/s, or of eight who take turns; at 32 kbit/s 14 minutes of speech in sum.
///
/// One thread at a time may use it. `copy` gives another thread the packets so far, from which it selects what is to be
/// replayed: that takes up to 60 ms, and would delay the packets that arrive meanwhile.
public struct TransmissionHistory: ~Copyable, Sendable {
    private var store: PacketStore

    /// The age at which packets are dropped.
    public static let reach = Duration.seconds(600)
    /// The size of the ring that is used if no other is chosen, in bytes.
    public static let usualByteCount = 3_900_000
    /// The pause that is heard between two transmissions.
    static let separation = FrameCount(14_400)
    /// The longest pause that is heard within a transmission; the rest of a longer one is skipped.
    static let longestPause = FrameCount(9_600)

    /// Allocates a ring of `byteCount` bytes, 4 096 or more.
    public init(byteCount: Int = usualByteCount) { store = PacketStore(byteCount: byteCount) }

    private init(_ store: consuming PacketStore) { self.store = store }

    /// Returns a history with the same packets, in a ring of its own.
    public func copy() -> TransmissionHistory { TransmissionHistory(store.copy()) }

    /// The number of bytes that the ring takes in memory.
    var byteCount: Int { store.capacity }

    /// The number of packets in the ring.
    var packetCount: Int { store.count }

    /// Adds a packet that has arrived at `now`. A payload of more than 1 440 bytes is dropped, because no packet of a
    /// datagram that passes through the Internet is longer.
    public mutating func insert(_ payload: Span<UInt8>, _ packet: ReceivedPacket, at now: Instant) {
        guard payload.count <= 1_440, payload.count > 0 else { return }
        forget(at: now)
        store.append(payload, packet, at: now)
    }

    /// Drops the packets that are too old at `now`. Called from time to time while nobody talks.
    public mutating func forget(at now: Instant) { store.drop(before: now - Self.reach) }

    /// Returns the transmission that ended last; while none has ended, the one that began last, as far as it has come. Nil
    /// if nobody has talked.
    public func lastTransmission(at now: Instant) -> TransmissionReplay? {
        let transmissions = transmissions(at: now)
        let ended = transmissions.filter { now - $0.lastSpeech >= TransmissionRule.pause }
        let chosen = ended.max { $0.lastSpeech < $1.lastSpeech } ?? transmissions.max { $0.start < $1.start }
        return chosen.flatMap { replay([$0], since: $0.start) }
    }

    /// Returns everything that was said in the last `time`, one transmission after the other in the order in which they
    /// began; nil if nobody has talked.
    public func last(_ time: Duration = .seconds(60), at now: Instant) -> TransmissionReplay? {
        let since = max(now - time, now - Self.reach)
        let chosen = transmissions(at: now).filter { $0.lastSpeech >= since }.sorted { $0.start < $1.start }
        return chosen.isEmpty ? nil : replay(chosen, since: since)
    }

    /// A transmission found among the packets.
    private struct Found {
        var ssrc: SSRC
        /// The arrivals of the first and the last packet with speech.
        var start: Instant
        var lastSpeech: Instant
    }

    /// Returns the transmissions of the last ten minutes. A talker's are in their order.
    private func transmissions(at now: Instant) -> [Found] {
        var found: [Found] = []
        var newest: [UInt32: Int] = [:]
        let since = now - Self.reach
        store.visit { packet, arrival, payload in
            guard packet.origin.isOriginal, !packet.isSilent(byteCount: payload.count), arrival >= since else { return }
            if let index = newest[packet.ssrc.rawValue], arrival - found[index].lastSpeech < TransmissionRule.pause {
                found[index].lastSpeech = max(arrival, found[index].lastSpeech)
            } else {
                newest[packet.ssrc.rawValue] = found.count
                found.append(Found(ssrc: packet.ssrc, start: arrival, lastSpeech: arrival))
            }
        }
        return found
    }

    /// Returns the packets of transmissions that have arrived after `since`, in playout order; nil if none is left.
    private func replay(_ transmissions: [Found], since: Instant) -> TransmissionReplay? {
        var sequencers = transmissions.map { _ in PacketSequencer<ReplayedPayload>() }
        var current: [UInt32: Int] = [:]
        var indices: [UInt32: [Int]] = [:]
        for (index, one) in transmissions.enumerated() { indices[one.ssrc.rawValue, default: []].append(index) }
        var bytes: [UInt8] = []
        store.visit { packet, arrival, payload in
            guard arrival >= since, let own = indices[packet.ssrc.rawValue] else { return }
            var place = current[packet.ssrc.rawValue] ?? 0
            while place + 1 < own.count, transmissions[own[place + 1]].start <= arrival { place += 1 }
            current[packet.ssrc.rawValue] = place
            let one = transmissions[own[place]]
            // Copies and retransmissions may arrive for a while after the last packet.
            guard arrival >= one.start, arrival - one.lastSpeech < TransmissionRule.pause else { return }
            let range = bytes.count..<bytes.count + payload.count
            unsafe payload.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
            sequencers[own[place]].insert(
                ReplayedPayload(
                    range: range, encoding: packet.encoding, isSilent: packet.isSilent(byteCount: payload.count)),
                packet, elapsed: FrameCount(arrival - max(one.start, since)))
        }
        var replay = TransmissionReplay(bytes: bytes)
        for index in transmissions.indices { replay.append(&sequencers[index], of: transmissions[index].ssrc) }
        return replay.transmissionCount > 0 ? replay : nil
    }
}
