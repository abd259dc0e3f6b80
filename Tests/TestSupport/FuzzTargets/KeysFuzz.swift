import TenfourAudioCore
import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSystem

/// Feeds the bytes as a channel link.
func feedLink(_ bytes: Span<UInt8>) {
    let link: ChannelLink
    do {
        link = try ChannelLink(parsing: bytes)
    } catch {
        checkShown(error.description)
        return
    }
    let text = link.text()
    precondition((try? ChannelLink(text)) == link)
    precondition((try? ChannelLink(link.text(.words))) == link)
    precondition("\(link)".hasSuffix("#…") && text.hasPrefix("\(link)".dropLast()))
    // Deriving keys from a passphrase is too slow for fuzzing.
    guard case .secret = link.opening, let keys = try? ChannelKeys(link) else { return }
    precondition(keys.name == link.name)
}

/// Feeds the bytes as a control datagram from a stranger, as one with a valid hop tag, and as the content of a record
/// that a member seals with its own key.
func feedControl(_ bytes: Span<UInt8>) {
    if let packet = try? ControlPacket(parsing: bytes) { check(packet, is: bytes) }
    var joining = fuzzSession.joining
    switch joining.receive(bytes) {
    case .welcome, .refusal(.full), .refusal(.limited), .refusal(.refused), .refusal(.rekeyed), .refusal(.stopping),
        .refusal(.left), .refusal(.displaced), .refusal(.notAdmitted):
        preconditionFailure("a stranger was believed")
    case .cookie, .refusal(.unproved), .doubt, .nothing: break
    }

    if bytes.count >= 96 { feedProvedJoin(bytes.extracting(..<96)) }

    let keys = fuzzSession.keys
    var opener = keys.opener(for: .relay)
    var stranger = bytes.copied
    var strange = stranger.mutableSpan
    switch Result(catching: { () throws(RecordOpener.Failure) in try opener.open(&strange) }) {
    case .success: preconditionFailure("a stranger was believed")
    case .failure: break
    }

    guard bytes.count > 0, bytes.count <= 1233 else { return }
    var sealer = keys.sealer(for: .member)
    var sealed = [UInt8](capacity: bytes.count + 36) { sealer.seal(inside: bytes, into: &$0) }
    var datagram = sealed.mutableSpan
    switch Result(catching: { () throws(RecordOpener.Failure) in try opener.open(&datagram) }) {
    case .success(.report(let range)):
        precondition(range.lowerBound == 21 && range.upperBound == bytes.count + 20)
        for place in range { precondition(datagram[place] == bytes[place - 20]) }
    case .success(.managed(let range)):
        precondition(range.lowerBound == 20 && range.upperBound == bytes.count + 20)
        for place in range { precondition(datagram[place] == bytes[place - 20]) }
    // Unknown reasons are left out, and a REFUSED without a reason cannot be written.
    case .success(.refused(let counts)) where counts.total == 0: break
    case .success(let record):
        var again = keys.sealer(for: .member)
        checkInfos(of: record)
        var written = [UInt8](capacity: ControlPacket.maximumByteCount) { again.seal(record, into: &$0) }
        var other = keys.opener(for: .relay)
        var span = written.mutableSpan
        precondition((try? other.open(&span)) == record)
    case .failure(.malformed): break
    case .failure: preconditionFailure("what was sealed was not opened")
    }
}

/// Feeds 96 bytes as the Noise message of a JOIN2 whose proof is right, as everybody with the join key can make it.
private func feedProvedJoin(_ message: Span<UInt8>) {
    var datagram = [UInt8](capacity: JoinAttempt.maximumByteCount) { fuzzSession.provenJoining.write(into: &$0) }
    let genuine = datagram
    for index in 0..<96 { datagram[80 + index] = message[index] }
    let (proofKey, proved) = (fuzzSession.proofKey, Array(datagram[..<176]))
    let proof = HKDF.extract(salt: proofKey.span, secret: proved.span)
    proof.withBytes { for index in 0..<16 { datagram[176 + index] = $0[index] } }
    guard case .join(let join) = try? ControlPacket(parsing: datagram.span), join.isProved(by: fuzzSession.listenKey)
    else { preconditionFailure("a proved JOIN2 was refused") }
    let isOpened = OpenedJoin(join, by: fuzzSession.relayKey) != nil
    precondition(isOpened == (datagram == genuine), "a stranger's message was opened")
}

/// Traps if information that a stranger has sealed can be opened.
private func checkInfos(of record: Record) {
    var infos: [SealedMemberInfo] = []
    switch record {
    case .info(let info): if let info { infos.append(info) }
    case .roster(_, let entries), .rosterPage(_, let entries):
        for case .here(.some(let info)) in entries.map(\.state) { infos.append(info) }
    default: break
    }
    for info in infos { precondition(info.opened(under: fuzzSession.mediaRoot) == nil, "a stranger was believed") }
}

