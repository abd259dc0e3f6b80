import TenfourAudioCore
import TenfourSeededRandom
import Testing

/// A path is any bytes, and its text tells it from all other paths.
@Test(arguments: 0..<4 as Range<UInt64>) func everyPathHasATextOfItsOwn(seed: UInt64) {
    var chance = SeededRandom(seed: seed)
    // By its bytes, because two texts may be equal by canonical equivalence.
    var seen: [[UInt8]: [UInt8]] = [:]
    for round in 0..<5_000 {
        // Few different bytes, so that valid, truncated and overlong UTF-8 occurs.
        let some: [UInt8] = [0x61, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xF4, 0x8F, 0xBE, 0x80, 0xFF, 0xE9, 0xC0, 0xED, 0xA0]
        let bytes = (0..<round % 12).map { _ in some.randomElement(using: &chance)! }
        let text = String(pathBytes: bytes)
        #expect(text.pathBytes == bytes, "\(bytes)")
        #expect(seen[Array(text.utf8)] ?? bytes == bytes)
        seen[Array(text.utf8)] = bytes
        let reread = unsafe text.withPath { unsafe String(path: $0) }
        #expect(reread == text && reread.pathBytes == bytes)
    }
}

@Test func aPathOfUTF8IsItsText() {
    for text in ["", "a", "Björk – 10 €.flac", "\u{10FFFF}", "日本"] {
        let path = String(pathBytes: Array(text.utf8))
        #expect(path.pathBytes == Array(text.utf8))
        if text != "\u{10FFFF}" { #expect(path == text) }
    }
}

@Test func bytesThatAreNoTextAreShownAsReplacements() {
    let path = String(pathBytes: Array("latin".utf8) + [0xE9] + Array(".flac".utf8))
    #expect(String(fromPeer: path) == "latin\u{FFFD}.flac" && path.replacingPathBytes == "latin\u{FFFD}.flac")
    #expect("plain".replacingPathBytes == "plain")
}
