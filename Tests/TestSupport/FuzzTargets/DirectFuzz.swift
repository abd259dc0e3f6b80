import TenfourAudioCore
import TenfourChannelKeys
import TenfourDirectWay
import TenfourManagedChannel
import TenfourPackets
import TenfourSeededRandom

/// Feeds the bytes as each record and datagram of the direct way; as candidates that the other member has sealed; and as a
/// script of probes with right tags from any address. Nothing is sent beyond the bounds.
func feedDirect(_ bytes: Span<UInt8>) {
    if let members = try? DirectMembers(parsing: bytes) { precondition(members.bytes == bytes.copied) }
    if let limited = try? LimitedMedia(parsing: bytes) { precondition(limited.bytes == bytes.copied) }
    if let candidates = try? SealedCandidates(parsing: bytes) { precondition(candidates.bytes == bytes.copied) }
    if let probe = try? DirectProbe(parsing: bytes) { precondition(probe.bytes == bytes.copied) }
    var plain = Array(bytes.copied.prefix(CandidateList.byteCount))
    plain += [UInt8](repeating: 0, count: CandidateList.byteCount - plain.count)
    if let offer = try? CandidateOffer(parsing: plain.span) {
        precondition((try? CandidateOffer(parsing: offer.bytes.span)) == offer)
    }
    var story = DirectStory.shared
    story.way.receive(probe: bytes, from: PeerAddress(v4: 0xC633_6405, port: 5004), at: story.now)
    if let members = try? DirectMembers(parsing: bytes) {
        let (anna, bob) = (story.anna.key, story.bob.key)
        story.way.receive(members, at: story.now) { $0 % 2 == 1 ? anna : bob }
        story.way.receive(DirectStory.members, at: story.now) { $0 == 1 ? anna : bob }
    }
    story.way.receive(SealedCandidates(sealing: plain, counter: 1, salt: 9, with: story.keys).mirrored, at: story.now)
    story.poll()
    // 13 bytes a step: address and port, what comes, and the time until the next one.
    for start in stride(from: 0, to: bytes.count - 12, by: 13).prefix(64) {
        let port = UInt16(bytes[start + 4]) << 8 | UInt16(bytes[start + 5])
        let isV6 = bytes[start + 6] & 1 == 1
        let number = bytes.uint32(at: start)
        let source =
            isV6 ? PeerAddress(v6: UInt128(number) << 96 | 7, port: port) : PeerAddress(v4: number, port: port)
        story.probe(from: source, isEcho: bytes[start + 6] & 6 == 6, number: UInt64(bytes[start + 7]))
        if bytes[start + 6] & 8 != 0 { story.way.mediaActive(at: story.now) }
        if bytes[start + 6] & 16 != 0 { story.way.mediaReceived(from: 2, at: source, story.now) }
        if bytes[start + 6] & 32 != 0 { story.way.unreachable(source, at: story.now) }
        story.now = story.now + .milliseconds(Int64(bytes[start + 8]))
        story.poll()
    }
}

/// Anna's direct ways, and Bob's keys. Bob answers no probe, so that Anna must keep to the bounds.
private struct DirectStory: Sendable {
    let anna, bob: MemberIdentity
    let keys: PairKeys
    let probeKey: SecretBytes
    var way: DirectWay
    var now = Instant.start
    private var counter: UInt64 = 0
    private var randomness = SeededRandom(seed: 7)
    private var sent: [PeerAddress: Int] = [:]
    private var probeCount = 0

    static let shared = DirectStory()
    static let members = DirectMembers(
        presentCount: 2,
        members: [DirectMembers.Member(index: 1, network: 0), DirectMembers.Member(index: 2, network: 0)])

    private init() {
        var randomness = SeededRandom(seed: 21)
        let (anna, bob) = (MemberIdentity(using: &randomness), MemberIdentity(using: &randomness))
        var way = DirectWay(anna, index: 1, channelID: 77, using: &randomness)
        way.joined(at: .start)
        let view = PeerAddress(v4: 0xCB00_7109, port: 40_000)
        way.update(view: view, local: [], relays: [PeerAddress(v4: 0xC633_6401, port: 5004)], at: .start)
        way.receive(Self.members, at: .start) { $0 == 1 ? anna.key : bob.key }
        var salt: UInt128?
        while let record = way.nextRecord(at: .start) {
            if let candidates = try? SealedCandidates(parsing: record.span) { salt = candidates.salt }
        }
        guard let salt, let keys = PairKeys(bob, 2, with: anna.key, 1, channelID: 77) else {
            preconditionFailure("Anna has sent no candidates")
        }
        (self.anna, self.bob, self.keys, self.way) = (anna, bob, keys, way)
        probeKey = keys.probeKey(of: 2, salt: 9, receiver: salt)
    }

    mutating func probe(from source: PeerAddress, isEcho: Bool, number: UInt64) {
        counter += 1
        let probe = DirectProbe(from: 2, to: 1, counter: counter, number: number, isEcho: isEcho, key: probeKey)
        way.receive(probe: probe.bytes.span, from: source, at: now)
    }

    mutating func poll() {
        way.poll(at: now, using: &randomness)
        while way.nextRecord(at: now) != nil {}
        while way.nextEvent() != nil {}
        while let datagram = way.nextDatagram() {
            precondition(datagram.bytes.count == DirectProbe.byteCount && datagram.address.port >= 1024)
            sent[datagram.address, default: 0] += datagram.bytes.count
            precondition(sent[datagram.address] ?? 0 <= 200, "more than 200 bytes to an address that answers nothing")
            guard let probe = try? DirectProbe(parsing: datagram.bytes.span) else { preconditionFailure("no probe") }
            if !probe.isEcho { probeCount += 1 }
            precondition(probeCount <= 20, "more than 20 probes")
        }
        precondition(way.route(to: 2) == .relay, "a direct way without an echo")
        _ = way.sender(at: PeerAddress(v4: 1, port: 1), at: now)
        // 64 steps of at most 255 ms are less than the ten minutes for which the bounds hold.
        if let deadline = way.nextDeadline(at: now) { precondition(deadline >= .start) }
    }
}

extension SealedCandidates {
    /// As the relay passes it on: with the index of the sender.
    fileprivate var mirrored: Self {
        var mirrored = self
        mirrored.index = 2
        return mirrored
    }
}
