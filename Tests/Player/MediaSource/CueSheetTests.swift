import Glibc
import TenfourAudioCore
import TenfourMediaSource
import TestSupport
import Testing

struct CueSheetTests {
    private static let album = """
        REM GENRE Test
        PERFORMER "The Band"
        TITLE "The \u{1B}Album"
        FILE "album one.flac" WAVE
          TRACK 01 AUDIO
            TITLE "First "inner" one"
            PREGAP 00:02:00
            INDEX 00 00:00:00
            INDEX 01 00:00:33
          TRACK 02 AUDIO
            TITLE Second
            PERFORMER "A Guest"
            INDEX 00 03:00:00
            INDEX 01 03:02:74
            INDEX 02 03:10:00
        FILE two.wav WAVE
          TRACK 03 AUDIO
            INDEX 01 00:00:00
          TRACK 04 MODE1/2352
            INDEX 01 05:00:00
        """

    private func sheet(
        _ text: String, _ resource: Resource = .file(path: "/music/a.cue")
    ) throws(CueSheetError) -> CueSheet {
        try CueSheet(parsing: Array(text.utf8).span, from: resource)
    }

    private func frames(_ duration: Duration?) -> Int? {
        duration.map { FrameCount($0, at: SampleRate(hertz: 44_100)).rawValue }
    }

    @Test func aSheetOfWindowsIsUTF16WithAMark() throws {
        let text =
            "\u{FEFF}"
            + Self.album.replacing("\u{1B}", with: "").replacing("\n", with: "\r\n")
            .replacing("Second", with: "Größe")
        let bytes = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let isNamed = CueSheet.isCueSheet(bytes.span, from: .file(path: "/music/a.cue"))
        let isSheet = CueSheet.isCueSheet(bytes.span, from: .standardInput)
        #expect(isNamed && isSheet)
        let sheet = try CueSheet(parsing: bytes.span, from: .file(path: "/music/a.cue"))
        #expect(sheet.tracks.map(\.part.title) == ["First \"inner\" one", "Größe", nil])
    }

