import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport

/// Runs a script against a channel member. Traps if the member violates an invariant. The datagrams come from a
/// stranger, or are sealed with the keys of the relay or another member.
func feedChannel(_ bytes: Span<UInt8>) {
    _ = StrangersAtSRTP.shared
    var script = DatagramScript(bytes)
    var trial = ChannelTrial()
    var count = 0
    while let step = script.next(), count < 64 {
        count += 1
        trial.now = trial.now + step.pause
        trial.waitForDeadlines()
        let datagram = bytes.extracting(step.datagram)
        switch step.action {
        case .receive: trial.receive(datagram, as: step.sender)
        case .send: trial.send(datagram, isControl: step.sender > 3)
        case .loop: trial.loop()
        case .leave: trial.leave()
        }
    }
}

/// A member that has joined, and the relay's side of its session.
private struct ChannelTrial: ~Copyable {
    var now = Instant.start
    private var channel: Channel
    private var sealer: RecordSealer
    private var talker: SRTPContext?
    private var talkerSSRC = SSRC(0)
    private var lastSent: [UInt8] = []
    private var hasLeft = false

    private static let relay = DatagramScript.endpoint(0)
    private static let elsewhere = DatagramScript.endpoint(2)
    private static let clock = WallClock(milliseconds: 1_700_000_000_000)
    private static let keys: ChannelKeys = {
        var randomness = SeededRandom(seed: 4)
        return ChannelKeys(name: "fuzz", secret: Secret(.talk, using: &randomness))
    }()

    init() {
        var randomness = SeededRandom(seed: 9)
        var channel = Channel(
            ChannelConfiguration(
                keys: Self.keys, role: .talk,
                relays: [RelayCandidate(id: RelayID(host: "fuzz", port: 5_004), endpoint: Self.relay)]),
            ssrc: SSRC(7), at: .start, clock: Self.clock, using: &randomness)
        let address = PeerAddress(v4: 1, port: 2)
        var cookies = Cookies(using: &randomness)
        guard case .hello(let nonce) = try? ControlPacket(parsing: Self.said(&channel).span) else {
            preconditionFailure("no hello")
        }
        let cookie = cookies.cookie(for: nonce, from: address, to: address, at: .start)
        let answer = [UInt8](capacity: 40) { ControlPacket.writeCookie(cookie, nonce: nonce, into: &$0) }
        _ = channel.receive(answer.span, from: Self.relay, at: .start)
        guard case .join(let join) = try? ControlPacket(parsing: Self.said(&channel).span), let key = Self.keys.talkJoin
        else { preconditionFailure("no join") }
        var made: SessionKeys?
        let welcome = [UInt8](capacity: 105) {
            made = Welcome.answer(
                join, key: key, share: KeyShare(using: &randomness), session: 1,
                terms: Welcome.Terms(lease: 30, clock: Self.clock, address: address), into: &$0)
        }
        _ = channel.receive(welcome.span, from: Self.relay, at: .start)
        guard let made else { preconditionFailure("no session") }
        var sealer = made.sealer(for: .relay)
        var opener = made.opener(for: .relay)
        var first = Self.said(&channel)
        var record = first.mutableSpan
        guard case .renewal(let token, _) = try? opener.open(&record) else { preconditionFailure("no renewal") }
        let terms = Welcome.Terms(lease: 30, clock: Self.clock, address: address)
        let renewed = [UInt8](capacity: 128) { sealer.seal(.renewed(token: token, receipt: 1, terms), into: &$0) }
        _ = channel.receive(renewed.span, from: Self.relay, at: .start)
        precondition(channel.isJoined, "not in")
        self.sealer = sealer
        self.channel = channel
    }

    private static func said(_ channel: inout Channel) -> [UInt8] {
        [UInt8](capacity: Channel.maximumDatagramByteCount) { _ = channel.nextDatagram(into: &$0) }
    }

