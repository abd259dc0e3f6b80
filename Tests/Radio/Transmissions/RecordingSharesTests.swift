import TenfourAudioCore
import Testing

@testable import TenfourTransmissions

/// Which recordings leave a full directory, as values.
struct RecordingSharesTests {
    private typealias File = RecordingDirectory.File

    private static let day = 86_400
    /// 2026-11-22.
    private static let today = 20_779 * day

    /// A directory with a limit of 1 MB, and the time.
    private struct Place {
        var shares = RecordingShares()
        var files: [File] = []
        var now = Instant.start + .seconds(500)
        var limit = 1_000_000

        /// Adds a recording whose name says `day` days ago; `isOlder` if this process has not made it.
        mutating func add(
            _ talker: String, daysAgo day: Int, second: Int = 0, byteCount: Int = 10_000, isOlder: Bool = true
        ) {
            let start = RecordingSharesTests.today - day * RecordingSharesTests.day + second
            let name = RecordingName(start: start, channel: "rtp", talker: talker).text()
            let begun = isOlder ? nil : now
            files.append(File(name: name, start: start, byteCount: byteCount, isOpen: false, begun: begun))
            files.sort { RecordingName.areInOrder(($0.start, $0.name), ($1.start, $1.name)) }
        }

        /// Records a talker now, and removes what is chosen. Returns the number of removed recordings.
        @discardableResult
        mutating func record(_ talker: String, byteCount: Int = 10_000, isOpen: Bool = false) -> Int {
            now = now + .seconds(1)
            let start = RecordingSharesTests.today + Int(now.nanoseconds / 1_000_000_000)
            let name = RecordingName(start: start, channel: "rtp", talker: talker).text()
            files.append(File(name: name, start: start, byteCount: byteCount, isOpen: isOpen, begun: now))
            return prune().removed.count
        }

        @discardableResult
        mutating func prune() -> RecordingShares.Choice {
            shares.advance(to: now)
            guard byteCount > limit else { return RecordingShares.Choice() }
            let choice = shares.choose(from: files, limit: limit, at: now, size: \.byteCount)
            files = files.indices.filter { !choice.removed.contains($0) }.map { files[$0] }
            return choice
        }

        var byteCount: Int { files.reduce(0) { $0 + $1.byteCount } }

        func byteCount(of talker: String) -> Int {
            files.filter { $0.name.contains("_\(talker).") }.reduce(0) { $0 + $1.byteCount }
        }
    }

    @Test func theOldestOfTheTalkerWhoHasMostGoesFirst() {
        var place = Place()
        for _ in 0..<40 { place.record("alice") }
        for _ in 0..<200 { place.record("bob") }
        #expect(place.byteCount <= place.limit && place.byteCount >= 980_000)
        #expect(place.byteCount(of: "alice") == 400_000, "who has less keeps all")
        let bob = place.files.filter { $0.name.contains("bob") }.map(\.start)
        #expect(bob.max()! - bob.min()! == bob.count - 1, "the newest are kept")
    }

    @Test func aTalkerAloneKeepsTheNewest() {
        var place = Place()
        for _ in 0..<500 { place.record("alice") }
        #expect(place.byteCount <= place.limit && place.byteCount >= 980_000)
        #expect(place.files.last?.begun == place.now)
    }

    /// A stranger with a new name for each packet.
    @Test func manyNamesHaveOneShare() {
        var place = Place()
        for _ in 0..<50 { place.record("alice") }
        for number in 0..<10_000 {
            place.record("stranger\(number)", byteCount: 3_000)
            if number % 100 == 0 { place.record("alice") }
        }
        // One of seventeen shares.
        #expect(place.byteCount(of: "alice") >= 50_000, "\(place.byteCount(of: "alice"))")
        #expect(place.files.last { $0.name.contains("alice") }?.begun ?? .start > place.now - .seconds(102))
        #expect(place.byteCount <= place.limit)
    }

    /// Talkers who come back on another day rank before those who were there on one day only.
    @Test func aTalkerOfManyDaysComesBeforeNamesThatWereFirst() {
        var place = Place()
        for number in 0..<500 {
            place.add("stranger\(number)", daysAgo: 9, second: number, byteCount: 1_000, isOlder: false)
        }
        for day in 1..<9 { place.add("alice", daysAgo: day, byteCount: 5_000, isOlder: false) }
        for number in 0..<10_000 { place.record("more\(number)") }
        #expect(place.byteCount(of: "alice") == 40_000)
    }

    /// Not even under the talker's own name is more lost than a quarter in a day.
    @Test(arguments: [true, false]) func aFloodOfADayLeavesThreeQuartersOfWhatWasThere(hasOwnName: Bool) {
        var place = Place()
        for number in 0..<99 { place.add("alice", daysAgo: 20 - number / 5, second: number) }
        let before = place.files
        var removed = 0
        for number in 0..<5_000 { removed += place.record(hasOwnName ? "alice" : "stranger\(number)") }
        let kept = before.filter(place.files.contains).count
        #expect((72...75).contains(kept), "\(kept)")
        #expect(removed >= 4_990 && place.byteCount <= place.limit)
        // After a day another quarter may go.
        for _ in 0..<24 {
            place.now = place.now + .seconds(3_600)
            place.prune()
        }
        for number in 0..<5_000 { place.record(hasOwnName ? "alice" : "newcomer\(number)") }
        #expect(before.filter(place.files.contains).count < kept)
    }

    @Test func theLimitHoldsIfAllIsOld() {
        var place = Place()
        for number in 0..<300 { place.add("alice", daysAgo: 3, second: number) }
        place.prune()
        #expect(place.byteCount == 990_000 && place.files.first?.start == Self.today - 3 * Self.day + 201)
    }

    /// Recordings without end would push out all others, since they cannot be removed.
    @Test func theLargestThatIsBeingWrittenEndsFirst() {
        var place = Place()
        for _ in 0..<50 { place.record("alice") }
        place.files.append(
            File(
                name: "2026-11-22T10-03-17Z_rtp_mallory.opus", start: Self.today, byteCount: 700_000, isOpen: true,
                begun: place.now))
        let choice = place.prune()
        #expect(choice.removed == [] && choice.ending == place.files.count - 1)
        place.files[place.files.count - 1].isOpen = false
        place.prune()
        #expect(place.byteCount(of: "alice") == 500_000 && place.byteCount(of: "mallory") == 0)
    }

    @Test func theNumberOfFilesIsSharedToo() {
        var place = Place()
        for number in 0..<100 { place.add(number < 90 ? "bob" : "alice", daysAgo: 1, second: number) }
        let choice = place.shares.choose(from: place.files, limit: 90, at: place.now) { _ in 1 }
        #expect(choice.removed == Array(0..<10))
    }
}
