import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession

/// A minimal relay that accepts everybody who proves a join key, and that misbehaves on demand.
final class TinyRelay: RelayEnd {
    let endpoint: Endpoint
    /// The reason of a refusal to send instead of WELCOME.
    var refusal: Refusal.Reason?
    /// Whether each JOIN is first answered with a forged refusal, as an attacker on the path could send.
    var forgesRefusals = false
    var isDead = false
    var lease: UInt16 = 30
    /// The error of the relay's clock, in milliseconds.
    var clockError: Int64 = 0
    /// The first bytes of all datagrams received, with times; recorded also while `isDead`.
    private(set) var log: [(at: Instant, from: Endpoint, bytes: [UInt8])] = []
    private(set) var helloCount = 0
    private(set) var joinCount = 0
    private(set) var records: [Record] = []
    var renewalCount: Int { records.count { if case .renewal = $0 { true } else { false } } }
    /// The receipts that renewals have returned.
    private(set) var receipts: [UInt64] = []
    private(set) var reports: [[UInt8]] = []
    private(set) var announcements: [Announcement] = []
    /// The media packets received, without their hop tags.
    private(set) var media: [[UInt8]] = []
    private(set) var sessions: [ChannelSession] = []

    private let keys: ChannelKeys
    private var cookies: Cookies
    private var generator: CSPRNG
    private var output: [(bytes: [UInt8], to: Endpoint)] = []
    private var takenCount = 0

    struct ChannelSession {
        var number: UInt64
        var endpoint: Endpoint
        var role: Role
        var sealer: RecordSealer
        var opener: RecordOpener
        var checker: HopTagChecker
        var claimed: SSRC?
        var announcement: [UInt8]?
        var isActive = false
    }

    init(_ keys: ChannelKeys, at endpoint: Endpoint = Airwaves.relay, seed: UInt64 = 1) {
        self.keys = keys
        self.endpoint = endpoint
        var randomness = SeededRandom(seed: seed)
        cookies = Cookies(using: &randomness)
        generator = CSPRNG(using: &randomness)
    }

    var nextDeadline: Instant? { nil }
    func timeElapsed(at now: Instant) {}
    func nextDatagram() -> (bytes: [UInt8], to: Endpoint)? {
        guard takenCount < output.count else {
            output.removeAll(keepingCapacity: true)
            takenCount = 0
            return nil
        }
        takenCount += 1
        return output[takenCount - 1]
    }

    func receive(_ datagram: [UInt8], from sender: Endpoint, at now: Instant) {
        log.append((now, sender, Array(datagram.prefix(20))))
        guard !isDead else { return }
        if (128...191).contains(datagram[0]) { return forward(datagram, from: sender) }
        switch try? ControlPacket(parsing: datagram.span) {
        case .hello(let nonce):
            helloCount += 1
            let cookie = cookies.cookie(for: nonce, from: PeerAddress(sender), to: PeerAddress(endpoint), at: now)
            put(to: sender) { ControlPacket.writeCookie(cookie, nonce: nonce, into: &$0) }
        case .join(let join): answer(join, from: sender, at: now)
        case .record(let number): take(datagram, of: number, from: sender, at: now)
        case .taggedAnnouncement(let announcement): announce(announcement, datagram, from: sender)
        default: break
        }
    }

    private func answer(_ join: Join, from sender: Endpoint, at now: Instant) {
        joinCount += 1
        guard
            cookies.accepts(join.cookie, for: join.nonce, from: PeerAddress(sender), to: PeerAddress(endpoint), at: now)
        else { return }
        let known = [keys.talkJoin, keys.listenJoin].compactMap { $0 }.first { $0.channelID == join.channelID }
        let key = known ?? JoinKey(dummyUsing: &generator)
        if forgesRefusals {
            put(to: sender) { Refusal(of: join, for: .unproved, key: JoinKey(dummyUsing: &generator)).write(into: &$0) }
        }
        guard known != nil, join.isProved(by: key) else {
            return put(to: sender) { Refusal(of: join, for: .unproved, key: key).write(into: &$0) }
        }
        if let refusal { return put(to: sender) { Refusal(of: join, for: refusal, key: key).write(into: &$0) } }
        let number = UInt64.random(in: 1 ... .max, using: &generator)
        var made: SessionKeys?
        put(to: sender) {
            made = Welcome.answer(
                join, key: key, share: KeyShare(using: &generator), session: number, terms: terms(sender, at: now),
                into: &$0)
        }
        guard let made else { return }
        sessions.append(
            ChannelSession(
                number: number, endpoint: sender, role: join.role, sealer: made.sealer(for: .relay),
                opener: made.opener(for: .relay), checker: made.hopTagChecker(for: .relay)))
    }

