import TenfourAudioCore
import TenfourChannelKeys
import TenfourFloor
import TenfourManagedChannel
import TenfourNetworkEmulator
import TenfourPackets
import TenfourRelayCore
import TenfourSeededRandom
import TenfourSession
import TestSupport

/// Runs a script against a relay with a talker and a listener, and with the owner and a member of a second channel. The
/// datagrams come from strangers, or are sealed or tagged with the keys of those members. Traps if the relay violates an
/// invariant.
func feedRelay(_ bytes: Span<UInt8>) {
    var script = DatagramScript(bytes)
    var trial = RelayTrial()
    while let step = script.next() {
        trial.wait(step.pause)
        let sender = DatagramScript.endpoint(step.sender)
        let datagram = bytes.extracting(step.datagram)
        switch step.action {
        case .receive: trial.receive(datagram, from: sender, isTagged: false)
        case .send: trial.receiveSealed(datagram, by: step.sender & 1, from: sender)
        case .loop: trial.receiveTagged(datagram, from: sender)
        case .leave: trial.reload()
        }
    }
}

/// A relay, and the number of bytes that it has received from each address and may still send to it.
private struct RelayTrial: ~Copyable {
    private var now = Instant.start
    private var relay = RelayPlay.shared.relay()
    private var openers = RelayPlay.shared.members.map { $0.opener(for: .member) }
    /// The newest receipt of each member, which only a peer that receives at the member's address knows.
    private var receipts: [UInt64] = [0, 0, 0, 0]
    /// The number of states that were to be written; each third cannot be.
    private var snapshotCount = 0
    private var sealers = RelayPlay.shared.members.map { $0.sealer(for: .member) }
    private var tagger = RelayPlay.shared.members[0].hopTagger(for: .member)
    private var credit: [Endpoint: Int] = [:]
    /// The proved addresses of members. To these, the relay may send more bytes than it receives from them.
    private var proved: Set<Endpoint> = []

    init() {
        for (index, role) in [Role.talk, .listen, .talk, .talk].enumerated() {
            let endpoint = DatagramScript.endpoint(index)
            proved.insert(endpoint)
            let member = relay.admit(
                RelayPlay.shared.members[index], as: role, index: UInt16(index & 1), to: index < 2 ? 0 : 1,
                at: endpoint,
                now)
            precondition(member.number == index)
            let renewal = [UInt8](capacity: 82) { sealers[index].seal(.renewal(token: 1), into: &$0) }
            receive(renewal.span, from: endpoint, isTagged: false)
        }
        let announcement = RelayPlay.shared.announcement
        receiveTagged(announcement.span, from: DatagramScript.endpoint(0))
        precondition(relay.status.channels[0].memberCount == 2)
    }

    mutating func wait(_ pause: Duration) {
        now = now + min(max(pause, .zero), .seconds(3_600))
        for _ in 0..<64 {
            guard let deadline = relay.nextDeadline, deadline <= now else { return }
            relay.timeElapsed(at: now)
            flush()
        }
        preconditionFailure("deadlines that never pass")
    }

    /// `isSealed`: a member has sealed the datagram as a record, or has tagged it.
    mutating func receive(
        _ datagram: Span<UInt8>, from sender: Endpoint, isTagged: Bool, isSealed: Bool = false
    ) {
        credit[sender, default: 0] += datagram.count
        let reception = relay.receive(datagram, from: sender, at: now)
        if isTagged || isSealed { count(reception) }
        switch reception {
        case .forward(_, let byteCount, let channel, let talker):
            precondition(isTagged, "a stranger was believed")
            precondition(byteCount == datagram.count - HopTag.byteCount && channel == 0 && talker == 0)
        case .handled, .discarded: break
        }
        flush()
    }

