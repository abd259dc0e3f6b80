import TenfourOggOpus
import TenfourSeededRandom
import TestSupport
import Testing

@Suite struct OpusCommentsTests {
    private let comments = OpusComments([.init("TITLE", "family"), .init("TALKER", "Zoë"), .init("EMPTY", "")])

    @Test func whatIsWrittenIsReadAgain() throws {
        for byteCount in [0, 1_000] {
            let bytes = comments.bytes(paddedTo: byteCount)
            #expect(bytes.count >= byteCount)
            #expect(try OpusComments(parsing: bytes.span) == comments)
        }
        #expect(comments.value(of: "talker") == "Zoë" && comments.value(of: "LOSS") == nil)
    }

    @Test func theLengthIsThatOfThePaddingIfThereIsSpace() {
        let length = comments.bytes().count
        #expect(comments.bytes(paddedTo: length + 7).count == length + 7)
        #expect(comments.bytes(paddedTo: length - 1).count == length)
    }

    @Test func eachCutIsTold() {
        let bytes = comments.bytes()
        for count in 0..<bytes.count {
            let expected = count < 8 ? OggOpusError.noComments : .truncated
            #expect(throws: expected) { try OpusComments(parsing: bytes.span.extracting(first: count)) }
        }
    }

    @Test func aLengthBeyondTheEndIsTold() {
        var bytes = comments.bytes()
        for index in 8..<12 { bytes[index] = 0xFF }
        #expect(throws: OggOpusError.truncated) { try OpusComments(parsing: bytes.span) }
    }

    @Test func pictureAndControlCharactersAreNotShown() throws {
        let long = OpusComments([
            .init("PICTURE", String(repeating: "x", count: 5_000)), .init("TALKER", "a\u{1B}[31mb\n"),
        ])
        let bytes = long.bytes()
        let read = try OpusComments(parsing: bytes.span)
        #expect(read == OpusComments([.init("TALKER", "a\u{FFFD}[31mb\u{FFFD}")]))
    }

    @Test func noiseTrapsNothing() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<2_000 {
            var bytes = comments.bytes(paddedTo: 100)
            for _ in 0..<3 { bytes[8 + random.below(bytes.count - 8)] = UInt8(random.below(256)) }
            _ = try? OpusComments(parsing: bytes.span)
        }
    }
}
