import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourSeededRandom
import Testing

private func insert(
    _ bytes: [UInt8], for address: String, due milliseconds: Int, into flight: inout PacketsInFlight<String>
) -> Bool {
    flight.insert(bytes.span, for: address, due: .start + .milliseconds(milliseconds))
}

private func next(
    due milliseconds: Int, from flight: inout PacketsInFlight<String>
) -> (bytes: [UInt8], address: String)? {
    var address: String?
    let bytes = [UInt8](capacity: 4096) {
        address = flight.next(due: .start + .milliseconds(milliseconds), into: &$0)?.address
    }
    return address.map { (bytes, $0) }
}

struct PacketsInFlightTests {
    @Test func datagramsComeWhenTheyAreDueAndInThatOrder() {
        var flight = PacketsInFlight<String>(capacity: 8)
        #expect(flight.nextDelivery == nil)
        for (byte, due) in [(1, 30), (2, 10), (3, 20), (4, 10)] as [(UInt8, Int)] {
            #expect(insert([byte, byte], for: "peer \(byte)", due: due, into: &flight))
        }
        #expect(flight.nextDelivery == .start + .milliseconds(10))
        #expect(next(due: 9, from: &flight) == nil)
        // Packets that are due at the same time keep their order.
        for byte: UInt8 in [2, 4, 3] {
            let delivered = next(due: 25, from: &flight)
            #expect(delivered?.bytes == [byte, byte])
            #expect(delivered?.address == "peer \(byte)")
        }
        #expect(next(due: 25, from: &flight) == nil)
        #expect(flight.count == 1)
        #expect(next(due: 30, from: &flight)?.bytes == [1, 1])
        #expect(flight.nextDelivery == nil && flight.count == 0)
    }

    @Test func packetsBeyondTheCapacityAreRefusedUntilSpaceIsFree() {
        var flight = PacketsInFlight<String>(capacity: 2)
        #expect(insert([1], for: "a", due: 1, into: &flight))
        #expect(insert([2], for: "a", due: 2, into: &flight))
        #expect(!insert([3], for: "a", due: 0, into: &flight))
        #expect(next(due: 9, from: &flight)?.bytes == [1])
        #expect(insert([3], for: "a", due: 0, into: &flight))
        #expect(next(due: 9, from: &flight)?.bytes == [3])
    }

    @Test func emptyAndVeryLongDatagramsFly() {
        var flight = PacketsInFlight<String>(capacity: 2, byteCapacity: 16)
        #expect(insert([], for: "a", due: 1, into: &flight))
        #expect(insert([UInt8](repeating: 7, count: 4000), for: "a", due: 2, into: &flight))
        #expect(next(due: 1, from: &flight)?.bytes == [])
        #expect(next(due: 2, from: &flight)?.bytes.count == 4000)
    }

    @Test func aCopyFliesOnByItself() {
        var flight = PacketsInFlight<String>(capacity: 2)
        #expect(insert([1], for: "a", due: 1, into: &flight))
        var copy = flight
        #expect(next(due: 1, from: &copy)?.bytes == [1])
        #expect(next(due: 1, from: &flight)?.bytes == [1])
    }

    @Test func manyRandomFlightsComeInOrder() {
        var flight = PacketsInFlight<String>(capacity: 500)
        var generator = SeededRandom(seed: 12)
        var expected: [(due: Int, turn: Int)] = []
        var last = 0
        for turn in 0..<5000 {
            if flight.count < 500, generator.happens(0.55) || flight.count == 0 {
                let due = last + Int(generator.next() % 300)
                #expect(insert([UInt8(turn & 0xFF), UInt8(turn >> 8)], for: "a", due: due, into: &flight))
                expected.append((due, turn))
            } else {
                let first = expected.indices.min { expected[$0] < expected[$1] }!
                let delivered = next(due: .max / 2_000_000, from: &flight)
                #expect(delivered.map { Int($0.bytes[0]) | Int($0.bytes[1]) << 8 } == expected[first].turn)
                last = expected.remove(at: first).due
            }
        }
    }
}
