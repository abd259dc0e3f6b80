import Foundation
import Synchronization
import TenfourSystem
import Testing

@Test func elementsComeOutInOrder() {
    let ring = RingBuffer<Int>(capacity: 4, filler: 0)
    let accepted = (1...5).map { ring.producer.push($0) }
    #expect(accepted == [true, true, true, true, false], "a full ring refuses")
    let taken = (1...5).map { _ in
        var number = 0
        return ring.consumer.pop(into: &number) ? number : nil
    }
    #expect(taken == [1, 2, 3, 4, nil], "an empty ring gives nothing")
}

@Test func aSlotIsFilledAndReadInItsPlace() {
    let ring = RingBuffer<Pair>(capacity: 2, filler: Pair())
    let accepted = (1...3).map { number in ring.producer.push { ($0.left, $0.right) = (number, -number) } }
    #expect(accepted == [true, true, false], "a full ring refuses, and nothing is filled")
    var taken: [Int] = []
    while ring.consumer.pop({ taken.append($0.left - $0.right) }) {}
    #expect(taken == [2, 4])
    #expect(ring.producer.push { $0.left = 7 })
    #expect(ring.consumer.pop { taken.append($0.right) })
    #expect(taken.last == -1, "what is not written anew is of the packet before")
}

@Test func twoThreadsLoseNothing() {
    let count = 200_000
    var received: [Int] = []
    let ring = RingBuffer<Int>(capacity: 64, filler: 0)
    let producing = Producing(ring.producer, count: count)
    let consumer = ring.consumer
    Thread { producing.run() }.start()
    var taken = 0
    while received.count < count { if consumer.pop(into: &taken) { received.append(taken) } else { sched_yield() } }
    #expect(received == Array(0..<count))
}

@Test func theReaderSeesWholeValuesAndNeverAnOlderOne() {
    let last = 200_000
    let latest = LatestValue(Pair())
    let publishing = Publishing(latest.writer, upTo: last)
    var reader = latest.reader
    Thread { publishing.run() }.start()
    var previous = 0
    while previous < last {
        let pair = reader.read()
        #expect(pair.left == -pair.right)
        #expect(pair.left >= previous)
        previous = pair.left
        sched_yield()
    }
}

@Test func theCompilerFindsNoLockOrAllocationInTheEnds() {
    let ring = RingBuffer<Pair>(capacity: 2, filler: Pair())
    var pair = Pair()
    let passed = passOn(Pair(left: 7, right: -7), ring.producer, ring.consumer, into: &pair)
    #expect(passed)
    #expect(pair.left == 7)
}

struct Pair: Sendable, BitwiseCopyable { var left = 0, right = 0 }

@_noAllocation @_noLocks
private func passOn(
    _ pair: Pair, _ producer: borrowing RingBufferProducer<Pair>, _ consumer: borrowing RingBufferConsumer<Pair>,
    into taken: inout Pair
) -> Bool {
    producer.push(pair) && consumer.pop(into: &taken)
}

/// A thread that owns an end, as the audio threads do.
private final class Publishing: @unchecked Sendable {
    private var writer: LatestWriter<Pair>
    private let last: Int

    init(_ writer: consuming LatestWriter<Pair>, upTo last: Int) {
        self.writer = writer
        self.last = last
    }

    func run() { for number in 1...last { writer.publish(Pair(left: number, right: -number)) } }
}

private final class Producing: @unchecked Sendable {
    private let producer: RingBufferProducer<Int>
    private let count: Int

    init(_ producer: consuming RingBufferProducer<Int>, count: Int) {
        self.producer = producer
        self.count = count
    }

    func run() {
        var next = 0
        while next < count { if producer.push(next) { next += 1 } else { sched_yield() } }
    }
}