    mutating func waitForDeadlines() {
        for _ in 0..<4 {
            guard let deadline = channel.nextDeadline, deadline <= now else { return }
            channel.timeElapsed(at: now)
            if let next = channel.nextDeadline { precondition(next != deadline, "a deadline that never passes") }
            flush(mayOpen: false)
        }
    }

    mutating func receive(_ bytes: Span<UInt8>, as sender: Int) {
        switch sender {
        case 0, 1: take(bytes, mayOpen: false)
        case 2:
            let reception = channel.receive(bytes, from: Self.elsewhere, at: now)
            precondition(reception == .discarded(.stranger))
        case 3, 4:
            guard bytes.count > 0 else { return }
            if sender == 4, bytes[0] == 11 || bytes[0] == 13 { return tellMembers(bytes) }
            let record = [UInt8](capacity: bytes.count + 36) { sealer.seal(inside: bytes, into: &$0) }
            take(record.span, mayOpen: true, isSealed: true)
        case 5: announce(bytes)
        default: talk(bytes)
        }
    }

    /// Sends a roster update or page from the relay, with one member for every three bytes; some have sealed
    /// information.
    private mutating func tellMembers(_ bytes: Span<UInt8>) {
        guard bytes.count >= 6 else { return }
        var entries: [Roster.Entry] = []
        for place in stride(from: 6, through: bytes.count - 3, by: 3) where entries.count < Roster.maximumEntryCount {
            entries.append(entry(bytes.extracting(place..<place + 3)))
        }
        let head = Roster.Head(
            revision: UInt32(bytes[1]), previous: UInt32(bytes[2]), otherCount: UInt32(bytes[3]) << 24,
            counter: UInt64(bytes[4]))
        let page = Roster.PageHead(
            part: bytes[2] & 1 == 0 ? .listed : .others, revision: UInt32(bytes[1]), position: UInt32(bytes[4]) << 24,
            total: UInt32(bytes[3]) << UInt32(bytes[5] & 24))
        let record = [UInt8](capacity: ControlPacket.maximumByteCount) {
            sealer.seal(bytes[0] == 11 ? .roster(head, entries) : .rosterPage(page, entries), into: &$0)
        }
        if bytes[5] & 1 == 1 { channel.requestListeners(from: Int(bytes[4]), at: now) }
        take(record.span, mayOpen: false, isSealed: true)
    }

    private func entry(_ bytes: Span<UInt8>) -> Roster.Entry {
        let number = UInt32(bytes[0])
        switch bytes[1] & 3 {
        case 0: return Roster.Entry(number: number, .gone)
        case 1: return Roster.Entry(number: number, .here(nil))
        default:
            let info = MemberInfo(
                name: "\(bytes[2])", microphone: .open, ssrc: SSRC(UInt32(bytes[2])), joined: 0, microphoneChanged: 0)
            let sealed = SealedMemberInfo(
                info, id: UInt64(bytes[2]) + 1, counter: UInt64(bytes[1] >> 2) + 1, under: Self.keys.mediaRoot)
            return Roster.Entry(number: number, .here(sealed))
        }
    }

