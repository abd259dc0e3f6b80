import Testing

@testable import TenfourMediaSource

struct HeldBytesTests {
    /// Returns bytes whose values depend on their positions.
    private func bytes(_ range: Range<Int>) -> [UInt8] { range.map { UInt8(truncatingIfNeeded: $0 % 251) } }

    private func copy(_ window: borrowing HeldBytes, from offset: Int, _ count: Int) throws -> [UInt8] {
        var room = [UInt8](repeating: 0, count: count)
        let got = try unsafe room.withUnsafeMutableBytes { try unsafe window.copy(from: offset, into: $0) }
        return Array(room[..<got])
    }

    private func append(_ range: Range<Int>, to window: inout HeldBytes) throws {
        try unsafe bytes(range).withUnsafeBytes { try unsafe window.append($0) }
    }

    @Test(arguments: [false, true])
    func insertedBytesAreRead(isInFile: Bool) throws {
        var window = HeldBytes()
        window.restart(at: 1_000)
        var end = 1_000
        for count in [1, 65_535, 65_536, 65_537, 0, 200_000, 7] {
            // The bytes held in memory move to the file.
            if isInFile, count == 65_537 { try window.moveToFile() }
            try append(end..<end + count, to: &window)
            end += count
        }
        #expect(window.held == 1_000..<end)
        #expect(try copy(window, from: 1_000, end) == bytes(1_000..<end))
        #expect(try copy(window, from: 66_535, 2) == bytes(66_535..<66_537))
        #expect(try copy(window, from: 999, 1).isEmpty)
        #expect(try copy(window, from: end, 1).isEmpty)
    }

    @Test func discardedBytesAreGoneAndTheOthersStay() throws {
        var window = HeldBytes()
        window.restart(at: 0)
        try append(0..<300_000, to: &window)
        window.forget(before: 150_000)
        #expect(window.held == 150_000..<300_000)
        #expect(try copy(window, from: 149_999, 1).isEmpty)
        #expect(try copy(window, from: 150_000, 150_000) == bytes(150_000..<300_000))
        window.forget(before: 100)
        #expect(window.held == 150_000..<300_000)
        window.forget(before: .max)
        #expect(window.held == 300_000..<300_000)
        try append(300_000..<400_000, to: &window)
        #expect(try copy(window, from: 300_000, 100_000) == bytes(300_000..<400_000))
    }

    /// Compares the content after random steps with the bytes expected at these positions.
    @Test func itHoldsAfterManySteps() throws {
        var window = HeldBytes()
        var state: UInt64 = 5
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        window.restart(at: 0)
        for _ in 0..<400 {
            switch random(4) {
            case 0, 1: try append(window.held.upperBound..<window.held.upperBound + random(100_000), to: &window)
            case 2: window.forget(before: window.held.lowerBound + random(100_000))
            default: if random(20) == 0 { window.restart(at: random(1_000_000)) }
            }
            guard !window.held.isEmpty else { continue }
            let offset = window.held.lowerBound + random(window.held.count)
            let end = min(offset + 1_000, window.held.upperBound)
            #expect(try copy(window, from: offset, 1_000) == bytes(offset..<end))
        }
    }
}