    private func terms(_ endpoint: Endpoint, at now: Instant) -> Welcome.Terms {
        let clock = WallClock(
            milliseconds: UInt64(Int64(Airwaves.clock(at: now).sinceEpoch) + clockError))
        return Welcome.Terms(lease: lease, clock: clock, address: PeerAddress(endpoint))
    }

    private func take(_ datagram: [UInt8], of number: UInt64, from sender: Endpoint, at now: Instant) {
        guard let index = sessions.firstIndex(where: { $0.number == number }) else {
            return put(to: sender) { ControlPacket.writeUnknownSession(number, into: &$0) }
        }
        var bytes = datagram
        var span = bytes.mutableSpan
        guard let record = try? sessions[index].opener.open(&span) else { return }
        records.append(record)
        switch record {
        case .renewal(let token, let receipt):
            receipts.append(receipt)
            say(.renewed(token: token, receipt: UInt64(receipts.count), terms(sender, at: now)), to: index)
            if !sessions[index].isActive {
                sessions[index].isActive = true
                // The previous session of the address ends with the first record of the new one, not earlier.
                sessions.removeAll { $0.endpoint == sender && $0.number != number }
                for other in sessions {
                    if let announcement = other.announcement { output.append((announcement, sender)) }
                }
            }
        case .leave: sessions.remove(at: index)
        case .report(let range): reports.append(Array(bytes[range]))
        default: break
        }
    }

    private func announce(_ announcement: Announcement, _ datagram: [UInt8], from sender: Endpoint) {
        guard let index = sessions.firstIndex(where: { $0.endpoint == sender && $0.role == .talk }),
            let count = try? sessions[index].checker.check(datagram.span)
        else { return }
        announcements.append(announcement)
        guard !sessions.contains(where: { $0.claimed == announcement.ssrc && $0.endpoint != sender }) else {
            return say(.ssrcRefused(announcement.ssrc), to: index)
        }
        sessions[index].claimed = announcement.ssrc
        let bytes = Array(datagram[..<count])
        sessions[index].announcement = bytes
        for other in sessions where other.endpoint != sender && other.isActive {
            output.append((bytes, other.endpoint))
        }
    }

    private func forward(_ datagram: [UInt8], from sender: Endpoint) {
        guard let index = sessions.firstIndex(where: { $0.endpoint == sender && $0.role == .talk }),
            let count = try? sessions[index].checker.check(datagram.span), let claimed = sessions[index].claimed,
            datagram.span.uint32(at: 8) == claimed.rawValue
        else { return }
        let bytes = Array(datagram[..<count])
        media.append(bytes)
        for other in sessions where other.endpoint != sender && other.isActive {
            output.append((bytes, other.endpoint))
        }
    }

    /// Sends a record to the session with this index.
    func say(_ record: Record, to index: Int = 0) {
        var sealer = sessions[index].sealer
        put(to: sessions[index].endpoint) { sealer.seal(record, into: &$0) }
        sessions[index].sealer = sealer
    }

    func report(_ bytes: [UInt8], to index: Int = 0) {
        var sealer = sessions[index].sealer
        put(to: sessions[index].endpoint) { sealer.seal(report: bytes.span, into: &$0) }
        sessions[index].sealer = sealer
    }

    /// Sends raw bytes.
    func put(_ bytes: [UInt8], to endpoint: Endpoint) { output.append((bytes, endpoint)) }

    private func put(to endpoint: Endpoint, _ write: (inout OutputSpan<UInt8>) -> Void) {
        let bytes = [UInt8](capacity: 1_536) { write(&$0) }
        if !bytes.isEmpty { output.append((bytes, endpoint)) }
    }

    /// Forgets all members, as after a restart.
    func forgetAll() {
        sessions.removeAll()
        announcements.removeAll()
    }
}