    /// Sends an announcement of another member, with any epoch, SSRC, index and clock.
    private mutating func announce(_ bytes: Span<UInt8>) {
        guard bytes.count >= 8 else { return }
        talkerSSRC = SSRC(UInt32(bytes[0] & 15))
        let passed = Int64(max(now.nanoseconds, 0)) / 1_000_000
        let milliseconds = Int64(Self.clock.sinceEpoch) + passed + Int64(Int8(bitPattern: bytes[1])) * 1_000
        let clock = WallClock(milliseconds: UInt64(max(milliseconds, 0)))
        let timing = Epoch.Timing(
            timestamp: RTPTimestamp(rawValue: UInt32(bytes[2]) << 24), isSynchronised: bytes[3] & 2 == 0)
        let epoch =
            bytes[3] & 128 == 0
            ? Epoch(at: clock, timing: bytes[3] & 4 == 0 ? timing : nil, random: UInt128(bytes[2] & 3))
            : Epoch(rawValue: UInt128(bytes[1]) << 120 | UInt128(bytes[2]))
        let suite: SRTPSuite = bytes[3] & 1 == 0 ? .aesCounterMode : .aesGCM
        let index = PacketIndex(
            rolloverCounter: UInt32(bytes[4]) << 24 | UInt32(bytes[5]), SequenceNumber(rawValue: bytes.uint16(at: 6)))
        let announcement = Announcement(
            suite: suite, ssrc: talkerSSRC, epoch: epoch, index: index, at: clock, under: Self.keys.mediaRoot)
        let key = Self.keys.mediaRoot.masterKey(suite, ssrc: talkerSSRC, epoch: epoch)
        talker = try? SRTPContext(sending: key, ssrc: talkerSSRC, at: index)
        let datagram = [UInt8](capacity: 60) { ControlPacket.write(announcement, into: &$0) }
        take(datagram.span, mayOpen: true, isSealed: true)
    }

    /// Sends an SRTP packet of the other member with arbitrary content.
    private mutating func talk(_ bytes: Span<UInt8>) {
        guard bytes.count >= RTPHeader.byteCount else { return }
        var isSealed = false
        let ssrc = talkerSSRC
        let datagram = [UInt8](capacity: bytes.count + 16) { output in
            output.append(0x80 | bytes[0] & 0x3F)
            for place in 1..<8 { output.append(bytes[place]) }
            output.append(bigEndian: ssrc.rawValue)
            for place in 12..<bytes.count { output.append(bytes[place]) }
            do {
                try talker?.protect(&output)
                isSealed = true
            } catch {
                // Bytes that are not RTP cannot be protected and are not sent.
            }
        }
        if isSealed { take(datagram.span, mayOpen: true, isSealed: true) }
    }

    mutating func send(_ bytes: Span<UInt8>, isControl: Bool) {
        channel.send(bytes, isControl: isControl, at: now)
        flush(mayOpen: false)
    }

    mutating func loop() {
        let datagram = lastSent
        take(datagram.span, mayOpen: false)
    }

    mutating func leave() {
        channel.leave(at: now)
        hasLeft = true
        flush(mayOpen: false)
        precondition(channel.nextDeadline == nil)
    }

    /// `isSealed`: the relay or another member has sealed the datagram, or has announced a key by it.
    private mutating func take(_ datagram: Span<UInt8>, mayOpen: Bool, isSealed: Bool = false) {
        let reception = channel.receive(datagram, from: Self.relay, at: now)
        precondition(mayOpen && !hasLeft || reception != .opened, "a stranger was believed")
        if isSealed {
            switch reception {
            case .opened, .handled, .discarded(.malformed), .discarded(.offTime), .discarded(.late), .discarded(.full):
                countAuthentic()
            case .held, .discarded: break
            }
        }
        flush(mayOpen: mayOpen)
    }

    private mutating func flush(mayOpen: Bool) {
        precondition(channel.heldCount <= 25)
        while true {
            var kind: Channel.Opened?
            let packet = [UInt8](capacity: Channel.maximumDatagramByteCount) { kind = channel.nextOpened(into: &$0) }
            guard let kind else { break }
            precondition(mayOpen, "a stranger was believed")
            precondition(RTCPCompound.isRTCP(secondByte: packet[1]) == (kind == .control))
        }
        var count = 0
        while true {
            var destination: Endpoint?
            let datagram = [UInt8](capacity: Channel.maximumDatagramByteCount) {
                destination = channel.nextDatagram(into: &$0)
            }
            guard let destination else { break }
            precondition(destination == Self.relay && !datagram.isEmpty)
            lastSent = datagram
            count += 1
        }
        if let members = channel.members {
            precondition(members.talkers.count <= 64 && members.unidentifiedCount <= 64, "a list without end")
        }
        precondition(count <= 8, "one thing that happens is worth a few datagrams")
        while channel.nextEvent() != nil {}
    }
}
