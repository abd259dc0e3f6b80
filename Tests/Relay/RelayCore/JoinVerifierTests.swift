import TenfourAudioCore
import TenfourSession
import TestSupport
import Testing

@testable import TenfourChannelKeys
@testable import TenfourRelayCore

/// The checks of HELLO and JOIN alone, without a relay.
struct JoinVerifierTests {
    private let keys = ChannelKeys.drawn("family")
    private let sender = Endpoint.host(1)
    private let now = Instant.start + .seconds(5)
    private var generator = CSPRNG()
    private var joins: JoinVerifier

    init() { joins = JoinVerifier(address: RelayHarness.address, using: &generator) }

    /// A JOIN with a cookie that was given to `sender`.
    private mutating func join(nonce: UInt128 = 7) throws -> Join {
        let given = joins.cookie(for: nonce, from: sender, at: now)
        let cookie = try #require(given)
        return Join(
            nonce: nonce, cookie: cookie, key: try #require(keys.talkJoin), relay: RelayHarness.name,
            share: KeyShare(using: &generator).point)
    }

    private mutating func check(_ join: Join, from sender: Endpoint? = nil, hasRoom: Bool = true) -> String {
        "\(joins.check(join, from: sender ?? self.sender, hasRoom: hasRoom, at: now))".prefix { $0 != "(" } + ""
    }

    @Test mutating func aCookieIsGoodForItsAddressOnly() throws {
        let join = try join()
        #expect(check(join) == "prove")
        guard case .discard(.cookie) = joins.check(join, from: .host(2), hasRoom: true, at: now) else {
            Issue.record("another address may use the cookie")
            return
        }
        guard case .discard(.tooManyHandshakes) = joins.check(join, from: sender, hasRoom: false, at: now) else {
            Issue.record("a JOIN is answered though nothing can be sent")
            return
        }
    }

    @Test mutating func aWelcomeIsRepeatedUntilTheFirstRecord() throws {
        let (join, member) = (try join(), MemberID(3))
        joins.welcomed(member, for: join, with: [1, 2, 3])
        #expect(check(join) == "repeatWelcome")
        let other = Join(
            nonce: join.nonce, cookie: join.cookie, key: try #require(keys.talkJoin), relay: RelayHarness.name,
            share: KeyShare(using: &generator).point)
        #expect(joins.welcome(of: member, for: join) == [1, 2, 3])
        #expect(joins.welcome(of: member, for: other) == nil && joins.welcome(of: MemberID(4), for: join) == nil)
        joins.sessionBegan(of: member, at: sender.address)
        #expect(joins.welcome(of: member, for: join) == nil)
        #expect(check(join) == "repeatWelcome", "the cookie stays spent")
    }

    @Test mutating func onlyARefusalOfAProvedJoinIsKept() throws {
        let join = try join()
        _ = joins.refusal(of: join, for: .unproved, key: nil)
        #expect(check(join) == "prove")
        _ = joins.refusal(of: join, for: .full, key: keys.talkJoin)
        #expect(check(join) == "repeatRefusal")
    }

    @Test mutating func twentyFailedProofsOfAHostAreChecked() throws {
        let join = try join()
        for _ in 0..<20 {
            #expect(check(join) == "prove")
            let isProved = joins.isProved(join, by: nil, from: sender, at: now)
            #expect(!isProved)
        }
        #expect(check(join) == "discard")
        let isProved = joins.isProved(join, by: keys.talkJoin, from: sender, at: now)
        #expect(isProved)
    }

    @Test mutating func joinsWaitWhileFailedProofsHaveTakenTheirShare() throws {
        joins.setProofTime(.milliseconds(1))
        let (join, wrong) = (try join(), try join(nonce: 8))
        for host in 2..<30 { _ = joins.isProved(wrong, by: nil, from: .host(host), at: now) }
        #expect(check(join) == "wait")
        let early = joins.nextWaiting(at: now)
        #expect(early == nil)
        let deadline = try #require(joins.deadline)
        #expect(deadline > now)
        let next = joins.nextWaiting(at: deadline)
        #expect(next?.join == join && next?.sender == sender)
    }

    @Test mutating func aReceiptIsGoodForItsSessionAndAddress() {
        let (address, other) = (PeerAddress(sender), PeerAddress(.host(2)))
        let receipt = joins.receipt(for: 5, at: address, now)
        let results = [
            joins.accepts(receipt: receipt, for: 5, at: address, now),
            joins.accepts(receipt: receipt, for: 6, at: address, now),
            joins.accepts(receipt: receipt, for: 5, at: other, now),
        ]
        #expect(results == [true, false, false])
    }
}
