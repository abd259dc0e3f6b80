import TenfourSession
import Testing

@testable import TenfourUV

@Test func theOldestDatagramLeavesFirstAndIsDroppedFirst() {
    var queue = SendQueue(capacity: 3, longestDatagram: 4)
    #expect(queue.withFirst { _, _ in true } == nil)
    var left: [UInt8] = []
    for number: UInt8 in 0..<20 {
        let datagram = [UInt8](repeating: number, count: Int(number) % 5)
        let dropped = queue.append(datagram.span, to: Endpoint(.v4(UInt32(number)), port: 1))
        #expect(dropped == (number == 3))
        if number < 3 { continue }
        let first = queue.withFirst { datagram, destination in
            (datagram.indices.map { datagram[$0] }, destination.address)
        }
        let expected = number - 2
        #expect(first?.0 == [UInt8](repeating: expected, count: Int(expected) % 5))
        #expect(first?.1 == .v4(UInt32(expected)))
        left.append(expected)
        queue.removeFirst()
    }
    #expect(left == Array(1...17))
    #expect(queue.count == 2)
}
