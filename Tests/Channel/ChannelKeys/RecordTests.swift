import TenfourAudioCore
import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import Testing

/// Records and hop tags that are replayed, changed or sealed by another session.
struct RecordTests {
    private let one = SessionKeys.drawn(seed: 1)
    private let other = SessionKeys.drawn(seed: 2)

    private func record(_ record: Record, _ sealer: inout RecordSealer) -> [UInt8] {
        [UInt8](capacity: 100) { sealer.seal(record, into: &$0) }
    }

    private func open(_ packet: [UInt8], _ opener: inout RecordOpener) -> Result<Record, RecordOpener.Failure> {
        var packet = packet
        var span = packet.mutableSpan
        return Result(catching: { () throws(RecordOpener.Failure) in try opener.open(&span) })
    }

    @Test func aRecordIsHeardOnce() {
        var sealer = one.sealer(for: .member)
        var opener = one.opener(for: .relay)
        let packets = (0..<2000).map { _ in record(.leave, &sealer) }
        #expect(open(packets[3], &opener) == .success(.leave))
        #expect(open(packets[1], &opener) == .success(.leave))
        for _ in 0..<3 { #expect(open(packets[3], &opener) == .failure(.replayed)) }
        #expect(open(packets[1999], &opener) == .success(.leave))
        #expect(open(packets[1999 - 1024], &opener) == .failure(.replayed))
        #expect(open(packets[1999 - 1023], &opener) == .success(.leave))
    }

    @Test func aForgedRecordMovesNothing() {
        var sealer = one.sealer(for: .member)
        var opener = one.opener(for: .relay)
        let packet = record(.renewal(token: 1), &sealer)
        var ahead = packet
        for place in 12..<20 { ahead[place] = 0xFF }
        #expect(open(ahead, &opener) == .failure(.forged))
        for bit in 0..<(packet.count * 8) {
            var changed = packet
            changed[bit / 8] ^= 1 << (bit % 8)
            if case .success = open(changed, &opener) { Issue.record("bit \(bit)") }
        }
        #expect(open(packet, &opener) == .success(.renewal(token: 1)))
    }

    @Test func aRecordIsForOneSessionAndOneWay() {
        var sealer = one.sealer(for: .member)
        let packet = record(.leave, &sealer)
        var wrongWay = one.opener(for: .member)
        var wrongSession = other.opener(for: .relay)
        #expect(open(packet, &wrongWay) == .failure(.forged))
        #expect(open(packet, &wrongSession) == .failure(.forged))
    }

    @Test(arguments: [0, 200, 255])
    func anInvalidRecordIsCountedAndItsCounterIsSpent(what: UInt8) {
        var sealer = one.sealer(for: .member)
        var opener = one.opener(for: .relay)
        let inside = [what, 1, 2]
        let packet = [UInt8](capacity: 100) { sealer.seal(inside: inside.span, into: &$0) }
        #expect(open(packet, &opener) == .failure(.malformed(.kind(what))))
        #expect(open(packet, &opener) == .failure(.replayed))
    }

    /// REFUSED without an entry, with half of one, with a reason twice or out of order, and with too many entries.
    @Test(
        arguments: [
            [25], [25, 1, 0, 0, 0], [25] + [1, 0, 0, 0, 1, 1, 0, 0, 0, 2], [25] + [2, 0, 0, 0, 1, 1, 0, 0, 0, 2],
            [25] + (1...33).flatMap { [$0, 0, 0, 0, 1] },
        ] as [[UInt8]]) func aMalformedCountOfRefusedPacketsIsIgnored(inside: [UInt8])
    {
        var sealer = one.sealer(for: .relay)
        var opener = one.opener(for: .member)
        let packet = [UInt8](capacity: 300) { sealer.seal(inside: inside.span, into: &$0) }
        guard case .failure(.malformed) = open(packet, &opener) else {
            Issue.record("it was accepted")
            return
        }
    }

    @Test func aHopTagIsTakenOffOnceAndForOneTalker() throws {
        var tagger = one.hopTagger(for: .member)
        var checker = one.hopTagChecker(for: .relay)
        let media: [UInt8] = [0x80, 111, 0, 1, 2, 3]
        let packet = [UInt8](capacity: 18) {
            for byte in media { $0.append(byte) }
            let isTagged = tagger.tag(&$0)
            #expect(isTagged)
        }
        #expect(packet.count == media.count + HopTag.byteCount)
        for bit in 0..<(packet.count * 8) {
            var changed = packet
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: HopTagChecker.Failure.forged) { try checker.check(changed.span) }
        }
        var others = other.hopTagChecker(for: .relay)
        #expect(throws: HopTagChecker.Failure.forged) { try others.check(packet.span) }
        #expect(try checker.check(packet.span) == media.count)
        #expect(throws: HopTagChecker.Failure.replayed) { try checker.check(packet.span) }
        #expect(throws: HopTagChecker.Failure.short) { try checker.check(packet.span.extracting(6...)) }
    }

    /// Compares the replay window with a set of all counters received.
    @Test func theWindowForgetsNothingItHasRoomFor() {
        var randomness = SeededRandom(seed: 4)
        var window = ReplayWindow()
        var came: Set<UInt64> = []
        var highest: UInt64 = 0
        for _ in 0..<20_000 {
            let jump = randomness.next() % 100 == 0 ? randomness.next() % 3000 : randomness.next() % 8
            let counter =
                randomness.next() % 3 == 0 ? highest &+ jump : highest - min(highest, randomness.next() % 1200)
            let isNew = !came.contains(counter) && (counter > highest || highest - counter < 1024)
            #expect(window.accepts(counter) == isNew)
            guard isNew else { continue }
            window.insert(counter)
            came.insert(counter)
            highest = max(highest, counter)
        }
        window.insert(.max)
        #expect(!window.accepts(.max) && window.accepts(.max - 1) && !window.accepts(highest))
    }
}

extension SessionKeys {
    /// Returns the keys of a handshake of its own, which depends on the seed.
    static func drawn(seed: UInt64) -> SessionKeys {
        var randomness = SeededRandom(seed: seed)
        let key = ChannelKeys(name: "family", secret: Secret(.listen, using: &randomness)).listenJoin
        var joining = JoinAttempt(key, relay: RelayID(host: "a", port: 1), using: &randomness)
        let address = PeerAddress(v4: 1, port: 1)
        var cookies = Cookies(using: &randomness)
        let hello = [UInt8](capacity: 128) { joining.write(into: &$0) }
        guard case .hello(let nonce)? = try? ControlPacket(parsing: hello.span) else { fatalError("no hello") }
        let answer = [UInt8](capacity: 40) {
            ControlPacket.writeCookie(
                cookies.cookie(for: nonce, from: address, to: address, at: .start), nonce: nonce, into: &$0)
        }
        _ = joining.receive(answer.span)
        let said = [UInt8](capacity: 128) { joining.write(into: &$0) }
        guard case .join(let join)? = try? ControlPacket(parsing: said.span) else { fatalError("no join") }
        var keys: SessionKeys?
        _ = [UInt8](capacity: 105) {
            keys = Welcome.answer(
                join, key: key, share: KeyShare(using: &randomness), session: seed,
                terms: Welcome.Terms(lease: 30, clock: WallClock(milliseconds: 0), address: address), into: &$0)
        }
        return keys!
    }
}