private func check(_ packet: ControlPacket, is bytes: Span<UInt8>) {
    let written = [UInt8](capacity: 256) { output in
        switch packet {
        case .hello(let nonce): ControlPacket.writeHello(nonce: nonce, into: &output)
        case .cookie(let cookie, let nonce): ControlPacket.writeCookie(cookie, nonce: nonce, into: &output)
        case .hello2(let nonce, let channelID):
            ControlPacket.writeHello2(nonce: nonce, channelID: channelID, into: &output)
        case .cookie2(let cookie, let nonce):
            ControlPacket.writeCookie2(cookie, nonce: nonce, into: &output)
        case .join(let join):
            join.write(into: &output)
            precondition(!join.isProved(by: fuzzSession.strangeKey))
        case .refusal(let refusal): refusal.write(into: &output)
        case .unknownSession(let session): ControlPacket.writeUnknownSession(session, into: &output)
        case .announcement(let announcement), .taggedAnnouncement(let announcement):
            ControlPacket.write(announcement, into: &output)
            precondition(!announcement.isAuthentic(under: fuzzSession.mediaRoot))
        case .signedAnnouncement, .taggedSignedAnnouncement:
            let range = ControlPacket.signedAnnouncementRange
            ControlPacket.write(signedAnnouncement: bytes.extracting(range), into: &output)
        case .welcome, .welcome2, .record: break
        }
    }
    precondition(written.count <= bytes.count)
    for index in written.indices { precondition(written[index] == bytes[index]) }
}

/// Feeds the bytes as a received SRTP packet, and as a packet to be protected; the last byte selects the suite.
func feedSRTP(_ bytes: Span<UInt8>) {
    let suite = bytes.count > 0 && bytes[bytes.count - 1] & 1 == 1 ? SRTPSuite.aesGCM : .aesCounterMode
    precondition(StrangersAtSRTP.shared.refuse(bytes, suite), "a stranger's packet was taken")
    let key = fuzzSession.mediaRoot.masterKey(suite, ssrc: SSRC(9), epoch: Epoch(rawValue: 1))
    guard bytes.count >= 12, bytes.count <= 1400, var sender = try? SRTPContext(sending: key, ssrc: SSRC(9)) else {
        return
    }
    var packet = bytes.copied
    for (place, byte) in zip(8..<12, [UInt8]([0, 0, 0, 9])) { packet[place] = byte }
    var isProtected = false
    var protected = [UInt8](capacity: packet.count + suite.tagByteCount) { output in
        for byte in packet { output.append(byte) }
        do {
            try sender.protect(&output)
            isProtected = true
        } catch {
            // Bytes that are not RTP cannot be protected.
        }
    }
    guard isProtected else { return }
    precondition(protected.count == packet.count + suite.tagByteCount)
    // The sender's packet index started at the packet's sequence number.
    let number = SequenceNumber(rawValue: UInt16(packet[2]) << 8 | UInt16(packet[3]))
    let index = PacketIndex(rolloverCounter: 0, number)
    guard var again = try? SRTPContext(receiving: key, ssrc: SSRC(9), at: index) else { return }
    var arrived = protected.mutableSpan
    precondition((try? again.unprotect(&arrived)) == packet.count, "what was protected was not opened")
    precondition(Array(protected[..<packet.count]) == packet)
}

/// One receiver for each suite, to which strangers' packets are fed. No earlier packet may change its answer. The
/// receivers also save time: Debian's libsrtp2 uses NSS, which is initialised with the first context and shut down with
/// the last, most of a millisecond each time, and these receivers keep it initialised.
final class StrangersAtSRTP: Sendable {
    static let shared = StrangersAtSRTP()
    private let counterMode = Locked(receiver(.aesCounterMode))
    private let gcm = Locked(receiver(.aesGCM))

    /// Whether the receiver refuses the packet.
    func refuse(_ bytes: Span<UInt8>, _ suite: SRTPSuite) -> Bool {
        var packet = bytes.copied
        return (suite == .aesGCM ? gcm : counterMode).withLock { receiver in
            var span = packet.mutableSpan
            return (try? receiver.unprotect(&span)) == nil
        }
    }

