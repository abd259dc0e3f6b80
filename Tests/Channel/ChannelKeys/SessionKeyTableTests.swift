import TenfourAudioCore
import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import Testing

/// The keys of many sessions, as a relay keeps them.
final class SessionKeyTableTests {
    private var table = SessionKeyTable()
    private let keys: [SessionKeys]

    init() {
        var randomness = SeededRandom(seed: 3)
        keys = (0..<70).map { _ in Self.agreement(&randomness) }
        for (number, keys) in keys.enumerated() { table.insert(keys, at: number) }
    }

    private static func agreement(_ randomness: inout SeededRandom) -> SessionKeys {
        let channel = ChannelKeys(name: "table", secret: Secret(.talk, using: &randomness))
        let address = PeerAddress(v4: 1, port: 1)
        var cookies = Cookies(using: &randomness)
        var joining = JoinAttempt(channel.listenJoin, relay: RelayID(host: "r", port: 1), using: &randomness)
        let hello = [UInt8](capacity: 128) { joining.write(into: &$0) }
        guard case .hello(let nonce) = try? ControlPacket(parsing: hello.span) else { preconditionFailure("no hello") }
        let cookie = cookies.cookie(for: nonce, from: address, to: address, at: .start)
        let answer = [UInt8](capacity: 40) { ControlPacket.writeCookie(cookie, nonce: nonce, into: &$0) }
        _ = joining.receive(answer.span)
        let said = [UInt8](capacity: 128) { joining.write(into: &$0) }
        var keys: SessionKeys?
        guard case .join(let join) = try? ControlPacket(parsing: said.span) else { preconditionFailure("no join") }
        let terms = Welcome.Terms(lease: 30, clock: WallClock(milliseconds: 0), address: address)
        _ = [UInt8](capacity: 105) {
            keys = Welcome.answer(
                join, key: channel.listenJoin, share: KeyShare(using: &randomness), session: randomness.next(),
                terms: terms,
                into: &$0)
        }
        guard let keys else { preconditionFailure("no session") }
        return keys
    }

    @Test func itSealsAndOpensAsTheSessionsThemselvesDo() throws {
        for number in [0, 1, 63, 64, 69] {
            let session = table.session(number)
            #expect(session == keys[number].session)
            var member = (keys[number].sealer(for: .member), keys[number].opener(for: .member))
            for token in 1...3 as ClosedRange<UInt64> {
                var up = [UInt8](capacity: 90) { member.0.seal(.renewal(token: token), into: &$0) }
                let again = up
                #expect(try open(&up, number) == .renewal(token: token))
                var replayed = again
                #expect(throws: RecordOpener.Failure.replayed) { try open(&replayed, number) }
                var down = [UInt8](capacity: 80) { table.seal(.pathChallenge(UInt128(token)), for: number, into: &$0) }
                var span = down.mutableSpan
                #expect(try member.1.open(&span) == .pathChallenge(UInt128(token)))
            }
        }
    }

    @Test func anothersRecordIsForgedAndAForgottenSessionsToo() throws {
        var sealer = keys[5].sealer(for: .member)
        let record = [UInt8](capacity: 80) { sealer.seal(.leave, into: &$0) }
        var first = record
        #expect(throws: RecordOpener.Failure.forged) { try open(&first, 6) }
        table.remove(5)
        let forgotten = table.session(5)
        #expect(forgotten == 0)
        var second = record
        #expect(throws: RecordOpener.Failure.forged) { try open(&second, 5) }
        // A new session in the same slot starts with a new replay window.
        table.insert(keys[5], at: 5)
        var third = record
        #expect(try open(&third, 5) == .leave)
    }

    private func open(_ datagram: inout [UInt8], _ number: Int) throws(RecordOpener.Failure) -> Record {
        var span = datagram.mutableSpan
        return try table.open(&span, from: number)
    }

    @Test func chanceDependsOnItsSeedAndDoesNotRepeat() {
        var (randomness, same, other) = (SeededRandom(seed: 1), SeededRandom(seed: 1), SeededRandom(seed: 2))
        var (one, two, three) = (CSPRNG(using: &randomness), CSPRNG(using: &same), CSPRNG(using: &other))
        let numbers = (0..<1_000).map { _ in one.next() }
        #expect(numbers == (0..<1_000).map { _ in two.next() })
        #expect(Set(numbers).count == 1_000)
        #expect(Set(numbers).isDisjoint(with: (0..<1_000).map { _ in three.next() }))
    }

    @Test func nothingIsLeftOfChanceThatWasGiven() {
        var randomness = SeededRandom(seed: 1)
        var chance = CSPRNG(using: &randomness)
        for count in 1...130 {
            let number = chance.next()
            let held = chance.held.array
            // All bytes before `place` are zero: the generator's used key (32 bytes) and the numbers already
            // returned.
            let place = 32 + (count - 1) % 60 * 8
            #expect(held[..<(place + 8)].allSatisfy { $0 == 0 }, "\(count)")
            #expect(number != 0 && !held[(place + 8)...].allSatisfy { $0 == 0 } || place + 8 == held.count)
        }
    }

    @Test func aCopyOfChanceGivesTheSame() {
        var randomness = SeededRandom(seed: 1)
        var one = CSPRNG(using: &randomness)
        for _ in 0..<7 { _ = one.next() }
        var other = one
        let numbers = (0..<100).map { _ in one.next() }
        #expect(numbers == (0..<100).map { _ in other.next() })
    }
}
