import TenfourAudioCore
import TenfourChannelKeys
import TenfourPairing
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRelayCore

final class WaitingPlacesTests {
    private var places: WaitingPlaces
    private var generator: CSPRNG
    private var randomness = SeededRandom(seed: 3)
    private var now = Instant.start

    init() {
        generator = CSPRNG(using: &randomness)
        places = WaitingPlaces(using: &generator)
    }

    private func drawShare() -> SharePoint { KeyShare(using: &randomness).point }

    private func answer(_ share: SharePoint, _ endpoint: Endpoint) -> RendezvousMessage.PlaceAnswer {
        places.wait(share, at: endpoint, now, using: &generator)
    }

    private func given(_ share: SharePoint, _ endpoint: Endpoint) -> RendezvousNumber? {
        if case .number(let number, seconds: _) = answer(share, endpoint) { number } else { nil }
    }

    /// Fills all places from networks of their own, `perHost` for each host.
    private func fill(perHost: Int, host: (Int) -> Endpoint = { .host($0 + 3_000) }) -> [RendezvousNumber] {
        var numbers: [RendezvousNumber] = []
        for index in 0..<WaitingPlaces.maximumCount {
            let share = drawShare()
            if let number = given(share, host(index / perHost)) { numbers.append(number) }
        }
        return numbers
    }

    @Test func aStationKeepsItsNumberWhileItAsks() throws {
        let share = drawShare()
        let number = try #require(given(share, .host(1)))
        #expect(answer(share, .host(1)) == .number(number, seconds: 300))
        for _ in 0..<20 {
            now = now + .seconds(14)
            #expect(given(share, .host(1)) == number)
        }
        #expect(answer(share, .host(1)) == .number(number, seconds: 20))
        #expect(places.place(number, at: now)?.endpoint == .host(1))
        // After 300 s the station gets another number.
        now = now + .seconds(20)
        #expect(places.place(number, at: now) == nil)
        let another = try #require(given(share, .host(1)))
        #expect(another != number)
        #expect(places.count == 1)
    }

    @Test func aSilentStationLosesItsPlace() throws {
        let share = drawShare()
        let number = try #require(given(share, .host(1)))
        now = now + (WaitingPlaces.silence - .nanoseconds(1))
        #expect(places.place(number, at: now) != nil)
        now = now + .nanoseconds(1)
        #expect(places.place(number, at: now) == nil)
        places.timeElapsed(at: now)
        #expect(places.count == 0)
        now = now + .seconds(2)
        places.timeElapsed(at: now)
        #expect(places.deadline == nil)
    }

    @Test func aPlaceMovesWithItsStation() throws {
        let share = drawShare()
        let number = try #require(given(share, .host(1)))
        #expect(given(share, .host(2)) == number)
        #expect(places.place(number, at: now)?.endpoint == .host(2))
        // The first host has none any more, and the second one has one: each may have four.
        now = now + .seconds(20)
        for (host, count) in [(1, 4), (2, 3)] {
            for _ in 0..<count {
                let other = drawShare()
                #expect(given(other, .host(host)) != nil)
            }
            let other = drawShare()
            #expect(answer(other, .host(host)) == .refused(.tooMany))
        }
        #expect(answer(share, .host(1)) == .refused(.tooMany))
        #expect(places.place(number, at: now)?.endpoint == .host(2))
    }

