import TenfourChannelMember
import TenfourManagedChannel
import TenfourPackets
import TenfourSession
import Testing

@testable import tenfour

struct TalkerNamesTests {
    private let alice = Endpoint(.v4(0xC000_0201), port: 5_004)
    private let mallory = Endpoint(.v4(0xC633_6401), port: 5_004)

    @Test func oneWhoComesAgainAndAgainDoesNotTakeTheNamesOfOthers() {
        var names = TalkerNames()
        names.apply(.sourceAppeared(SSRC(1), from: alice))
        names.apply(.sourceNamed(SSRC(1), "Alice"))
        for number: UInt32 in 1_000..<2_000 {
            names.apply(.sourceAppeared(SSRC(number), from: mallory))
            names.apply(.sourceNamed(SSRC(number), "Eve"))
            names.apply(.sourceLeft(SSRC(number), reason: ""))
        }
        names.apply(.reporterAppeared(SSRC(2), "Bob", from: alice))
        names.apply(.sourceAppeared(SSRC(3), from: alice))
        names.apply(.sourceNamed(SSRC(3), "Cleo"))
        names.apply(.sourceNamed(SSRC(1), "Anna"))
        #expect([1, 2, 3].map { names[SSRC($0)] } == ["Anna", "Bob", "Cleo"])
        #expect(names.name(of: SSRC(1_999)) == "Eve" && names.name(of: SSRC(1_000)) == nil)
    }

    /// A member can choose any name for its list of those present; the owner's list decides who is heard.
    @Test func theOwnersNameTakesThePlaceOfAChosenOne() throws {
        let ben = try #require(MemberName("Ben"))
        var names = TalkerNames()
        names.apply(.sourceAppeared(SSRC(1), from: alice))
        names.apply(.managed(.talkerKnown(SSRC(1), SignedTalker(index: 3, name: ben, isVerified: false))))
        names.apply(.sourceNamed(SSRC(1), "Anna"))
        #expect(names[SSRC(1)] == "Ben (not verified)")
        names.apply(.managed(.talkerKnown(SSRC(1), SignedTalker(index: 3, name: ben, isVerified: true))))
        #expect(names[SSRC(1)] == "Ben")
        names.apply(.managed(.talkerKnown(SSRC(2), SignedTalker(index: 4, name: nil, isVerified: false))))
        #expect(names[SSRC(2)] == "member 4 (not verified)")
        let changed = ManagedNotice(.keyChanged(ben), channel: "family").text
        #expect(changed?.contains("`tenfour channel verify family Ben`") == true)
    }

    @Test func oneWhoLeftIsStillCalledByNameWhereItWasHeard() {
        var names = TalkerNames()
        #expect(names.isEmpty)
        names.apply(.reporterAppeared(SSRC(1), "Alice", from: alice))
        names.apply(.reporterAppeared(SSRC(2), nil, from: alice))
        #expect(names.isEmpty && names[SSRC(2)] == "192.0.2.1:5004")
        names.apply(.sourceAppeared(SSRC(1), from: alice))
        for number: UInt32 in 1...2 { names.apply(.reporterLeft(SSRC(number), reason: nil)) }
        #expect(names[SSRC(1)] == "Alice" && names.hasHeard(SSRC(1)) && !names.isEmpty)
        #expect(names.endpoint(of: SSRC(2)) == nil)
    }

    @Test func atMostThirtyLinesAMinuteAreShownForStrangers() {
        var news = StrangerNotices(remotes: [alice])
        var names = TalkerNames()
        for event in [Event.sourceAppeared(SSRC(1), from: alice), .sourceAppeared(SSRC(2), from: mallory)] {
            names.apply(event)
        }
        let start = ContinuousClock.now
        func shownCount(of ssrc: UInt32, _ count: Int, at seconds: Int) -> Int {
            (0..<count).count {
                news.mayShow(.sourceNamed(SSRC(ssrc), "\($0)"), names, at: start + .seconds(seconds))
            }
        }
        #expect(shownCount(of: 2, 10, at: 0) == 10)
        #expect(shownCount(of: 2, 100, at: 30) == 20)
        #expect(shownCount(of: 1, 100, at: 30) == 100)
        #expect(shownCount(of: 77, 1, at: 30) == 0)
        let early = news.summary(at: start + .seconds(59))
        let first = news.summary(at: start + .seconds(60))
        #expect(early == nil && first?.hasPrefix("81 more lines are not shown: strangers") == true)
        #expect(shownCount(of: 2, 100, at: 61) == 30)
        let second = news.summary(at: start + .seconds(61), isOver: true)
        let third = news.summary(at: start + .seconds(62), isOver: true)
        #expect(second?.hasPrefix("70 more lines") == true && third == nil)
    }

    @Test func thePartnerIsKnownAtItsNewAddressToo() {
        var news = StrangerNotices(remotes: [alice])
        let moment = ContinuousClock.now
        let events = [Event.partnerMoved(to: mallory)] + (0..<100).map { .sourceAppeared(SSRC($0), from: mallory) }
        #expect(events.count { news.mayShow($0, TalkerNames(), at: moment) } == 101)
    }
}