    private func count(_ reception: Relay.Reception) {
        switch reception {
        case .forward, .handled, .discarded(.malformedRecord), .discarded(.strayPathAnswer), .discarded(.unannounced),
            .discarded(.takenSSRC), .discarded(.tooManyAnnouncements):
            countAuthentic()
        case .discarded: break
        }
    }

    mutating func receiveSealed(_ inside: Span<UInt8>, by member: Int, from sender: Endpoint) {
        guard inside.count > 0 else { return }
        if (15...22).contains(inside[0]) { return receiveManaged(inside, by: member + 2, from: sender) }
        if inside.count == 14, inside[0] == 12, inside[1] < 2 { return request(inside, by: member, from: sender) }
        let record = [UInt8](capacity: inside.count + 36) { sealers[member].seal(inside: inside, into: &$0) }
        receive(record.span, from: sender, isTagged: false, isSealed: true)
    }

    /// Sends a member's request for a roster page, with the receipt that it has.
    private mutating func request(_ inside: Span<UInt8>, by member: Int, from sender: Endpoint) {
        let request = Record.rosterRequest(
            inside[1] == 0 ? .listed : .others, position: inside.uint32(at: 2), receipt: receipts[member])
        let record = [UInt8](capacity: 64) { sealers[member].seal(request, into: &$0) }
        receive(record.span, from: sender, isTagged: false, isSealed: true)
    }

    /// Sends a record of the second channel. One of two bytes stands for a part of a roster that the owner has signed, and
    /// a ROSTER FETCH has the receipt that its member has.
    private mutating func receiveManaged(_ inside: Span<UInt8>, by member: Int, from sender: Endpoint) {
        var content = inside.copied
        let deposit = RelayPlay.shared.deposit
        if inside.count == 2, inside[0] == 21 { content = deposit[Int(inside[1]) % deposit.count].bytes }
        if inside.count == 11, inside[0] == 17 {
            content = content[..<3] + [UInt8](capacity: 8) { $0.append(number: receipts[member]) }
        }
        let record = [UInt8](capacity: content.count + 36) {
            sealers[member].seal(inside: content.span, into: &$0)
        }
        receive(record.span, from: sender, isTagged: false, isSealed: true)
    }

    private mutating func take(_ datagram: [UInt8]) {
        for member in openers.indices {
            var bytes = datagram
            var span = bytes.mutableSpan
            if case .renewed(_, let receipt, _)? = try? openers[member].open(&span) { receipts[member] = receipt }
        }
    }

    mutating func receiveTagged(_ datagram: Span<UInt8>, from sender: Endpoint) {
        let tagged = [UInt8](capacity: datagram.count + HopTag.byteCount) {
            for index in datagram.indices { $0.append(datagram[index]) }
            _ = tagger.tag(&$0)
        }
        receive(tagged.span, from: sender, isTagged: true)
    }

    mutating func reload() {
        relay.reload(RelayPlay.shared.configuration, at: now)
        flush()
    }

    private mutating func flush() {
        while true {
            var endpoint: Endpoint?
            let datagram = [UInt8](capacity: 1_600) { endpoint = relay.nextDatagram(into: &$0) }
            guard let endpoint else { break }
            precondition(!datagram.isEmpty)
            credit[endpoint, default: 0] -= datagram.count
            take(datagram)
            precondition(proved.contains(endpoint) || credit[endpoint]! >= 0, "more went there than came")
        }
        while let event = relay.nextEvent() {
            if case .moved(_, _, let endpoint) = event { proved.insert(endpoint) }
        }
        while let snapshot = relay.nextSnapshot(at: now) {
            snapshotCount += 1
            RelayPlay.shared.check(snapshot.content)
            relay.snapshotWritten(snapshot, isStored: snapshotCount % 3 != 0, at: now)
        }
        let managed = relay.status.channels[1]
        precondition((0...2).contains(managed.memberCount) && managed.listenerCount == 0 && managed.talkerCount == 0)
        let channel = relay.status.channels[0]
        precondition((0...2).contains(channel.memberCount) && (0...1).contains(channel.listenerCount))
        precondition((0...1).contains(channel.talkerCount))
    }
}