    @Test func tracksHaveFilesTimesAndTags() throws {
        for text in [Self.album, "\u{FEFF}" + Self.album.replacing("\n", with: "\r\n")] {
            let sheet = try sheet(text)
            #expect(sheet.title == "The \u{FFFD}Album")
            #expect(sheet.tracks.map(\.part.number) == [1, 2, 3])
            #expect(sheet.tracks.map(\.part.title) == ["First \"inner\" one", "Second", nil])
            #expect(sheet.tracks.map(\.part.artist) == ["The Band", "A Guest", "The Band"])
            #expect(
                sheet.tracks.map(\.resource) == [
                    .file(path: "/music/album one.flac"), .file(path: "/music/album one.flac"),
                    .file(path: "/music/two.wav"),
                ])
            // A frame of a CD is 588 samples.
            let second = (3 * 60 * 75 + 2 * 75 + 74) * 588
            #expect(sheet.tracks.map { frames($0.part.start) } == [33 * 588, second, 0])
            #expect(sheet.tracks.map { frames($0.part.end) } == [second, nil, 5 * 60 * 75 * 588])
            #expect(sheet.tracks.map(\.pregap) == [.seconds(2), .zero, .zero])
        }
    }

    @Test func oldSheetsAreLatin1() throws {
        let bytes = Array("FILE \"Bj".utf8) + [0xF6] + Array("rk.wav\" WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:0".utf8)
        let sheet = try CueSheet(parsing: bytes.span, from: .file(path: "a.cue"))
        #expect(sheet.tracks[0].resource == .file(path: "Björk.wav"))
    }

    /// The file whose name has the same bytes comes first, then the one whose name is the text in Windows-1252. Each line
    /// has an encoding of its own.
    @Test func namesOfFilesHaveAnyEncoding() throws {
        let folder = Folder()
        let name = Array("Bj".utf8) + [0xF6] + Array("rk.wav".utf8)
        let mark = Array("\u{FEFF}".utf8)
        func tracks(_ beginning: [UInt8], _ name: [UInt8]) throws -> [CueSheet.Track] {
            let title = Array("TITLE \"B".utf8) + [0xE9] + Array("la\"\r\n".utf8)
            let command = Array("FILE \"".utf8) + name + Array("\" WAVE\r\n".utf8)
            let rest = Array("TRACK 1 AUDIO\r\nTITLE \"Tür\"\r\nINDEX 1 0:0:0\r\n".utf8)
            folder.write(beginning + title + command + rest, to: "a.cue")
            let sheet = try #require(try CueSheet(reading: FileByteSource.open(folder("a.cue"))))
            #expect(sheet.title == "Béla" && sheet.tracks[0].part.title == "Tür")
            return sheet.tracks
        }
        folder.write("in UTF-8", to: "Björk.wav")
        for beginning in [[], mark] {
            for name in [name, Array("Björk.wav".utf8)] {
                #expect(try tracks(beginning, name)[0].resource == .file(path: folder("Björk.wav")))
            }
        }
        let path = folder(String(pathBytes: name))
        #expect(unsafe path.withPath { unsafe rename(folder("Björk.wav"), $0) } == 0)
        folder.write("another", to: "Björk.wav")
        for beginning in [[], mark] {
            let found = try tracks(beginning, name)[0].resource
            #expect(found == .file(path: path))
            #expect(try FileByteSource.open(path).state.byteCount == "in UTF-8".utf8.count)
        }
        #expect(unsafe path.withPath { unsafe unlink($0) } == 0)
        // Not in the folder above, whatever the bytes.
        for way in ["../", "..\\"] {
            #expect(throws: CueSheetError.self) { try tracks([], Array(way.utf8) + name) }
        }
    }

    /// A slash and a combining character after it are one `Character`.
    @Test func aFolderAboveIsRefusedWhateverFollowsTheSlash() {
        for name in ["../\u{301}.wav", "a/../\u{301}/../../b.wav", "/\u{301}.wav", "./\u{20D0}"] {
            let text = "FILE \"\(name)\" WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00"
            #expect(throws: CueSheetError.self) { try sheet(text) }
        }
    }

    @Test(arguments: [
        "/etc/passwd", "../secret.wav", "a/../../b.wav", "file:///etc/passwd", "file:/etc/passwd", "http://host/a.wav",
        "https://host/a.wav", "C:\\music\\a.wav", "\\\\server\\a.wav", "//host/a.wav", "..\\a.wav", "./a.wav", "",
        "a//b",
    ])
    func aSheetThatLeadsElsewhereIsRefused(name: String) {
        let text = "FILE \"\(name)\" WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00"
        for resource in [
            Resource.file(path: "a.cue"), .file(path: "/a.cue"), .file(path: "/music/a.cue"), .standardInput,
            .http(address: "http://host/music/a.cue?x"),
        ] {
            #expect(throws: CueSheetError.elsewhere(name)) { try sheet(text, resource) }
        }
    }

    @Test func filesLieBesideOrBelow() throws {
        func resource(_ name: String, _ sheet: Resource) throws -> Resource {
            try self.sheet("FILE \"\(name)\" WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00", sheet).tracks[0].resource
        }
        #expect(try resource("CD1\\a b.wav", .file(path: "/m/a.cue")) == .file(path: "/m/CD1/a b.wav"))
        #expect(try resource("song: the second.wav", .file(path: "a.cue")) == .file(path: "song: the second.wav"))
        #expect(
            try resource("a b.wav", .http(address: "http://host/m/a.cue?x=/y"))
                == .http(address: "http://host/m/a%20b.wav"))
        #expect(throws: CueSheetError.elsewhere("a?b")) { try resource("a?b", .http(address: "http://host/m/a.cue")) }
    }

    @Test(arguments: [
        "TRACK 01 AUDIO", "FILE", "FILE a\nTRACK x AUDIO", "FILE a\nTRACK 1 AUDIO\nINDEX 01 00:60:00",
        "FILE a\nTRACK 1 AUDIO\nINDEX 01 00:00:75", "FILE a\nTRACK 1 AUDIO\nINDEX 01 0:0",
        "FILE a\nTRACK 1\nINDEX x 0:0:0",
        "FILE a\nTRACK 1\nINDEX 1 99999:0:0",
        "FILE a\nTRACK 1\nINDEX 1 -1:0:0",
    ])
    func aLineThatCannotBeReadIsTold(text: String) {
        #expect {
            try sheet(text)
        } throws: { error in
            if case .malformed = error as? CueSheetError { true } else { false }
        }
    }

    @Test(arguments: ["0:5:0", "0:4:0"]) func aTrackThatDoesNotBeginAfterTheOneBeforeIsNamed(time: String) {
        let error = #expect(throws: CueSheetError.self) {
            try sheet("FILE a\nTRACK 1\nINDEX 1 0:5:0\nTRACK 2\nINDEX 1 \(time)")
        }
        #expect(error == .disordered("INDEX 1 \(time)"))
        #expect(error?.description.contains("does not begin after the track before it") == true)
    }

    @Test func aSheetIsBounded() throws {
        #expect(throws: CueSheetError.noTracks) { try sheet("") }
        #expect(throws: CueSheetError.noTracks) { try sheet("FILE a\nTRACK 1 MODE1/2352\nINDEX 1 0:0:0") }
        #expect(throws: CueSheetError.tooLong) { try sheet(String(repeating: "REM\n", count: 1 << 17)) }
        let many = (1...2_000).map { "TRACK 1 AUDIO\nINDEX 1 0:0:0\nFILE \($0)\n" }.joined()
        #expect(try sheet("FILE a\n" + many).tracks.count == CueSheet.maximumTrackCount)
    }

    @Test func aSheetIsRecognisedByItsNameOrItsContent() {
        func isSheet(_ text: String, _ resource: Resource) -> Bool {
            CueSheet.isCueSheet(Array(text.utf8).span, from: resource)
        }
        #expect(isSheet("REM nothing", .file(path: "a.CUE")))
        #expect(isSheet("REM x\r\n  file \"a.wav\" WAVE", .standardInput))
        #expect(isSheet("REM", .http(address: "http://host/a.cue?b")))
        #expect(!isSheet("http://host/a", .file(path: "a.m3u")))
        #expect(!isSheet("RIFF\0\0\0\0WAVE", .file(path: "a.cue")))
        #expect(!isSheet("", .file(path: "a.cue")))
    }

    @Test func aSheetIsReadFromAFile() throws {
        let folder = Folder()
        folder.write(Self.album.replacing("\u{1B}", with: ""), to: "a.cue")
        folder.write(String(repeating: "REM\n", count: 1 << 17), to: "long.cue")
        folder.write([UInt8](repeating: 0, count: 1_000), to: "sound")
        #expect(try CueSheet(reading: FileByteSource.open(folder("a.cue")))?.tracks.count == 3)
        #expect(throws: CueSheetError.tooLong) { try CueSheet(reading: FileByteSource.open(folder("long.cue"))) }
        #expect(try CueSheet(reading: FileByteSource.open(folder("sound"))) == nil)
    }
}
