import TestSupport
import Testing

/// Playlists that lead nowhere, in `tenfour play`.
@Suite(.onItsOwnThread) struct HostilePlaylistTests {
    private let folder = Folder()

    private func play(_ name: String) throws -> (end: Program.End, errors: String) {
        let result = try tenfour(["play", name, "-o", "out.wav"], in: folder)
        return (result.end, result.errors)
    }

    @Test func playlistsThatNameThemselvesOrEachOtherEnd() throws {
        folder.write("#EXTM3U\nself.m3u\n", to: "self.m3u")
        folder.write("#EXTM3U\ntwo.m3u\n", to: "one.m3u")
        folder.write("[playlist]\nFile1=one.m3u\n", to: "two.m3u")
        for name in ["self.m3u", "one.m3u"] {
            let result = try play(name)
            #expect(result.end == .code(69) && result.errors.contains("contains itself"), "\(result)")
        }
    }

    /// Lists that differ multiply up to the depth of nested lists: 4⁵ entries are refused, each with the sentence, and the
    /// last one ends the program.
    @Test func playlistsThatMultiplyAreBounded() throws {
        for number in 0..<8 {
            let line = "\(number + 1).m3u\n"
            folder.write("#EXTM3U\n" + String(repeating: line, count: 4), to: "\(number).m3u")
        }
        let result = try play("0.m3u")
        #expect(result.end == .code(69), "it is an error, and no crash")
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count { $0.contains("the playlists are nested too deeply") } == 1_025, "\(lines.count)")
    }

    /// A list that names itself is refused at its second visit, and what else it names is played.
    @Test func theRestOfAPlaylistThatNamesItselfIsPlayed() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 1)]).wav(), to: "a.wav")
        folder.write("#EXTM3U\na.wav\n./self.m3u\na.wav\n", to: "self.m3u")
        let result = try play("self.m3u")
        #expect(result.end == .code(3) && result.errors.contains("contains itself"), "\(result)")
        #expect(try Recording(wav: folder("out.wav")).seconds == 2)
    }

    @Test func aMillionLinesAreRefusedWithASentence() throws {
        folder.write("#EXTM3U\n" + String(repeating: "a.wav\n", count: 1_000_000), to: "long.m3u")
        let result = try play("long.m3u")
        #expect(result.end == .code(69) && result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        #expect(result.errors.contains("is longer than 1 MiB"), "\(result.errors)")
    }
}