    private static func receiver(_ suite: SRTPSuite) -> SRTPContext {
        let key = fuzzSession.mediaRoot.masterKey(suite, ssrc: SSRC(9), epoch: Epoch(rawValue: 1))
        let start = PacketIndex(rolloverCounter: 7, SequenceNumber(rawValue: 65_535))
        guard let receiver = try? SRTPContext(receiving: key, ssrc: SSRC(9), at: start) else {
            preconditionFailure("no context")
        }
        return receiver
    }
}

/// Keys that a fuzzer cannot guess.
private let fuzzSession = FuzzSession()

private struct FuzzSession: Sendable {
    let keys: SessionKeys
    let joining: JoinAttempt
    let strangeKey: JoinKey
    let mediaRoot: MediaRoot
    let relayKey: RelayKey
    let listenKey: JoinKey
    /// The key of the outer proof of JOIN2s.
    let proofKey: [UInt8]
    /// An attempt to join whose next datagram is a JOIN2.
    let provenJoining: JoinAttempt

    init() {
        var randomness = SeededRandom(seed: 4)
        let channel = ChannelKeys(name: "fuzz", secret: Secret(.talk, using: &randomness))
        mediaRoot = channel.mediaRoot
        strangeKey = JoinKey(dummyUsing: &randomness)
        relayKey = RelayKey(using: &randomness)
        listenKey = channel.listenJoin
        proofKey = Self.proofKey(of: channel.listenJoin)
        provenJoining = Self.provenJoining(channel, relayKey, using: &randomness)
        var joining = JoinAttempt(channel.listenJoin, relay: RelayID(host: "fuzz", port: 5004), using: &randomness)
        self.joining = joining
        let address = PeerAddress(v4: 0x7F00_0001, port: 5004)
        var cookies = Cookies(using: &randomness)
        let hello = [UInt8](capacity: 128) { joining.write(into: &$0) }
        guard case .hello(let nonce) = try? ControlPacket(parsing: hello.span) else { preconditionFailure("no hello") }
        let answer = [UInt8](capacity: 40) {
            ControlPacket.writeCookie(
                cookies.cookie(for: nonce, from: address, to: address, at: .start), nonce: nonce, into: &$0)
        }
        _ = joining.receive(answer.span)
        let said = [UInt8](capacity: 128) { joining.write(into: &$0) }
        var keys: SessionKeys?
        guard case .join(let join) = try? ControlPacket(parsing: said.span) else { preconditionFailure("no join") }
        _ = [UInt8](capacity: 105) {
            keys = Welcome.answer(
                join, key: channel.listenJoin, share: KeyShare(using: &randomness), session: 1,
                terms: Welcome.Terms(lease: 30, clock: WallClock(milliseconds: 0), address: address), into: &$0)
        }
        guard let keys else { preconditionFailure("no session") }
        self.keys = keys
    }

    /// Returns expand(join key, "join 2"). The join key is read from its text.
    private static func proofKey(of key: JoinKey) -> [UInt8] {
        var (held, bitCount) = (0, 0)
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567")
        var bytes: [UInt8] = []
        for digit in key.configurationText {
            held = (held << 5 | (alphabet.firstIndex(of: digit) ?? 0)) & 0xFFFF
            bitCount += 5
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: held >> bitCount))
        }
        let secret = SecretBytes(copying: bytes.span)
        return HKDF.expand(secret, Array("join 2".utf8), count: 32).withBytes { $0.copied }
    }

    private static func provenJoining(
        _ channel: ChannelKeys, _ relayKey: RelayKey, using randomness: inout SeededRandom
    ) -> JoinAttempt {
        let fingerprint = RelayFingerprint(relay: relayKey.publicKey, ownerless: channel)
        var joining = JoinAttempt(
            channel.listenJoin, relay: RelayID(host: "fuzz", port: 5004),
            expecting: ExpectedRelay(fingerprint, of: channel),
            using: &randomness)
        let address = PeerAddress(v4: 0x7F00_0001, port: 5004)
        var cookies = Cookies(using: &randomness)
        let hello = [UInt8](capacity: 128) { joining.write(into: &$0) }
        guard case .hello2(let nonce, _) = try? ControlPacket(parsing: hello.span) else {
            preconditionFailure("no HELLO2")
        }
        let cookie = Cookie2(
            cookies.cookie(for: nonce, from: address, to: address, at: .start), relay: relayKey.publicKey,
            owner: OwnerHash(ownerless: channel.listenJoin))
        let answer = [UInt8](capacity: 104) { ControlPacket.writeCookie2(cookie, nonce: nonce, into: &$0) }
        guard case .cookie = joining.receive(answer.span) else { preconditionFailure("no JOIN2") }
        return joining
    }
}

extension Span<UInt8> {
    var copied: [UInt8] {
        [UInt8](capacity: count) { for index in indices { $0.append(self[index]) } }
    }
}
