import Foundation
import TenfourAudioCore
import TestSupport
import Testing

@testable import TenfourChannelKeys

/// The handshake in which the relay proves itself, as the test vectors of second.json describe it, and its failures.
struct SecondHandshakeTests {
    /// The inputs from which the packets in second.json were made, beside those of session.json.
    private struct Inputs: Decodable {
        var relayKey, relayPublicKey, fingerprint, link, seed, relayEphemeral: String
        var memberControl, relayControl, memberHop, relayHop: String
    }

    private static func file(_ name: String) -> URL {
        URL(filePath: Repository.path("Protocol/vectors/members/\(name)"))
    }

    private static let inputs: Inputs = {
        do { return try JSONDecoder().decode(Inputs.self, from: Data(contentsOf: file("second.json"))) } catch {
            fatalError("second.json cannot be read: \(error)")
        }
    }()

    private let session = SessionInputs.written
    private let member = PeerAddress(v4: 0xC000_0207, port: 40_000)
    private let relay = PeerAddress(v4: 0xC633_6401, port: 5004)
    private let relayKey: RelayKey
    private let keys: ChannelKeys
    private let key: JoinKey
    private let id: RelayID
    private let expected: ExpectedRelay
    private var joining: JoinAttempt
    private var cookies: Cookies
    private let now: Instant