    @Test func aHostHasFourPlacesAndFiveSecondsBetweenNewOnes() {
        let shares = (0..<6).map { _ in drawShare() }
        for share in shares.prefix(4) { #expect(given(share, .host(1)) != nil) }
        #expect(answer(shares[4], .host(1)) == .refused(.tooMany))
        #expect(given(shares[4], .host(2)) != nil)
        // All have ended, and four have been begun in 31 s: six more could be begun by now, four at once.
        now = now + .seconds(31)
        places.timeElapsed(at: now)
        for share in shares.prefix(4) { #expect(given(share, .host(1)) != nil) }
        now = now + .milliseconds(4_900)
        for share in shares.prefix(4) { if let place = given(share, .host(1)) { remove(place) } }
        #expect(answer(shares[5], .host(1)) == .refused(.tooMany))
        now = now + .milliseconds(100)
        #expect(given(shares[5], .host(1)) != nil)
        #expect(answer(shares[0], .host(1)) == .refused(.tooMany))
    }

    @Test func aPlaceThatIsLeftIsFreeAtOnce() throws {
        let shares = (0..<4).map { _ in drawShare() }
        let numbers = try shares.map { try #require(given($0, .host(1))) }
        now = now + .seconds(20)
        #expect(given(shares[3], .host(1)) == numbers[3])
        let other = drawShare()
        #expect(answer(other, .host(1)) == .refused(.tooMany))
        // Not even another port of the same host may give it back.
        for endpoint in [.host(2), .host(1, port: 9)] as [Endpoint] {
            let hasLeft = places.leave(shares[0], from: endpoint)
            #expect(!hasLeft)
        }
        #expect(places.place(numbers[0], at: now) != nil && places.count == 4)
        for _ in 0..<3 {
            let hasLeft = places.leave(shares[0], from: .host(1))
            #expect(hasLeft, "LEAVE is repeated")
        }
        #expect(places.place(numbers[0], at: now) == nil && places.count == 3)
        #expect(given(other, .host(1)) != nil)
    }

    private func remove(_ number: RendezvousNumber) {
        if let place = places.place(number, at: now) { places.remove(place) }
    }

    @Test func aHostWithoutAPlaceTakesTheNewestOfAHostWithSeveral() throws {
        let numbers = fill(perHost: 2)
        #expect(numbers.count == 2_048 && Set(numbers).count == 2_048)
        let share = drawShare()
        let number = try #require(given(share, .host(1)))
        #expect(places.count == 2_048)
        let lost = numbers.filter { places.place($0, at: now) == nil }
        #expect(lost.count == 1 && numbers.firstIndex(of: lost[0])! % 2 == 1, "the newest place of a host with two")
        // A host with a place gets no further one from a host with two.
        let other = drawShare()
        #expect(answer(other, .host(1)) == .refused(.full))
        // All hosts but one have a single place in the end, and none loses it.
        for host in 2..<1_024 {
            let share = drawShare()
            #expect(given(share, .host(host)) != nil)
        }
        #expect(places.place(number, at: now) != nil)
        for index in stride(from: 0, to: 2_048, by: 2) { #expect(places.place(numbers[index], at: now) != nil) }
    }

    @Test func theHostWithTheMostPlacesGivesWayFirst() {
        var greedy: [RendezvousNumber] = []
        for _ in 0..<3 {
            let share = drawShare()
            if let number = given(share, .host(1)) { greedy.append(number) }
        }
        for index in 0..<(WaitingPlaces.maximumCount - 3) {
            let share = drawShare()
            _ = given(share, .host(1_000 + index / 2))
        }
        let share = drawShare()
        #expect(given(share, .host(2)) != nil)
        #expect(places.place(greedy[2], at: now) == nil && places.place(greedy[1], at: now) != nil)
    }

    @Test func networksShareThePlacesIfEachHostHasOne() throws {
        // Half of the places are one site's, and each of the others is a network's of its own.
        let site = { (index: Int) in
            index % 2 == 0
                ? Endpoint(.v6(high: 0x2001_0DB8_0001_0000 + UInt64(index), low: 1, scope: 0), port: 9)
                : .host(1_000 + index)
        }
        let numbers = fill(perHost: 1, host: site)
        #expect(numbers.count == 2_048)
        let share = drawShare()
        #expect(given(share, .host(1)) != nil)
        #expect(places.place(numbers[2_046], at: now) == nil)
        // A further host of the site takes nobody's place.
        let other = drawShare()
        #expect(answer(other, site(5_000)) == .refused(.full))
    }

    @Test func withoutSeveralOfOneNetworkNobodyGivesWay() {
        let numbers = fill(perHost: 1)
        let share = drawShare()
        #expect(answer(share, .host(1)) == .refused(.full))
        #expect(numbers.allSatisfy { places.place($0, at: now) != nil })
        // Ended places make room.
        now = now + .seconds(30)
        places.timeElapsed(at: now)
        #expect(given(share, .host(1)) != nil)
        #expect(places.count == 1)
    }

    @Test func runsAreCountedByHost() throws {
        let share = drawShare()
        let number = try #require(given(share, .host(1)))
        let place = try #require(places.place(number, at: now))
        places.countRun(of: Endpoint.host(2).address, with: number)
        places.countMeeting(of: Endpoint.host(2).address, with: place)
        places.countRun(of: Endpoint.host(2, port: 1).address, with: number)
        let counted = try #require(places.place(number, at: now))
        #expect(counted.runCount(of: Endpoint.host(2).address) == 2)
        #expect(counted.runCount(of: Endpoint.host(3).address) == 0)
        #expect(counted.meetingCount(of: Endpoint.host(2).address) == 1)
        #expect(counted.meetingCount(of: Endpoint.host(3).address) == 0)
    }

    @Test func aChangeOfPortDoesNotMakeAPlaceTheNewest() throws {
        let site = { (host: UInt64) in Endpoint(.v6(high: 0x2001_0DB8_0001_0000 + host, low: 1, scope: 0), port: 9) }
        let older = drawShare()
        let first = try #require(given(older, site(1)))
        let newer = drawShare()
        let second = try #require(given(newer, site(2)))
        _ = (2..<WaitingPlaces.maximumCount).map { index in
            let share = drawShare()
            return given(share, .host(3_000 + index))
        }
        let moved = Endpoint(site(1).address, port: 50_000)
        #expect(given(older, moved) == first)
        #expect(places.place(first, at: now)?.endpoint == moved)
        let share = drawShare()
        #expect(given(share, .host(1)) != nil)
        #expect(places.place(first, at: now) != nil && places.place(second, at: now) == nil)
    }
}
