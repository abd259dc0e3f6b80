import TenfourAudioCore
import Testing

@testable import TenfourHLSSource

struct HLSSegmentBytesTests {
    /// An ID3 tag with the timestamp in ticks, as packagers write it.
    static func tag(_ ticks: UInt64, filling: Int = 0) -> [UInt8] {
        let body =
            Array("com.apple.streaming.transportStreamTimestamp\0".utf8)
            + (0..<8).map { UInt8(truncatingIfNeeded: ticks >> (8 * (7 - $0))) }
        let frame = Array("PRIV".utf8) + size(body.count) + [0, 0] + body + [UInt8](repeating: 0, count: filling)
        return Array("ID3".utf8) + [4, 0, 0] + size(frame.count) + frame
    }

    private static func size(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(count >> (7 * (3 - $0)) & 0x7F) } }

    private func read(
        _ bytes: [UInt8], pieces: Int, _ decrypt: HLSServices.Decryption? = nil
    ) -> (output: [UInt8], timestamp: Duration?) {
        var segment = HLSSegmentBytes(decrypt: decrypt)
        var rest = bytes[...]
        while !rest.isEmpty {
            segment.feed(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
        }
        segment.finish()
        return (segment.output, segment.timestamp)
    }

    @Test(arguments: [1, 7, 10, 4_096]) func aTagIsTakenOffAndItsTimestampRead(pieces: Int) {
        let sound = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        for filling in [0, 100, 50_000] {
            let segment = read(Self.tag(900_045, filling: filling) + sound, pieces: pieces)
            #expect(segment.output == sound)
            #expect(segment.timestamp == .nanoseconds(10_000_500_000))
        }
        let two = read(Self.tag(90_000) + Self.tag(180_000) + sound, pieces: pieces)
        #expect(two.output == sound && two.timestamp == .seconds(1))
    }

    @Test func whatHasNoTagStaysAsItIs() {
        for bytes in [[], [0x47], Array("ID".utf8), Array("ID3".utf8) + [4, 0, 0, 0xFF, 0, 0, 0, 9, 9]] {
            let segment = read(bytes, pieces: 1)
            #expect(segment.output == bytes && segment.timestamp == nil)
        }
    }

    @Test func aTagThatNeverEndsIsNotKept() {
        var segment = HLSSegmentBytes(decrypt: nil)
        segment.feed(Array("ID3".utf8) + [4, 0, 0, 0x7F, 0x7F, 0x7F, 0x7F])
        let noise = [UInt8](repeating: 1, count: 65_536)
        for _ in 0..<100 { segment.feed(noise[...]) }
        segment.finish()
        #expect(segment.output.isEmpty)
    }

    /// The padding is taken off whatever the pieces; the "cipher" here adds 1 to each byte.
    @Test(arguments: [1, 15, 16, 17, 1_000]) func paddingIsTakenOffTheLastBlock(pieces: Int) {
        for count in [0, 1, 15, 16, 31, 500] {
            let plain = (0..<count).map { UInt8($0 % 100) }
            let padding = 16 - count % 16
            let sent = (plain + [UInt8](repeating: UInt8(padding), count: padding)).map { $0 &- 1 }
            let segment = read(sent, pieces: pieces) { for index in $0.indices { $0[index] &+= 1 } }
            #expect(segment.output == plain, "\(count)")
        }
        // Without valid padding all is kept.
        let segment = read([UInt8](repeating: 99, count: 32), pieces: pieces) { _ in }
        #expect(segment.output == [UInt8](repeating: 99, count: 32))
    }
}