    init() throws {
        let link = try ChannelLink(Self.inputs.link)
        keys = try ChannelKeys(link)
        key = try #require(keys.talkJoin)
        id = try #require(link.relays.first?.id)
        relayKey = try #require(RelayKey(fileText: Self.inputs.relayKey))
        expected = ExpectedRelay(try #require(link.fingerprint), of: keys)
        var chance = WrittenDown(number(session.nonce), bytes: hex(Self.inputs.seed))
        joining = JoinAttempt(key, relay: id, expecting: expected, using: &chance)
        var secret = WrittenDown(bytes: hex(session.cookieSecret))
        cookies = Cookies(using: &secret)
        now = Instant.start + .seconds(60 * session.generation + 7)
    }

    private static func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: file("\(name).bin"))) }

    private var said: [UInt8] { [UInt8](capacity: JoinAttempt.maximumByteCount) { joining.write(into: &$0) } }

    /// Returns the relay's COOKIE2, with the key and owner that a test may replace.
    private mutating func cookie2(_ relayKey: RelayPublicKey? = nil, _ owner: OwnerHash? = nil) -> [UInt8] {
        let nonce = number(session.nonce)
        let cookie = Cookie2(
            cookies.cookie(for: nonce, from: member, to: relay, at: now), relay: relayKey ?? self.relayKey.publicKey,
            owner: owner ?? OwnerHash(ownerless: keys.listenJoin))
        return [UInt8](capacity: 104) { ControlPacket.writeCookie2(cookie, nonce: nonce, into: &$0) }
    }

    private mutating func join() throws -> Join {
        let cookie = cookie2()
        guard case .cookie = joining.receive(cookie.span), case .join(let join) = try ControlPacket(parsing: said.span)
        else { throw Missing() }
        return join
    }

    private struct Missing: Error {}

    private func welcome2(_ join: Join) throws -> (packet: [UInt8], keys: SessionKeys) {
        var chance = WrittenDown(bytes: hex(Self.inputs.relayEphemeral))
        let opened = try #require(OpenedJoin(join, by: self.relayKey))
        let terms = Welcome.Terms(
            lease: session.lease, clock: WallClock(milliseconds: session.milliseconds), address: member)
        var keys: SessionKeys?
        let packet = [UInt8](capacity: 105) {
            keys = opened.answer(
                key: key, share: KeyShare(using: &chance), session: UInt64(session.session, radix: 16)!, terms: terms,
                into: &$0)
        }
        return (packet, try #require(keys))
    }

    @Test mutating func theConversationIsTheOneWrittenDown() throws {
        #expect(relayKey.publicKey.text == Self.inputs.relayPublicKey)
        #expect(
            RelayFingerprint(relay: relayKey.publicKey, ownerless: keys).text == Self.inputs.fingerprint)
        #expect(said == (try Self.bytes("second-hello")))
        #expect(
            try ControlPacket(parsing: said.span) == .hello2(nonce: number(session.nonce), channelID: key.channelID))
        #expect(cookie2() == (try Self.bytes("second-cookie")))
        let join = try join()
        #expect(said == (try Self.bytes("second-join")))
        #expect(join.isProved(by: key) && join.demandsRelayKey)
        let (packet, keys) = try welcome2(join)
        #expect(packet == (try Self.bytes("second-welcome")))
        guard case .welcome(let terms, let same) = joining.receive(packet.span) else { return #expect(Bool(false)) }
        #expect(terms.lease == session.lease && terms.address == member && same == keys)
        #expect(keys.memberControl.array == hex(Self.inputs.memberControl))
        #expect(keys.relayControl.array == hex(Self.inputs.relayControl))
        #expect(keys.memberHop.array == hex(Self.inputs.memberHop) && keys.relayHop.array == hex(Self.inputs.relayHop))
        let refusal = [UInt8](capacity: 40) { Refusal(of: join, for: .full, key: key).write(into: &$0) }
        #expect(refusal == (try Self.bytes("second-refusal-full")))
        guard case .refusal(.full) = joining.receive(refusal.span) else { return #expect(Bool(false)) }
    }

    @Test mutating func noAnswerIsLongerThanItsQuestion() throws {
        #expect(cookie2().count <= said.count)
        let join = try join()
        #expect(try welcome2(join).packet.count <= said.count)
    }

    @Test mutating func aRelayWithAnotherKeyOrOwnerIsNotJoined() throws {
        var chance = WrittenDown(bytes: Array(repeating: 9, count: 32))
        let other = RelayKey(using: &chance)
        for (cookie, doubt) in [
            (cookie2(other.publicKey), RelayDoubt.otherKey),
            (cookie2(nil, cookies.ownerHash(ofUnknown: key.channelID)), .otherKey),
        ] {
            guard case .doubt(doubt) = joining.receive(cookie.span) else { return #expect(Bool(false)) }
            #expect(!joining.hasCookie)
            #expect(said == (try Self.bytes("second-hello")))
        }
        // The relay's own cookie may come later.
        _ = try join()
    }

    @Test mutating func theFirstCookieOfAnOldRelayIsAHintAndNoJoin() throws {
        let nonce = number(session.nonce)
        let cookie = cookies.cookie(for: nonce, from: member, to: relay, at: now)
        let packet = [UInt8](capacity: 40) { ControlPacket.writeCookie(cookie, nonce: nonce, into: &$0) }
        guard case .doubt(.noKey) = joining.receive(packet.span) else { return #expect(Bool(false)) }
        #expect(said == (try Self.bytes("second-hello")))
        // Nor does a WELCOME of page 06 open anything.
        let join = try join()
        var chance = WrittenDown(bytes: hex(session.relayShareSecret))
        let old = Join(
            nonce: join.nonce, cookie: join.cookie, key: key, relay: id, share: KeyShare(using: &chance).point)
        var share = WrittenDown(bytes: hex(session.relayShareSecret))
        let terms = Welcome.Terms(lease: 30, clock: WallClock(milliseconds: 0), address: member)
        let welcome = [UInt8](capacity: 105) {
            _ = Welcome.answer(old, key: key, share: KeyShare(using: &share), session: 1, terms: terms, into: &$0)
        }
        #expect(welcome.count == 105)
        guard case .nothing = joining.receive(welcome.span) else { return #expect(Bool(false)) }
    }

    @Test mutating func eachCookieHasAJoinWithItsOwnEphemeralKey() throws {
        var ephemerals: Set<[UInt8]> = []
        for minute in 0..<5 {
            let nonce = number(session.nonce)
            let cookie = Cookie2(
                cookies.cookie(for: nonce, from: member, to: relay, at: now + .seconds(60 * minute)),
                relay: relayKey.publicKey, owner: OwnerHash(ownerless: keys.listenJoin))
            let packet = [UInt8](capacity: 104) { ControlPacket.writeCookie2(cookie, nonce: nonce, into: &$0) }
            let answer = joining.receive(packet.span)
            if case .cookie = answer { ephemerals.insert(Array(said[80..<112])) } else { #expect(minute == 4) }
        }
        #expect(ephemerals.count == JoinAttempt.maximumCookieCount && joining.datagramCount == 4)
    }

    @Test mutating func onlyTheRelaysKeyAnswers() throws {
        let join = try join()
        var chance = WrittenDown(bytes: Array(repeating: 9, count: 32))
        #expect(OpenedJoin(join, by: RelayKey(using: &chance)) == nil)
        let packet = try welcome2(join).packet
        for index in packet.indices {
            var changed = packet
            changed[index] ^= 1
            guard case .nothing = joining.receive(changed.span) else { return #expect(Bool(false), "byte \(index)") }
        }
        guard case .welcome = joining.receive(packet.span) else { return #expect(Bool(false)) }
    }

    @Test mutating func aJoinIsProvedByItsOwnLabelAndRefusesOtherBytes() throws {
        let join = try join()
        #expect(!join.isProved(by: keys.listenJoin))
        var bytes = said
        for index in 4..<192 where !(73..<80).contains(index) && index != 72 {
            bytes[index] ^= 1
            guard case .join(let changed) = try ControlPacket(parsing: bytes.span) else { return #expect(Bool(false)) }
            #expect(!changed.isProved(by: key), "byte \(index)")
            bytes[index] ^= 1
        }
        bytes[75] = 1
        #expect(throws: ControlParseError.value) { try ControlPacket(parsing: bytes.span) }
        bytes = said
        bytes[2] = 3
        #expect(throws: ControlParseError.length(192)) { try ControlPacket(parsing: bytes.span) }
    }

    // MARK: Links

    @Test func aLinkCarriesTheFingerprintInEveryForm() throws {
        let link = try ChannelLink(Self.inputs.link)
        #expect(link.text() == Self.inputs.link && link.fingerprint?.text == Self.inputs.fingerprint)
        #expect(try ChannelLink(link.text(.words)) == link)
        #expect(try ChannelLink(link.text().uppercased()) == link)
        #expect(link.description == "tenfour://radio.example.org/family#…")
        let phrase =
            "tenfour://h/a#relay-\(Self.inputs.fingerprint).phrase-abcdefgh-some.long-words-that-nobody-guesses"
        #expect(try ChannelLink(phrase).fingerprint == link.fingerprint)
        #expect(try ChannelLink(ChannelLink(phrase).text()) == ChannelLink(phrase))
    }

    @Test(
        arguments: [
            ("relay-idl2-7ml7-eqby-epv2-xiaf-ng7a-v.talk-", ChannelLinkError.fingerprint),
            ("relay-idl2-7ml7-eqby-epv2-xiaf-ng7a-vqq.talk-", .fingerprint),
            // The last digit has two bits that must be zero.
            ("relay-idl2-7ml7-eqby-epv2-xiaf-ng7a-vr.talk-", .fingerprint),
            ("relay-idl2-7ml7-eqby-epv2-xiaf-ng7a-v9.talk-", .fingerprint), ("relay-.talk-", .fingerprint),
            ("relay-talk-", .fingerprint), ("relay-idl2-7ml7-eqby-epv2-xiaf-ng7a-vq.", .marker),
        ])
    func aFingerprintWithATypingErrorIsRefused(start: String, error: ChannelLinkError) {
        let secret = "aaaq-eaye-auda-ocaj-bifq-ydio-b5sj"
        #expect(throws: error) { try ChannelLink("tenfour://radio.example.org/family#\(start)\(secret)") }
    }

    @Test func aLinkWithoutARelayHasNoFingerprint() {
        let secret = Self.inputs.link.drop { $0 != "#" }
        #expect(throws: ChannelLinkError.fingerprintWithoutRelay) { try ChannelLink("tenfour:///family\(secret)") }
    }

    @Test func aKeyIsReadFromItsTextOnly() {
        #expect(RelayKey(fileText: relayKey.fileText) == relayKey && relayKey.fileText == Self.inputs.relayKey)
        #expect(RelayPublicKey(relayKey.publicKey.text) == relayKey.publicKey)
        for text in ["", "a", Self.inputs.relayKey + "a", Self.inputs.relayKey.replacing("r", with: "!")] {
            #expect(RelayKey(fileText: text) == nil && RelayPublicKey(text) == nil)
        }
        #expect(!"\(relayKey)".contains(Self.inputs.relayKey.prefix(8)))
    }
}
