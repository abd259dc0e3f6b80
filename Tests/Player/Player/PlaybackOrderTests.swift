import Testing

@testable import TenfourPlayer

struct PlaybackOrderTests {
    private func opened(_ count: Int, shuffled: Bool = false, _ repeats: RepeatMode = .none, seed: UInt64 = 1)
        -> PlaybackOrder
    {
        var order = PlaybackOrder(isShuffled: shuffled, repeats: repeats, seed: seed)
        order.open(count: count)
        return order
    }

    /// Plays on without anyone's doing, and returns what was played, at most `limit` items.
    private func played(_ order: inout PlaybackOrder, limit: Int = 100) -> [Int] {
        var heard = [order.heardItem]
        while heard.count < limit {
            let following = order.following
            let item = order.readOn()
            #expect(item == following, "what follows is what is read")
            guard let item else { break }
            order.hear(item)
            #expect(order.heardItem == item && order.readItem == item)
            heard.append(item)
        }
        return heard
    }

    @Test func inOrderEachItemIsPlayedOnce() {
        var order = opened(4)
        let heard = played(&order)
        #expect(heard == [0, 1, 2, 3])
        var empty = opened(0)
        let (forward, back) = (empty.stepForward(), empty.stepBack())
        #expect(empty.following == nil && !forward && !back)
    }

