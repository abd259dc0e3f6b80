import TenfourSystem
import Testing

@testable import TenfourMediaSource

struct OggPagesTests {
    @Test func pagesAreFoundBehindBytesThatAreNone() throws {
        let (first, second) = (Page(sequence: 0, packets: [[1, 2]]).bytes, Page(sequence: 1, packets: [[3]]).bytes)
        let garbage = Array("OggS, but no page".utf8)
        let bytes = garbage + first + garbage + second
        var pages = OggPages(ByteWindow(of: LimitedBytes(bytes)))
        let found = try pages.page(from: 0, before: .max)
        #expect(found?.offset == garbage.count && found?.byteCount == first.count && found?.sequence == 0)
        let next = try pages.page(from: found?.end ?? 0, before: .max)
        #expect(next?.offset == bytes.count - second.count && next?.segments == [1])
        let none = try pages.page(from: 0, before: garbage.count)
        #expect(none == nil, "no page begins before the limit")
        let again = try pages.page(from: garbage.count + 1, before: .max)
        #expect(again == next)
    }

    @Test func aPageWithAnotherChecksumIsNone() throws {
        var first = Page(sequence: 0, packets: [[1, 2]]).bytes
        first[first.count - 1] ^= 1
        let second = Page(sequence: 1, packets: [[3]]).bytes
        var pages = OggPages(ByteWindow(of: LimitedBytes(first + second)))
        let found = try pages.page(from: 0, before: .max)
        #expect(found?.sequence == 1)
    }

    @Test func aPageIsThereAsSoonAsItsBytesAre() throws {
        let bytes = Page(sequence: 0, packets: [[1, 2]]).bytes
        let source = LimitedBytes(bytes + [UInt8](repeating: 0, count: 8_000), arrived: bytes.count)
        var pages = OggPages(ByteWindow(of: source))
        let found = try pages.page(from: 0, before: .max)
        #expect(found?.end == bytes.count, "bytes after the page must not be waited for")
    }

    @Test func aPacketOfTwoPagesIsPutTogether() throws {
        #expect(try packets(of: [0, 1, 2]) == [20, 300, 30])
    }

    @Test func withoutItsBeginningAPacketIsNone() throws {
        #expect(try packets(of: [1, 2]) == [30])
        #expect(try packets(of: [0, 2]) == [20, 30], "the packet of 300 bytes is incomplete")
    }

    /// Returns the sizes of the packets read from the pages `numbers` of three, the first two of which share a packet
    /// of 300 bytes.
    private func packets(of numbers: [Int]) throws -> [Int] {
        // 0xFC is the TOC of an Opus packet with one frame of 20 ms.
        func packet(_ count: Int) -> [UInt8] { [0xFC] + [UInt8](repeating: 7, count: count - 1) }
        let all = [
            Page(sequence: 0, granule: 960, packets: [packet(20)], tail: Array(packet(300)[..<255])),
            Page(sequence: 1, granule: 1_920, isContinuing: true, packets: [Array(packet(300)[255...])]),
            Page(sequence: 2, granule: 2_880, packets: [packet(30)]),
        ]
        let bytes = numbers.flatMap { all[$0].bytes }
        var pages = OggPages(ByteWindow(of: LimitedBytes(bytes)))
        var packets = OggPackets(serial: 5)
        var (offset, sizes): (Int, [Int]) = (0, [])
        while let page = try pages.page(from: offset, before: .max) {
            unsafe packets.append(page, pages.raw)
            for packet in packets.pending {
                sizes.append(packet.bytes.count)
                #expect(packet.offset >= 0 && packet.offset + packet.bytes.count <= bytes.count)
                #expect(packet.frameCount == 960)
            }
            offset = page.end
        }
        return sizes
    }
}

/// An Ogg page with serial number 5.
private struct Page {
    var sequence: UInt32
    var granule: Int64 = 0
    var isContinuing = false
    var packets: [[UInt8]]
    /// The first 255 bytes of a packet that the next page continues.
    var tail: [UInt8] = []

    var bytes: [UInt8] {
        var segments: [UInt8] = []
        for packet in packets {
            segments += [UInt8](repeating: 255, count: packet.count / 255) + [UInt8(packet.count % 255)]
        }
        if !tail.isEmpty { segments.append(255) }
        var page = Array("OggS\0".utf8) + [isContinuing ? 1 : 0]
        page += (0..<8).map { UInt8(truncatingIfNeeded: granule >> (8 * $0)) }
        page += [5, 0, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: sequence >> (8 * $0)) } + [0, 0, 0, 0]
        page += [UInt8(segments.count)] + segments + packets.joined() + tail
        var sum: UInt32 = 0
        for byte in page {
            sum ^= UInt32(byte) << 24
            for _ in 0..<8 { sum = sum & 1 << 31 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
        }
        for index in 0..<4 { page[22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
        return page
    }
}

/// A byte source of which only the first bytes have arrived: a read of later bytes throws instead of blocking.
private final class LimitedBytes: ByteSource {
    private let bytes: [UInt8]
    private let arrived: Int

    init(_ bytes: [UInt8], arrived: Int? = nil) {
        self.bytes = bytes
        self.arrived = arrived ?? bytes.count
    }

    var state: ByteSourceState { ByteSourceState(phase: .receiving, available: 0..<arrived) }
    var limits: BufferLimits {
        get { .all }
        set {}
    }
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        if offset >= bytes.count { return 0 }
        if offset >= arrived { throw .failed("it would wait") }
        let count = min(arrived - offset, buffer.count)
        unsafe buffer.copyBytes(from: bytes[offset..<offset + count])
        return count
    }
    func interrupt() {}
    func resume() {}
    func pause(_ isPaused: Bool) {}
    func stop() {}
}