/// The start of every trial: members with the sessions that they agreed with a relay of the same seed.
struct RelayPlay: Sendable {
    let configuration: RelayConfiguration
    let members: [SessionKeys]
    let announcement: [UInt8]
    /// The second roster of the second channel, which the member with index 1 is not in.
    let deposit: [MemberRecord]
    private let store: ManagedChannelStore

    static let shared = RelayPlay()
    private static let address = PeerAddress(v4: 0xC000_0250, port: 5_004)

    init() {
        var randomness = SeededRandom(seed: 14)
        let keys = ChannelKeys(name: "fuzz", secret: Secret(.talk, using: &randomness))
        guard let talkJoin = keys.talkJoin else { preconditionFailure("no talk key") }
        let family = ManagedFamily(memberCount: 1)
        guard let ownedJoin = family.keys.talkJoin else { preconditionFailure("no talk key") }
        var configuration = family.configuration
        configuration.names = []
        var open = RelayConfiguration.Channel(name: "fuzz", talkJoin: talkJoin, listenJoin: keys.listenJoin)
        open.floor = FloorArbiter.Configuration()
        configuration.channels.insert(open, at: 0)
        self.configuration = configuration
        var store = ManagedChannelStore(ownerKey: family.owner.key, channelID: family.channelID)
        for record in family.deposit(of: family.roster(1)) { store.receive(record, from: 0, at: .start) }
        store.stored(true, at: .start)
        self.store = store
        deposit = family.deposit(of: family.roster(2, without: [1]))
        var relay = Self.relay(configuration, store)
        members = [(talkJoin, 0), (keys.listenJoin, 1), (ownedJoin, 2), (ownedJoin, 3)].map { key, number in
            let member = number < 2 ? nil : family.member(UInt16(number & 1))
            return Self.join(&relay, key, at: DatagramScript.endpoint(number), member, &randomness)
        }
        let announcement = Announcement(
            suite: SRTPSuite.allCases[0], ssrc: SSRC(9), epoch: Epoch(rawValue: 1),
            index: PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0)), at: WallClock(milliseconds: 0),
            under: keys.mediaRoot)
        self.announcement = [UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }
    }

    func relay() -> Relay { Self.relay(configuration, store) }

    /// Traps unless a relay that starts anew can read a file with this content.
    func check(_ content: [UInt8]) {
        let again = try? ManagedChannelStore(
            parsingFile: content.span, ownerKey: store.ownerKey, channelID: store.channelID)
        precondition(again?.fileContent == content, "the relay cannot read its own file")
    }

    private static func relay(_ configuration: RelayConfiguration, _ store: ManagedChannelStore) -> Relay {
        var randomness = SeededRandom(seed: 15)
        return Relay(
            configuration, stores: ["family": store], address: address, at: .start,
            clock: WallClock(milliseconds: 0), using: &randomness)
    }

    /// `member` has an identity, and demands the relay's key; nil in the channel without an owner.
    private static func join(
        _ relay: inout Relay, _ key: JoinKey, at endpoint: Endpoint, _ member: SimulatedMember?,
        _ randomness: inout SeededRandom
    ) -> SessionKeys {
        var joining = JoinAttempt(
            key, relay: RelayID(host: "fuzz", port: 5_004), expecting: member?.expected, as: member?.identity,
            using: &randomness)
        for _ in 0..<2 {
            let said = [UInt8](capacity: JoinAttempt.maximumByteCount) { joining.write(into: &$0) }
            _ = relay.receive(said.span, from: endpoint, at: .start)
            let answer = [UInt8](capacity: 128) { _ = relay.nextDatagram(into: &$0) }
            if case .welcome(_, let keys) = joining.receive(answer.span) { return keys }
        }
        preconditionFailure("not let in")
    }
}
