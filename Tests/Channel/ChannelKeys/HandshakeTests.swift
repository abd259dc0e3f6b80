import TenfourAudioCore
import TenfourChannelKeys
import TenfourFloor
import TenfourPackets
import TenfourSession
import Testing

/// The handshake that the test vectors of session.json describe, and its failures.
struct HandshakeTests {
    private static let inputs = SessionInputs.written
    private let member = PeerAddress(v4: 0xC000_0207, port: 40_000)
    private let relay = PeerAddress(v4: 0xC633_6401, port: 5004)
    private let key: JoinKey
    private var joining: JoinAttempt
    private var cookies: Cookies
    private let now = Instant.start + .seconds(60 * inputs.generation + 7)

    init() throws {
        let link = try ChannelLink(Self.inputs.link)
        key = try #require(try ChannelKeys(link).talkJoin)
        var chance = WrittenDown(number(Self.inputs.nonce), bytes: hex(Self.inputs.memberShareSecret))
        joining = JoinAttempt(key, relay: try #require(link.relays.first?.id), using: &chance)
        var secret = WrittenDown(bytes: hex(Self.inputs.cookieSecret))
        cookies = Cookies(using: &secret)
    }

    private var said: [UInt8] { [UInt8](capacity: 128) { joining.write(into: &$0) } }

    private mutating func takeCookie() throws {
        guard case .hello(let nonce) = try ControlPacket(parsing: said.span) else { return #expect(Bool(false)) }
        let cookie = cookies.cookie(for: nonce, from: member, to: relay, at: now)
        let packet = [UInt8](capacity: 40) { ControlPacket.writeCookie(cookie, nonce: nonce, into: &$0) }
        #expect(packet == (try KeysVector.bytes("session-cookie")))
        guard case .cookie = joining.receive(packet.span) else { return #expect(Bool(false)) }
    }

    private func join() throws -> Join {
        guard case .join(let join) = try ControlPacket(parsing: said.span) else { throw Missing() }
        return join
    }

    private struct Missing: Error {}

    private func welcome(_ join: Join, key: JoinKey) throws -> (packet: [UInt8], keys: SessionKeys) {
        var chance = WrittenDown(bytes: hex(Self.inputs.relayShareSecret))
        let terms = Welcome.Terms(
            lease: Self.inputs.lease, clock: WallClock(milliseconds: Self.inputs.milliseconds), address: member)
        var keys: SessionKeys?
        let packet = [UInt8](capacity: 105) {
            keys = Welcome.answer(
                join, key: key, share: KeyShare(using: &chance), session: UInt64(Self.inputs.session, radix: 16)!,
                terms: terms, into: &$0)
        }
        return (packet, try #require(keys))
    }

    @Test mutating func theConversationIsTheOneWrittenDown() throws {
        #expect(said == (try KeysVector.bytes("session-hello")))
        try takeCookie()
        #expect(said == (try KeysVector.bytes("session-join")))
        let join = try join()
        let isOurs = cookies.accepts(join.cookie, for: join.nonce, from: member, to: relay, at: now)
        #expect(isOurs)
        #expect(join.isProved(by: key))
        #expect(join.role == .talk && join.channelID == key.channelID)
        let (packet, keys) = try welcome(join, key: key)
        #expect(packet == (try KeysVector.bytes("session-welcome")))
        guard case .welcome(let terms, let same) = joining.receive(packet.span) else { return #expect(Bool(false)) }
        #expect(terms.lease == 30 && terms.address == member && terms.clock.seconds == 1_700_000_000)
        #expect(same == keys)
        try recordsAreTheOnesWrittenDown(keys, terms)
        try refusedIsTheOneWrittenDown(keys)
        try announcementsAreTheOnesWrittenDown(keys)
    }

    private func refusedIsTheOneWrittenDown(_ keys: SessionKeys) throws {
        var counts = MediaRefusalCounts()
        (counts[.talkerRate], counts[.floor]) = (3, 70_000)
        var sealer = keys.sealer(for: .relay)
        let packet = [UInt8](capacity: 100) { sealer.seal(.refused(counts), into: &$0) }
        #expect(packet == (try KeysVector.bytes("session-refused")))
        // A relay of a later version may know more reasons.
        var known = MediaRefusalCounts()
        known[.channelRate] = 1
        for (name, expected) in [("session-refused", counts), ("session-refused-unknown", known)] {
            var bytes = try KeysVector.bytes(name)
            var span = bytes.mutableSpan
            var opener = keys.opener(for: .member)
            #expect(try opener.open(&span) == .refused(expected))
        }
    }

    private static let floorRequest = Record.floor(
        .request(number: 1, SSRC(inputs.ssrc), .normal, waits: false, sends: false))
    private static let floorGranted = Record.floor(
        .granted(
            number: 1, SSRC(inputs.ssrc), .normal, FloorRevision(term: 1, state: 1), time: 180_000, mustAnswer: false))

    private static let hearingOfMembers: [(String, Record)] = [
        ("hearing", .hearing(hearing)), ("hearing-muted", .hearing(HearingReport(output: .muted))),
    ]
    private static let hearingOfRelays: [(String, Record)] = [
        ("hearing-request", .hearingRequest(hearingRequest)),
        ("hearing-end", .hearingRequest(HearingRequest(talkers: []))), ("hearing-list", .hearingList(hearingList)),
    ]

    private static let other = SSRC(.max)
    private static let hearingRequest = HearingRequest(talkers: [SSRC(inputs.ssrc), other])
    private static let hearing = HearingReport(
        output: .playing, isUrgent: true,
        playouts: [
            StationStatus.Playout(
                source: SSRC(inputs.ssrc), missingShare: 26.0 / 255,
                highestSequenceNumber: SequenceNumber(rawValue: 65_535)),
            StationStatus.Playout(
                source: other, missingShare: 0, highestSequenceNumber: SequenceNumber(rawValue: 3)),
        ])
    private static let hearingList = HearingList(
        talker: SSRC(inputs.ssrc), memberCount: 40,
        entries: [
            entry(5, .playing, 300, 26, 65_535), entry(6, .muted, 6_200, 0, 65_530), entry(7, .playing, 0, nil, 0),
            HearingList.Entry(member: 8, statement: nil),
        ])

    private static func entry(
        _ member: UInt32, _ output: StationStatus.Output, _ age: Int, _ missing: Double?, _ highest: UInt16
    ) -> HearingList.Entry {
        let playout = missing.map {
            StationStatus.Playout(
                source: SSRC(inputs.ssrc), missingShare: $0 / 255,
                highestSequenceNumber: SequenceNumber(rawValue: highest))
        }
        return HearingList.Entry(
            member: member,
            statement: HearingList.Statement(age: .milliseconds(age), output: output, playout: playout))
    }

    private func recordsAreTheOnesWrittenDown(_ keys: SessionKeys, _ terms: Welcome.Terms) throws {
        let token = UInt64(Self.inputs.token, radix: 16)!
        let receipt = UInt64(Self.inputs.receipt, radix: 16)!
        let challenge = number(Self.inputs.challenge)
        let info = try info()
        let sides: [(SessionKeys.Side, SessionKeys.Side, [(String, Record)])] = [
            (
                .member, .relay,
                [
                    ("renewal", .renewal(token: token, receipt: receipt)), ("path-answer", .pathAnswer(challenge)),
                    ("member-report", .report(21..<29)), ("leave", .leave), ("info", .info(info)),
                    ("info-none", .info(nil)),
                    (
                        "roster-request",
                        .rosterRequest(.others, position: Self.inputs.position, receipt: receipt)
                    ),
                    ("floor-request", Self.floorRequest),
                ] + Self.hearingOfMembers
            ),
            (
                .relay, .member,
                [
                    ("renewed", .renewed(token: token, receipt: receipt, terms)),
                    ("path-challenge", .pathChallenge(challenge)),
                    ("goodbye", .goodbye(.stopping)), ("ssrc-refused", .ssrcRefused(SSRC(Self.inputs.ssrc))),
                    ("relay-report", .report(21..<29)),
                    (
                        "limited",
                        .limited(
                            packetsPerSecond: Self.inputs.packetsPerSecond, bitsPerSecond: Self.inputs.bitsPerSecond)
                    ),
                    ("roster", .roster(Self.rosterHead, Self.entries(info))),
                    ("roster-page", .rosterPage(Self.pageHead, [Self.entries(info)[0]])),
                    ("floor-granted", Self.floorGranted),
                ] + Self.hearingOfRelays
            ),
        ]
        for (from, to, records) in sides {
            var sealer = keys.sealer(for: from)
            var opener = keys.opener(for: to)
            for (name, record) in records {
                let report = hex(Self.inputs.report)
                var packet = [UInt8](capacity: 300) {
                    if case .report = record {
                        sealer.seal(report: report.span, into: &$0)
                    } else {
                        sealer.seal(record, into: &$0)
                    }
                }
                #expect(packet == (try KeysVector.bytes("session-\(name)")), "\(name)")
                #expect(try ControlPacket(parsing: packet.span) == .record(session: keys.session))
                var span = packet.mutableSpan
                let opened = try opener.open(&span)
                #expect(opened == record)
                if case .report(let range) = opened { #expect(Array(packet[range]) == report) }
            }
        }
    }

    /// The member's sealed information.
    private func info() throws -> SealedMemberInfo {
        let root = try ChannelKeys(ChannelLink(Self.inputs.link)).mediaRoot
        let info = MemberInfo(
            name: Self.inputs.memberName, microphone: try #require(.init(rawValue: Self.inputs.microphone)),
            ssrc: SSRC(Self.inputs.ssrc), joined: Self.inputs.joined, microphoneChanged: Self.inputs.microphoneChanged)
        let sealed = SealedMemberInfo(
            info, id: UInt64(Self.inputs.memberID, radix: 16)!, counter: Self.inputs.infoCounter, under: root)
        #expect(sealed.opened(under: root) == info)
        return sealed
    }

    private static let rosterHead = Roster.Head(
        revision: inputs.rosterRevision, previous: inputs.rosterPrevious, otherCount: inputs.otherCount,
        counter: inputs.infoCounter)
    private static let pageHead = Roster.PageHead(
        part: .others, revision: inputs.rosterRevision, position: inputs.position, total: inputs.total)

    private static func entries(_ info: SealedMemberInfo) -> [Roster.Entry] {
        [
            Roster.Entry(number: inputs.memberNumber, .here(info)), Roster.Entry(number: inputs.goneNumber, .gone),
            Roster.Entry(number: inputs.unnamedNumber, .here(nil)),
        ]
    }

    private func announcementsAreTheOnesWrittenDown(_ keys: SessionKeys) throws {
        let root = try ChannelKeys(ChannelLink(Self.inputs.link)).mediaRoot
        let announcement = Announcement(
            suite: .aesCounterMode, ssrc: SSRC(Self.inputs.ssrc), epoch: Epoch(rawValue: number(Self.inputs.epoch)),
            index: PacketIndex(
                rolloverCounter: Self.inputs.rolloverCounter, SequenceNumber(rawValue: Self.inputs.sequenceNumber)),
            at: WallClock(milliseconds: Self.inputs.milliseconds), under: root)
        var tagger = keys.hopTagger(for: .member)
        let packet = [UInt8](capacity: 68) {
            ControlPacket.write(announcement, into: &$0)
            let plain = $0.span.count
            #expect(plain == 56)
            let isTagged = tagger.tag(&$0)
            #expect(isTagged)
        }
        #expect(packet == (try KeysVector.bytes("session-announcement-tagged")))
        #expect(Array(packet[..<56]) == (try KeysVector.bytes("session-announcement")))
        #expect(try ControlPacket(parsing: packet.span) == .taggedAnnouncement(announcement))
        #expect(announcement.isAuthentic(under: root))
    }

    @Test mutating func refusalsAreTheOnesWrittenDown() throws {
        try takeCookie()
        let join = try join()
        for (reason, name) in [(Refusal.Reason.unproved, "unproved"), (.full, "full"), (.stopping, "stopping")] {
            let packet = [UInt8](capacity: 40) { Refusal(of: join, for: reason, key: key).write(into: &$0) }
            #expect(packet == (try KeysVector.bytes("session-refusal-\(name)")))
            guard case .refusal(reason) = joining.receive(packet.span) else { return #expect(Bool(false)) }
            // A refusal with a changed tag is ignored, except `.unproved`, which has no valid tag in any case.
            var forged = packet
            forged[39] ^= 1
            switch joining.receive(forged.span) {
            case .refusal(.unproved): #expect(reason == .unproved)
            case .nothing: #expect(reason != .unproved)
            default: #expect(Bool(false))
            }
        }
    }

    @Test mutating func aCookieIsForOneSourceOneNonceAndTwoMinutes() throws {
        let cookie = cookies.cookie(for: 1, from: member, to: relay, at: now)
        let elsewhere = PeerAddress(v4: 0xC000_0207, port: 40_001)
        let accepted = [
            cookies.accepts(cookie, for: 1, from: elsewhere, to: relay, at: now),
            cookies.accepts(cookie, for: 1, from: member, to: elsewhere, at: now),
            cookies.accepts(cookie, for: 2, from: member, to: relay, at: now),
            cookies.accepts(cookie, for: 1, from: member, to: relay, at: now + .seconds(60)),
            cookies.accepts(cookie, for: 1, from: member, to: relay, at: now + .seconds(120)),
            cookies.accepts(cookie, for: 1, from: member, to: relay, at: now),
        ]
        #expect(accepted == [false, false, false, true, false, true])
        var other = Cookies(using: &chance)
        let isOthers = other.accepts(cookie, for: 1, from: member, to: relay, at: now)
        #expect(!isOthers)
    }

    @Test mutating func aReceiptIsForOneSessionAtOneAddressAndTwoMinutes() throws {
        let receipt = cookies.receipt(for: 1, at: member, now)
        let elsewhere = PeerAddress(v4: 0xC000_0207, port: 40_001)
        let accepted = [
            cookies.accepts(receipt: receipt, for: 1, at: elsewhere, now),
            cookies.accepts(receipt: receipt, for: 2, at: member, now),
            cookies.accepts(receipt: receipt ^ 1, for: 1, at: member, now),
            cookies.accepts(receipt: receipt, for: 1, at: member, now + .seconds(60)),
            cookies.accepts(receipt: receipt, for: 1, at: member, now + .seconds(120)),
            cookies.accepts(receipt: receipt, for: 1, at: member, now),
        ]
        #expect(accepted == [false, false, false, true, false, true])
    }

    @Test func anIPv6AddressIsOneRelayHoweverItIsWritten() throws {
        let relay = RelayID(host: "2001:db8::7", port: 5004)
        for text in ["[2001:db8:0::7]", "[2001:0DB8:0:0:0:0:0:7]", "[2001:db8::0.0.0.7]:5004"] {
            #expect(try ChannelLink("tenfour://\(text)/family#\(Self.secret)").relays.first?.id == relay)
        }
        #expect(RelayID(host: "2001:db8::8", port: 5004) != relay)
        #expect(RelayID(host: "2001:db8::7", port: 5005) != relay)
    }

    private static let secret = "talk-aaaq-eaye-auda-ocaj-bifq-ydio-b5sj"

    private var chance = WrittenDown(bytes: [UInt8](repeating: 7, count: 64))

    @Test func anIPv4AddressWithinIPv6IsOneAddress() {
        #expect(PeerAddress(v6: 0xFFFF_C000_0207, port: 40_000) == member)
        #expect(PeerAddress(v6: 0x2001_0DB8 << 96, port: 1).v6 == 0x2001_0DB8 << 96)
        #expect(member.v4 == 0xC000_0207 && member.v6 == nil)
    }

    @Test mutating func anyChangedBitOfJoinBreaksItsProof() throws {
        try takeCookie()
        let bytes = said
        for bit in 0..<(bytes.count * 8) {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            guard case .join(let join) = try? ControlPacket(parsing: changed.span) else { continue }
            #expect(!join.isProved(by: key))
        }
    }

    /// Somebody on the path answers the HELLO before the relay does.
    @Test mutating func upToFourCookiesAreAnsweredAndTheTrueOneLetsIn() throws {
        func cookie(_ number: UInt8) throws -> [UInt8] {
            var bytes = try KeysVector.bytes("session-cookie")
            bytes[39] ^= number
            return bytes
        }
        var said: [[UInt8]] = []
        for number: UInt8 in [1, 2, 3, 1] {
            let bytes = try cookie(number)
            if case .cookie = joining.receive(bytes.span) {
                said.append([UInt8](capacity: 128) { joining.write(into: &$0) })
            }
        }
        #expect(said.count == 3 && joining.datagramCount == 3)
        let (fourth, fifth) = (try cookie(0), try cookie(5))
        guard case .cookie = joining.receive(fourth.span) else { return #expect(Bool(false)) }
        let join = try join()
        guard case .nothing = joining.receive(fifth.span) else { return #expect(Bool(false), "a fifth") }
        let again = (0..<joining.datagramCount).map { number in
            [UInt8](capacity: 128) { joining.write(number, into: &$0) }
        }
        let last = try KeysVector.bytes("session-join")
        #expect(again == said + [last])
        let packet = try welcome(join, key: key).packet
        guard case .welcome = joining.receive(packet.span) else { return #expect(Bool(false)) }
    }

    @Test mutating func anyChangedBitOfWelcomeIsNotBelieved() throws {
        try takeCookie()
        let packet = try welcome(try join(), key: key).packet
        for bit in 0..<(packet.count * 8) {
            var changed = packet
            changed[bit / 8] ^= 1 << (bit % 8)
            guard case .nothing = joining.receive(changed.span) else { return #expect(Bool(false), "bit \(bit)") }
        }
        guard case .welcome = joining.receive(packet.span) else { return #expect(Bool(false)) }
    }

    @Test mutating func aListenKeyProvesNoTalker() throws {
        try takeCookie()
        let listen = try ChannelKeys(ChannelLink(Self.inputs.link)).listenJoin
        #expect(!(try join()).isProved(by: listen))
        // A relay that has only the listen key cannot answer a talker.
        let packet = try welcome(try join(), key: listen).packet
        guard case .nothing = joining.receive(packet.span) else { return #expect(Bool(false)) }
    }

    @Test mutating func aShareOfLowOrderIsRefused() throws {
        try takeCookie()
        for low in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            let bytes = said
            let forged = bytes[..<80] + low + bytes[112...]
            guard case .join(let join) = try ControlPacket(parsing: Array(forged).span) else {
                return #expect(Bool(false))
            }
            let terms = Welcome.Terms(lease: 30, clock: WallClock(milliseconds: 0), address: member)
            let packet = [UInt8](capacity: 105) {
                let keys = Welcome.answer(
                    join, key: key, share: KeyShare(using: &chance), session: 1, terms: terms, into: &$0)
                #expect(keys == nil)
            }
            #expect(packet.isEmpty)
            chance = WrittenDown(bytes: [UInt8](repeating: 7, count: 64))
        }
    }
}