    @Test(arguments: 1...20) func shuffledEachItemIsPlayedOncePerRound(seed: UInt64) {
        var order = opened(7, shuffled: true, .all, seed: seed)
        let heard = played(&order, limit: 35)
        for round in 0..<5 { #expect(Set(heard[(round * 7)..<(round * 7 + 7)]) == Set(0..<7)) }
        #expect(zip(heard, heard.dropFirst()).allSatisfy { $0 != $1 }, "no item twice in succession")
        var once = opened(7, shuffled: true, seed: seed)
        let single = played(&once)
        #expect(single.count == 7)
    }

    @Test func theSeedDecidesAndEveryItemMayBeTheFirst() {
        var (one, same) = (opened(50, shuffled: true, seed: 9), opened(50, shuffled: true, seed: 9))
        let heard = played(&one)
        let heardAgain = played(&same)
        #expect(heard == heardAgain)
        #expect(Set((1...200).map { opened(4, shuffled: true, seed: $0).heardItem }) == [0, 1, 2, 3])
    }

    @Test func goingBackLeadsAlongWhatWasHeard() {
        var order = opened(9, shuffled: true, .all, seed: 3)
        let heard = played(&order, limit: 14)
        for item in heard.dropLast().reversed() {
            let isBack = order.stepBack()
            #expect(isBack && order.heardItem == item)
        }
        let isBefore = order.stepBack()
        #expect(!isBefore, "nothing was heard before the first item")
        for item in heard.dropFirst() {
            let isForward = order.stepForward()
            #expect(isForward && order.heardItem == item)
        }
        let isForward = order.stepForward()
        #expect(isForward && Set(heard[9...] + [order.heardItem]).count == 6, "the round goes on")
    }

    @Test func oneItemIsRepeatedUntilSomeoneLeavesIt() {
        for shuffled in [false, true] {
            var order = opened(3, shuffled: shuffled, .one)
            let first = order.heardItem
            let heard = played(&order, limit: 5)
            #expect(heard == Array(repeating: first, count: 5))
            let isForward = order.stepForward()
            #expect(isForward && order.heardItem != first)
            let second = order.heardItem
            let (again, other) = (order.readOn(), order.readOn(skips: true))
            #expect(again == second)
            #expect(other != second, "an item that cannot be played is not repeated")
        }
        var single = opened(1, .one)
        let none = single.readOn(skips: true)
        #expect(none == nil)
    }

    @Test func aQueueOfOneIsRepeatedForEver() {
        for shuffled in [false, true] {
            var order = opened(1, shuffled: shuffled, .all)
            let heard = played(&order, limit: 3_000)
            let isForward = order.stepForward()
            #expect(heard == Array(repeating: 0, count: 3_000) && isForward && order.heardItem == 0)
        }
    }

    @Test func editsKeepWhatIsHeard() {
        var order = opened(4)
        _ = order.stepForward()
        order.insert(count: 2, at: 0)
        #expect(order.items == [4, 5, 0, 1, 2, 3] && order.heardItem == 1 && order.following == 2)
        order.move(from: 3, to: 5)
        #expect(order.items == [4, 5, 0, 2, 3, 1] && order.heardItem == 1 && order.following == nil)
        _ = order.remove(at: 0)
        #expect(order.heardItem == 1)
        order.move(from: 4, to: 0)
        #expect(order.items == [1, 5, 0, 2, 3] && order.following == 5)
        let hasSuccessor = order.remove(at: 0)
        #expect(hasSuccessor, "the item that is heard is removed, and the next one is heard")
        #expect(order.heardItem == 5 && order.readItem == 5 && order.following == 0)
    }

    @Test func aRemovedItemIsNotPlayed() {
        var order = opened(3)
        _ = order.readOn()
        _ = order.remove(at: 1)
        #expect(order.heardItem == 0 && order.readItem == 0 && order.following == 2)
        _ = order.stepForward()
        #expect(order.heardItem == 2)
        let hasSuccessor = order.remove(at: 1)
        #expect(!hasSuccessor, "nothing follows the last item")
        #expect(order.heardItem == 0)
        _ = order.remove(at: 0)
        #expect(order.items.isEmpty && order.following == nil)
        order.insert(count: 2, at: 0)
        #expect(order.heardItem == 3 && order.following == 4)
    }

    @Test(arguments: 1...50) func shuffledEditsLoseAndRepeatNothing(seed: UInt64) {
        var order = opened(10, shuffled: true, seed: seed)
        var heard = [order.heardItem]
        for _ in 0..<3 {
            if let item = order.readOn() {
                order.hear(item)
                heard.append(item)
            }
        }
        order.insert(count: 3, at: 5)
        let removed = order.items[7]
        let follows = order.remove(at: 7)
        if removed == heard.last { #expect(follows) }
        if order.heardItem != heard.last { heard.append(order.heardItem) }
        order.move(from: 0, to: 8)
        heard += played(&order).dropFirst()
        #expect(heard.filter { $0 != removed }.count == 12)
        #expect(Set(heard + [removed]) == Set(0..<13))
    }

    @Test func shuffleIsSwitchedWhilePlaying() {
        var order = opened(20)
        _ = order.stepForward()
        order.setShuffled(true)
        #expect(order.heardItem == 1)
        _ = order.readOn()
        order.setShuffled(false)
        let read = order.readItem
        #expect(order.heardItem == 1)
        order.hear(read)
        #expect(order.following == (read == 19 ? nil : read + 1))
        order.setShuffled(true)
        let heard = played(&order)
        #expect(Set(heard) == Set(0..<20))
    }

    @Test func repetitionIsSwitchedWhilePlaying() {
        for shuffled in [false, true] {
            var order = opened(5, shuffled: shuffled)
            let heard = played(&order)
            #expect(heard.count == 5)
            order.setRepeats(.all)
            #expect(order.following != nil)
            order.setRepeats(.none)
            #expect(order.following == nil)
        }
    }

    @Test(arguments: 1...20) func aListIsReplacedByItsEntries(seed: UInt64) {
        var order = opened(2)
        order.expand(count: 3)
        #expect(order.items == [0, 2, 3, 1] && order.readItem == 0)
        let heard = played(&order)
        #expect(heard == [0, 2, 3, 1])
        var shuffled = opened(2, shuffled: true, seed: seed)
        shuffled.expand(count: 3)
        #expect(shuffled.items.contains(shuffled.readItem) && shuffled.readItem == shuffled.heardItem)
        let mixed = played(&shuffled)
        #expect(Set(mixed) == [0, 1, 2, 3])
    }

    @Test func aSelectedItemCountsAsPlayed() {
        var order = opened(6, shuffled: true, seed: 5)
        let first = order.heardItem
        let other = (first + 3) % 6
        order.select(other)
        #expect(order.heardItem == other && order.readItem == other)
        let rest = played(&order)
        #expect(rest.count == 5 && Set(rest).union([first]) == Set(0..<6))
        var plain = opened(6)
        plain.select(4)
        let heard = played(&plain)
        #expect(heard == [4, 5])
    }

    /// Any sequence of requests leaves the heard and the read item in the queue.
    @Test(arguments: 1...100) func itemsStayInTheQueue(seed: UInt64) {
        var randomness = ChoiceGenerator(seed)
        var order = opened(5, shuffled: seed % 2 == 0, RepeatMode.allCases[Int(seed % 3)], seed: seed)
        for _ in 0..<300 {
            switch randomness.below(11) {
            case 0: order.insert(count: randomness.below(3), at: randomness.below(order.items.count + 1))
            case 1: if !order.items.isEmpty { _ = order.remove(at: randomness.below(order.items.count)) }
            case 2:
                if !order.items.isEmpty {
                    order.move(from: randomness.below(order.items.count), to: randomness.below(order.items.count))
                }
            case 3: order.setShuffled(randomness.below(2) == 0)
            case 4: order.setRepeats(RepeatMode.allCases[randomness.below(3)])
            case 5: _ = order.stepForward()
            case 6: _ = order.stepBack()
            case 7: if order.items.contains(order.readItem) { order.expand(count: 1 + randomness.below(3)) }
            case 8: if !order.items.isEmpty { order.select(order.items[randomness.below(order.items.count)]) }
            case 9: order.hear(order.readItem)
            default: _ = order.readOn()
            }
            guard !order.items.isEmpty else { continue }
            #expect(order.items.contains(order.heardItem) && order.items.contains(order.readItem))
            #expect(order.following.map { order.items.contains($0) } ?? true)
            #expect(Set(order.items).count == order.items.count)
        }
    }
}

/// Numbers for choices of a test.
private struct ChoiceGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func below(_ limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state >> 33) % limit
    }
}
