import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourManagedChannel
import TenfourPackets
import TenfourSeededRandom
import TenfourSession

/// A minimal relay of a managed channel: the second handshake, records, and what `ManagedChannelStore` keeps on its disk.
final class ManagedRelay: RelayEnd {
    let endpoint = Airwaves.relay
    private(set) var store: ManagedChannelStore
    private(set) var disk: [UInt8] = []
    /// The datagrams of media that were forwarded, as an adversary on the path records them.
    private(set) var recorded: [(at: Instant, bytes: [UInt8])] = []
    /// The deposits of group secrets that have come, as a hostile relay records them.
    private(set) var deposits: [GroupSecretDeposit] = []
    /// Whether it forwards what removed members send, as a hostile relay may.
    var forwardsForStrangers = false
    private let keys: ChannelKeys
    private let key: RelayKey
    private let owner: IdentityKey
    private var sessions: [Session] = []
    private var cookies: Cookies
    private var generator: CSPRNG
    private var output: [(bytes: [UInt8], to: Endpoint)] = []
    private(set) var refusalCount = 0

    private struct Session {
        var number: UInt64
        var endpoint: Endpoint
        var index: UInt16
        var sealer: RecordSealer
        var opener: RecordOpener
        var checker: HopTagChecker
        var announcement: [UInt8]?
        var isActive = false
    }

    init(_ keys: ChannelKeys, key: RelayKey, owner: IdentityKey) {
        (self.keys, self.key, self.owner) = (keys, key, owner)
        store = ManagedChannelStore(ownerKey: owner, channelID: keys.listenJoin.channelID)
        var randomness = SeededRandom(seed: 71)
        cookies = Cookies(using: &randomness)
        generator = CSPRNG(using: &randomness)
    }

    /// Begins anew with what is on the disk.
    func restart() throws {
        store = try ManagedChannelStore(
            parsingFile: disk.span, ownerKey: owner, channelID: keys.listenJoin.channelID)
        sessions = []
    }

    func receive(_ datagram: [UInt8], from sender: Endpoint, at now: Instant) {
        defer { flush(at: now) }
        if (128...191).contains(datagram[0]) { return forward(datagram, from: sender, at: now) }
        switch try? ControlPacket(parsing: datagram.span) {
        case .hello2(let nonce, _):
            let cookie = Cookie2(
                cookies.cookie(for: nonce, from: PeerAddress(sender), to: PeerAddress(endpoint), at: now),
                relay: key.publicKey, owner: OwnerHash(owner.ownerHash))
            put(to: sender) { ControlPacket.writeCookie2(cookie, nonce: nonce, into: &$0) }
        case .join(let join): answer(join, from: sender, at: now)
        case .record(let number): take(datagram, of: number, from: sender, at: now)
        case .taggedSignedAnnouncement: forward(datagram, from: sender, at: now)
        default: break
        }
    }

    private func answer(_ join: Join, from sender: Endpoint, at now: Instant) {
        guard
            cookies.accepts(
                join.cookie, for: join.nonce, from: PeerAddress(sender), to: PeerAddress(endpoint), at: now),
            let joinKey = keys.joinKey(for: join.role), joinKey.channelID == join.channelID, join.isProved(by: joinKey),
            let opened = OpenedJoin(join, by: key)
        else { return }
        guard let entry = store.admitted(opened.memberKey) else {
            refusalCount += 1
            return put(to: sender) { Refusal(of: join, for: .notAdmitted, key: joinKey).write(into: &$0) }
        }
        let number = UInt64.random(in: 1 ... .max, using: &generator)
        var made: SessionKeys?
        put(to: sender) {
            made = opened.answer(
                key: joinKey, share: KeyShare(using: &generator), session: number, terms: terms(sender, at: now),
                into: &$0)
        }
        guard let made else { return }
        sessions.append(
            Session(
                number: number, endpoint: sender, index: entry.index, sealer: made.sealer(for: .relay),
                opener: made.opener(for: .relay), checker: made.hopTagChecker(for: .relay)))
    }

    private func terms(_ endpoint: Endpoint, at now: Instant) -> Welcome.Terms {
        Welcome.Terms(lease: 30, clock: Airwaves.clock(at: now), address: PeerAddress(endpoint))
    }

    private func take(_ datagram: [UInt8], of number: UInt64, from sender: Endpoint, at now: Instant) {
        guard let place = sessions.firstIndex(where: { $0.number == number }) else {
            return put(to: sender) { ControlPacket.writeUnknownSession(number, into: &$0) }
        }
        var bytes = datagram
        var span = bytes.mutableSpan
        guard let record = try? sessions[place].opener.open(&span) else { return }
        switch record {
        case .renewal(let token, _):
            say(.renewed(token: token, receipt: 1, terms(sender, at: now)), to: place)
            guard !sessions[place].isActive else { return }
            sessions[place].isActive = true
            let index = sessions[place].index
            sessions.removeAll { $0.index == index && $0.number != number }
            store.joined(index, at: now)
            for other in sessions {
                if let announcement = other.announcement { output.append((announcement, sender)) }
            }
        case .leave:
            store.left(sessions[place].index)
            sessions.remove(at: place)
        case .managed(let range):
            guard let record = try? MemberRecord(parsing: bytes.span.extracting(range)) else { return }
            if case .deposit(let deposit) = record { deposits.append(deposit) }
            store.receive(record, from: sessions[place].index, at: now)
        default: break
        }
    }

    /// Forwards media and announcements to all other members.
    private func forward(_ datagram: [UInt8], from sender: Endpoint, at now: Instant) {
        guard let place = sessions.firstIndex(where: { $0.endpoint == sender }),
            let count = try? sessions[place].checker.check(datagram.span)
        else { return }
        let bytes = Array(datagram[..<count])
        recorded.append((now, bytes))
        if bytes[0] == ControlPacket.firstByte { sessions[place].announcement = bytes }
        for other in sessions where other.endpoint != sender && other.isActive {
            output.append((bytes, other.endpoint))
        }
    }

    private func say(_ record: Record, to place: Int) {
        var sealer = sessions[place].sealer
        put(to: sessions[place].endpoint) { sealer.seal(record, into: &$0) }
        sessions[place].sealer = sealer
    }

    private func flush(at now: Instant) {
        if let due = store.storeDue, due <= now {
            disk = store.fileContent
            store.stored(true, at: now)
        }
        while let message = store.nextMessage(at: now) {
            switch message {
            case .record(let record, let index):
                guard let place = sessions.firstIndex(where: { $0.index == index && $0.isActive }) else { continue }
                let content = record.bytes
                var sealer = sessions[place].sealer
                put(to: sessions[place].endpoint) { sealer.seal(managed: content.span, into: &$0) }
                sessions[place].sealer = sealer
            case .goodbye(let index):
                guard let place = sessions.firstIndex(where: { $0.index == index }) else { continue }
                say(.goodbye(.notAdmitted), to: place)
                if !forwardsForStrangers { sessions.remove(at: place) }
            }
        }
    }

    private func put(to endpoint: Endpoint, _ write: (inout OutputSpan<UInt8>) -> Void) {
        let bytes = [UInt8](capacity: 1_536) { write(&$0) }
        if !bytes.isEmpty { output.append((bytes, endpoint)) }
    }

    func nextDatagram() -> (bytes: [UInt8], to: Endpoint)? { output.isEmpty ? nil : output.removeFirst() }

    var nextDeadline: Instant? { store.nextDeadline }

    func timeElapsed(at now: Instant) { flush(at: now) }
}
