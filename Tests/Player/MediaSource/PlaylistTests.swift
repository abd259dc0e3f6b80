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

    @Test func listsOfWindowsAreUTF16WithAMark() throws {
        for isBigEndian in [false, true] {
            for text in [
                "#EXTM3U\r\n#EXTINF:-1,Größe 🎧\r\nMüller.mp3\r\n",
                "[playlist]\r\nFile1=Müller.mp3\r\nTitle1=Größe 🎧\r\n",
            ] {
                let bytes = Self.utf16(text, isBigEndian)
                let isList = Playlist.isPlaylist(bytes.span, contentType: nil, from: nil)
                #expect(isList)
                let entries = try Playlist(parsing: bytes.span, from: folder).entries
                #expect(entries.map(\.resource) == [.http(address: "http://host/radio/M%C3%BCller.mp3")])
                #expect(entries.map(\.title) == ["Größe 🎧"])
            }
            let name = Resource.file(path: "/a/b.m3u")
            let bytes = Self.utf16("one.mp3", isBigEndian)
            let isNamed = Playlist.isPlaylist(bytes.span, contentType: nil, from: name)
            #expect(isNamed)
            // Two bytes of MPEG audio look like the mark.
            let sound: [UInt8] = isBigEndian ? [0xFE, 0xFF, 1, 2, 3, 4] : [0xFF, 0xFE, 1, 2, 3, 4]
            let isSoundList = Playlist.isPlaylist(sound.span, contentType: nil, from: nil)
            #expect(!isSoundList)
        }
    }

    private static func utf16(_ text: String, _ isBigEndian: Bool) -> [UInt8] {
        ("\u{FEFF}" + text).utf16.flatMap {
            let bytes = [UInt8($0 >> 8), UInt8($0 & 0xFF)]
            return isBigEndian ? bytes : bytes.reversed()
        }
    }

    @Test func aPLSMayHaveSpaces() throws {
        #expect(
            try entries("[playlist]\r\n File2 = b\r\nTitle1 = One \r\nFile1\t=  http://a/1\r\n")
                == ["http://a/1 One", "http://host/radio/b -"])
    }

    @Test func anXSPFListsItsTracks() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- made by hand: <track> -->
            <playlist version="1" xmlns="http://xspf.org/ns/0/"><title>All</title><trackList>
            <track><title>One &amp; &#233;&#x1b;</title><location> http://a/1?x=1&amp;y=2 </location>
              <location>http://a/other</location></track>
            <track><location><![CDATA[two.mp3]]></location></track><track><title>none</title></track>
            </trackList></playlist>
            """
        #expect(
            try entries(text) == ["http://a/1?x=1&y=2 One & é\u{FFFD}", "http://host/radio/two.mp3 -"])
    }

    @Test func theEnclosuresOfAFeedAreTheEntries() throws {
        let text = """
            <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>
            <title>A podcast</title><item><title>First</title><itunes:title>Other</itunes:title>
            <enclosure url="http://a/cover.jpg" type="image/jpeg" length="9"/>
            <enclosure url='http://a/1.mp3' length="1" type="audio/mpeg" /></item>
            <item><enclosure length="1" type="audio/mpeg" url="two.m4a"></enclosure><title>Second</title></item>
            <item><title>Only text</title></item></channel></rss>
            """
        #expect(try entries(text) == ["http://a/1.mp3 First", "http://host/radio/two.m4a Second"])
        let atom = """
            <feed xmlns="http://www.w3.org/2005/Atom"><title>All</title><entry><title>One</title><link href="http://a/"/>
            <link rel="enclosure" type="audio/ogg" href="http://a/1.ogg"/></entry></feed>
            """
        #expect(try entries(atom) == ["http://a/1.ogg One"])
        #expect(throws: PlaylistError.empty) { try entries("<rss><channel></channel></rss>") }
        let long = "<rss>" + String(repeating: "<item><enclosure url='http://a/1.mp3'/></item>\n", count: 40_000)
        #expect(try entries(long).count == Playlist.maximumEntryCount)
    }

    /// XML of any bytes ends somehow.
    @Test func brokenXMLEndsSomehow() {
        for text in [
            "<rss", "<rss><", "<rss><item><enclosure url=", "<rss><item><enclosure url='", "<rss><!--",
            "<rss><![CDATA[",
            "<rss>&#xFFFFFFFF;&#0;&x;", "<playlist><track><location>", "<rss><item></item></item></rss>",
            "<feed / / = '' >",
        ] {
            #expect(throws: PlaylistError.self) { try entries(text) }
        }
    }

    /// The literal name comes first, then its text in Windows-1252, then the percent-decoded name, since VLC percent-encodes.
    @Test func aLocalEntryIsTheFileThatExists() throws {
        let folder = Folder()
        func found(_ line: [UInt8]) throws -> Resource? {
            try Playlist(parsing: (line + [10]).span, from: .file(path: folder("list.m3u"))).entries.first?.resource
        }
        folder.write("", to: "My Song.wav")
        #expect(try found(Array("My%20Song.wav".utf8)) == .file(path: folder("My Song.wav")))
        folder.write("", to: "My%20Song.wav")
        #expect(try found(Array("My%20Song.wav".utf8)) == .file(path: folder("My%20Song.wav")))
        folder.write("", to: "Björk.wav")
        #expect(try found(Array("Bj".utf8) + [0xF6] + Array("rk.wav".utf8)) == .file(path: folder("Björk.wav")))
        #expect(try found(Array("Bj%C3%B6rk.wav".utf8)) == .file(path: folder("Björk.wav")))
        #expect(try found(Array("none%20.wav".utf8)) == .file(path: folder("none%20.wav")))
        #expect(try found(Array("http://a/".utf8) + [0xE9]) == .http(address: "http://a/%C3%A9"))
        #expect(try found(Array("100%.wav".utf8)) == .file(path: folder("100%.wav")))
    }

    @Test func aPlaylistIsRecognisedByItsBeginning() {
        func isPlaylist(_ text: String, _ type: String? = nil, _ resource: Resource = .standardInput) -> Bool {
            Playlist.isPlaylist(Array(text.utf8).span, contentType: type, from: resource)
        }
        #expect(isPlaylist("#EXTM3U"))
        #expect(isPlaylist("\n[playlist]\n"))
        #expect(
            isPlaylist("<?xml version='1.0'?>\n<!-- \(String(repeating: "x", count: 2_000)) -->\n<rss version='2.0'>"))
        #expect(isPlaylist("\u{FEFF} <playlist xmlns='http://xspf.org/ns/0/'>") && isPlaylist("<feed>"))
        #expect(!isPlaylist("<?xml version='1.0'?><html><rss>") && !isPlaylist("<?xml version='1.0'?>"))
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
