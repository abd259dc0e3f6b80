import TenfourMediaSource
import TestSupport
import Testing

struct PlaylistTests {
    private let folder: Resource = .http(address: "http://host/radio/list")

    private func entries(_ text: String) throws(PlaylistError) -> [String] {
        try Playlist(parsing: Array(text.utf8).span, from: folder).entries.map { "\($0.resource) \($0.title ?? "-")" }
    }

    @Test func anM3UListsAddresses() throws {
        #expect(
            try entries("#EXTM3U\r\n#EXTINF:-1,Radio \u{1B}One\r\nhttp://a/1\r\n\r\n# a word\r\ntwo.mp3\r\n")
                == ["http://a/1 Radio \u{FFFD}One", "http://host/radio/two.mp3 -"])
        #expect(try entries("\u{FEFF}http://a/1") == ["http://a/1 -"])
    }

    @Test func aPLSListsAddressesByNumber() throws {
        let text =
            "[Playlist]\nNumberOfEntries=9\nFile2=b\nTitle1=One\nFile1=http://a/1\nLength1=-1\nFile=x\nFile3=\nfile=4"
        #expect(try entries(text) == ["http://a/1 One", "http://host/radio/b -"])
    }

    @Test func unplayableEntriesAreSkipped() throws {
        #expect(try entries("mms://a/b\nfile:///etc/passwd\nc") == ["http://host/radio/c -"])
    }

    @Test func anEmptyListReportsIt() {
        #expect(throws: PlaylistError.empty) { try entries("#EXTM3U\n") }
        #expect(throws: PlaylistError.empty) { try entries("") }
        #expect(throws: PlaylistError.self) { try entries("file:///a") }
    }

    @Test(arguments: ["#EXT-X-TARGETDURATION:10", "#EXT-X-STREAM-INF:BANDWIDTH=1", "#ext-x-version:3"])
    func aBroadcastInPiecesIsRefusedWithARemedy(line: String) {
        #expect(throws: PlaylistError.httpLiveStreaming) { try entries("#EXTM3U\n\(line)\na.ts") }
        #expect("\(PlaylistError.httpLiveStreaming)".contains("play its own address"))
    }

    @Test func aListIsBounded() throws {
        #expect(try entries(String(repeating: "a\n", count: 20_000)).count == Playlist.maximumEntryCount)
        #expect(throws: PlaylistError.tooLong) { try entries(String(repeating: "a\n", count: 1 << 20)) }
    }

    @Test func oldListsAreLatin1() throws {
        let bytes = Array("/Bj".utf8) + [0xF6] + Array("rk".utf8)
        let list = try Playlist(parsing: bytes.span, from: .file(path: "list"))
        #expect(list.entries == [.init(resource: .file(path: "/Björk"))])
    }

    @Test func aPlaylistIsRecognisedByItsBeginning() {
        func isPlaylist(_ text: String, _ type: String? = nil, _ resource: Resource = .standardInput) -> Bool {
            Playlist.isPlaylist(Array(text.utf8).span, contentType: type, from: resource)
        }
        #expect(isPlaylist("#EXTM3U"))
        #expect(isPlaylist("\n[playlist]\n"))
        #expect(isPlaylist("http://a", "audio/x-mpegurl; charset=utf-8"))
        #expect(isPlaylist("http://a", "text/plain", .http(address: "http://host/radio.M3U?x")))
        #expect(!isPlaylist("http://a", "text/plain"))
        #expect(!isPlaylist("<html>", "text/html", .http(address: "http://host/radio.m3u")))
        #expect(!isPlaylist("OggS\0", "audio/x-mpegurl"))
        #expect(!isPlaylist(""))
    }

    @Test func aListIsReadFromADownload() throws {
        let folder = Folder()
        folder.write("#EXTM3U\n" + (0..<5_000).map { "song\($0).mp3\n" }.joined(), to: "list")
        folder.write([UInt8](repeating: 0, count: 1_000), to: "sound")
        let list = try Playlist(reading: FileByteSource.open(folder("list")))
        #expect(list?.entries.count == 5_000)
        #expect(list?.entries.last?.resource == .file(path: folder("song4999.mp3")))
        #expect(try Playlist(reading: FileByteSource.open(folder("sound"))) == nil)
    }
}
