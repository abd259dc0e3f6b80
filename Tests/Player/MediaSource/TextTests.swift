import TenfourMediaSource
import TestSupport
import Testing

struct TextTests {
    @Test func controlSequencesAreReplaced() {
        #expect(shown("A\u{1B}[2J song\u{202E}") == "A\u{FFFD}[2J song\u{FFFD}")
        #expect(shown(" two \r\n lines ") == "two lines")
        #expect(shown("\n\t ") == nil)
        #expect(shown("\u{9B}31m") == "\u{FFFD}31m")
        #expect(shown("Ça va, 東京 👩‍👩‍👧") == "Ça va, 東京 👩‍👩‍👧")
        #expect(shown(String(repeating: "x", count: 10_000))?.count == 301)
        // A single character may have a million combining marks.
        #expect((shown("x" + String(repeating: "\u{301}", count: 1_000_000))?.unicodeScalars.count ?? 0) < 3_000)
    }

    @Test func aTagIsReadAndItsPictureSteppedOver() throws {
        func frame(_ name: String, _ text: [UInt8]) -> [UInt8] {
            Array(name.utf8) + [
                0, UInt8(text.count >> 16), UInt8(text.count >> 8 & 0xFF), UInt8(text.count & 0xFF), 0, 0,
            ] + text
        }
        let picture = frame("APIC", [UInt8](repeating: 1, count: 3_000_000))
        let title = frame("TIT2", [1, 0xFF, 0xFE] + "Héllo".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        let artist = frame("TPE1", [0] + [0x4D, 0xFC, 0x6C])
        let album = frame("TALB", [3] + Array("Plüsch".utf8))
        let body = picture + title + artist + album
        let size: [UInt8] = (0..<4).map { UInt8(body.count >> (21 - 7 * $0) & 0x7F) }
        let head: [UInt8] = [0x49, 0x44, 0x33, 3, 0, 0]  // "ID3", version 2.3
        let byteSource = StoredBytes(head + size + body + [0xFF], isHere: false)
        var window = ByteWindow(of: byteSource)
        let tag = try ID3Tag(&window)
        #expect(
            tag.title == "Héllo" && tag.artist == "Mül" && tag.album == "Plüsch" && tag.byteCount == body.count + 10)
        #expect(byteSource.readByteCount < 100_000)
    }
}
