import TenfourAudioCore
import TenfourMediaSource
import Testing

@testable import TenfourHLSSource

struct HLSPlaylistTests {
    private let base: Resource = .http(address: "https://host/radio/list.m3u8")

    private func parse(_ text: String, from base: Resource? = nil) throws(HLSPlaylistError) -> HLSPlaylist {
        try HLSPlaylist(parsing: Array(text.utf8).span, from: base ?? self.base)
    }

    private func media(_ text: String) throws -> HLSMediaPlaylist {
        guard case .media(let media) = try parse("#EXTM3U\n#EXT-X-TARGETDURATION:10\n" + text) else {
            throw HLSPlaylistError.nested
        }
        return media
    }

    private func master(_ text: String) throws -> HLSMasterPlaylist {
        guard case .master(let master) = try parse("#EXTM3U\n" + text) else { throw HLSPlaylistError.noPlaylist }
        return master
    }

    /// The example of RFC 8216, section 8.1, with Windows line ends and a byte order mark.
    @Test func aSimplePlaylistListsItsSegments() throws {
        let text =
            "\u{FEFF}#EXTM3U\r\n#EXT-X-TARGETDURATION:10\r\n#EXT-X-VERSION:3\r\n# a comment\r\n#EXTINF:9.009,\r\n"
            + "http://media.example.com/first.ts\r\n#EXTINF:9.009,A title\r\n second.ts \r\n#EXTINF:3.003,\r\nthird.ts\r\n"
            + "#EXT-X-ENDLIST"
        guard case .media(let list) = try parse(text) else { throw HLSPlaylistError.nested }
        #expect(list.segments.map(\.reference) == ["http://media.example.com/first.ts", "second.ts", "third.ts"])
        #expect(list.segments.map(\.duration) == [.milliseconds(9_009), .milliseconds(9_009), .milliseconds(3_003)])
        #expect(list.targetDuration == .seconds(10) && list.firstNumber == 0 && list.isEnded)
        #expect(list.duration == .milliseconds(21_021))
        #expect(try list.resource("second.ts") == .http(address: "https://host/radio/second.ts"))
    }

    /// `EXT-X-START` without a usable number is ignored.
    @Test(arguments: [
        ("TIME-OFFSET=7.25", 7.25, false), ("TIME-OFFSET=-3,PRECISE=YES", -3, true), ("TIME-OFFSET=1e3", nil, false),
        ("TIME-OFFSET=--3", nil, false), ("PRECISE=YES", nil, false), ("TIME-OFFSET=99999999999999", 1e6, false),
    ])
    func aStartIsRead(attributes: String, seconds: Double?, isPrecise: Bool) throws {
        let list = try media("#EXT-X-START:\(attributes)\n#EXTINF:1,\na")
        #expect(list.start == seconds.map { HLSStart(offset: .seconds($0), isPrecise: isPrecise) })
    }

    @Test func byteRangesContinueEachOther() throws {
        let list = try media(
            """
            #EXTINF:1,
            #EXT-X-BYTERANGE:100@50
            all.ts
            #EXTINF:1,
            #EXT-X-BYTERANGE:200
            all.ts
            #EXTINF:1,
            #EXT-X-BYTERANGE:7
            other.ts
            #EXTINF:1,
            whole.ts
            """)
        #expect(list.segments.map(\.byteRange) == [50..<150, 150..<350, 0..<7, nil])
    }

    @Test func discontinuitiesKeysAndHeadersApplyToWhatFollows() throws {
        let list = try media(
            """
            #EXT-X-MEDIA-SEQUENCE:7
            #EXT-X-DISCONTINUITY-SEQUENCE:3
            #EXT-X-MAP:URI="head,er.mp4",BYTERANGE="10@5"
            #EXTINF:1,
            a
            #EXT-X-KEY:METHOD=AES-128,URI="key?a=b,c",IV=0x0102
            #EXT-X-DISCONTINUITY
            #EXT-X-PROGRAM-DATE-TIME:2010-02-19T14:54:23.031+08:00
            #EXTINF:1,
            b
            #EXT-X-KEY:METHOD=NONE
            #EXT-X-GAP
            #EXTINF:1,
            c
            """)
        let segments = list.segments
        #expect(list.firstNumber == 7 && list.nextNumber == 10 && !list.isEnded)
        #expect(segments.map(\.discontinuity) == [3, 4, 4])
        let header = HLSHeader(reference: "head,er.mp4", byteRange: 5..<15)
        #expect(segments.map(\.header) == [header, header, header])
        #expect(
            segments.map(\.encryption) == [
                nil,
                HLSEncryption(
                    keyReference: "key?a=b,c",
                    initializationVector: [UInt8](repeating: 0, count: 14) + [1, 2]), nil,
            ])
        #expect(segments[1].date == .seconds(1_266_562_463) + .milliseconds(31) && segments[2].date == nil)
        #expect(segments.map(\.isMissing) == [false, false, true])
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2024-02-29T12:00:00-0130", 1_709_213_400), ("2000-03-01T00:00:00", 951_868_800),
    ])
    func datesAreTimesSince1970(text: String, seconds: Int) {
        #expect(HLSNumber.date(text) == .seconds(seconds))
    }

    @Test(arguments: ["", "2024", "2024-13-01T00:00:00Z", "2024-01-01 00:00:00", "abcd-01-01T00:00:00Z"])
    func whatIsNoDateIsNone(text: String) { #expect(HLSNumber.date(text) == nil) }

    @Test func numbersStayWithinTheirBounds() throws {
        let list = try media(
            """
            #EXT-X-MEDIA-SEQUENCE:99999999999999999999
            #EXTINF:1e9,
            a
            #EXTINF:nan,
            b
            #EXTINF:-5,
            c
            #EXTINF:99999999999,
            #EXT-X-BYTERANGE:9007199254740992@9007199254740992
            d
            #EXTINF:1,
            #EXT-X-BYTERANGE:9007199254740992
            d
            """)
        #expect(list.firstNumber == 0)
        #expect(list.segments.map(\.duration) == [.zero, .zero, .zero, .seconds(3_600), .seconds(1)])
        #expect(list.segments[4].byteRange == 1 << 53..<1 << 54)
    }

    @Test(arguments: ["SAMPLE-AES", "AES-256"])
    func otherEncryptionsAreRefused(method: String) {
        #expect(throws: HLSPlaylistError.encrypted(method)) { try media("#EXT-X-KEY:METHOD=\(method),URI=\"k\"") }
        #expect("\(HLSPlaylistError.encrypted(method))".contains(method))
    }

    @Test func drmOfACompanyIsRefused() {
        #expect(throws: HLSPlaylistError.encrypted("com.example.drm")) {
            try media("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMAT=\"com.example.drm\"")
        }
        #expect(throws: HLSPlaylistError.self) { try media("#EXT-X-KEY:METHOD=AES-128") }
        #expect(throws: HLSPlaylistError.self) { try media("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=12") }
    }

    @Test(arguments: ["file:///etc/passwd", "FILE:/etc/passwd", "data:audio/aac;base64,AAAA", "ftp://host/a", "mms:a"])
    func otherSchemesAreRefused(address: String) {
        for text in [
            "#EXTINF:1,\n\(address)", "#EXT-X-KEY:METHOD=AES-128,URI=\"\(address)\"", "#EXT-X-MAP:URI=\"\(address)\"",
        ] {
            #expect(throws: HLSPlaylistError.self) { try media(text) }
        }
        #expect(throws: HLSPlaylistError.self) { try master("#EXT-X-STREAM-INF:BANDWIDTH=1\n\(address)") }
        #expect(throws: HLSPlaylistError.self) {
            try master("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",URI=\"\(address)\"")
        }
    }

    @Test func aTimeInAnAddressIsNoScheme() throws {
        let list = try media("#EXTINF:1,\n2024-01-01T10:00:00.ts\n#EXTINF:1,\na/b:c.ts")
        #expect(list.segments.count == 2)
    }

    @Test func listsAreBounded() throws {
        let segments = (0...HLSPlaylist.maximumSegmentCount).map { "#EXTINF:0,\n\($0)\n" }.joined()
        #expect(throws: HLSPlaylistError.tooLong) { try media(segments) }
        #expect(throws: HLSPlaylistError.tooLong) { try media(String(repeating: "a", count: 8 << 20)) }
        let lines = String(repeating: "#x\n", count: 1_000_000)
        #expect(try media(lines + "#EXTINF:1,\na").segments.count == 1)
        let long = String(repeating: "a", count: 9_000)
        #expect(throws: HLSPlaylistError.self) { try media("#EXTINF:1,\n\(long)") }
    }

    @Test func whatIsNoPlaylistIsTold() {
        for text in ["", "<html>", "#EXTM3U\n", "#EXTM3U\nsong.mp3", "#EXTINF:1,\na.ts"] {
            #expect(throws: HLSPlaylistError.noPlaylist) { try parse(text) }
        }
        #expect(throws: HLSPlaylistError.onlyPictures) { try media("#EXT-X-I-FRAMES-ONLY") }
        #expect(throws: HLSPlaylistError.nested) { try media("#EXT-X-STREAM-INF:BANDWIDTH=1\nlist.m3u8") }
    }

    @Test func hlsIsRecognisedByItsTags() {
        func isHLS(_ text: String) -> Bool { HLSPlaylist.isHLS(Array(text.utf8).span) }
        #expect(isHLS("\u{FEFF}#EXTM3U\n\n#EXT-X-VERSION:3"))
        #expect(!isHLS("#EXTM3U\n#EXTINF:1,Song\nsong.mp3"))
        #expect(!isHLS("#EXT-X-VERSION:3"))
    }

    // MARK: Master playlists

    @Test func anAudioRenditionIsPreferred() throws {
        let list = try master(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="German",LANGUAGE="de",AUTOSELECT=YES,URI="low-de"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="English",DEFAULT=YES,URI="low-en"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="surround",NAME="English",DEFAULT=YES,URI="surround"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="text",URI="text"
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.4d401e,ec-3",RESOLUTION=640x360,AUDIO="surround"
            video-high
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.4d401e,mp4a.40.2",RESOLUTION=640x360,AUDIO="low"
            video-low
            """)
        #expect(list.audioReferences == ["low-en", "low-de", "surround", "video-low", "video-high"])
        #expect(list.renditions[0].name == "German")
    }

    @Test func aStreamWithoutVideoIsPreferredAndTheBestOfThem() throws {
        let list = try master(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=2000000,CODECS="avc1.4d401e,mp4a.40.2"
            video
            #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.5"
            radio-64
            #EXT-X-STREAM-INF:BANDWIDTH=328000,CODECS="mp4a.40.2"
            radio-320
            #EXT-X-STREAM-INF:BANDWIDTH=1500000,CODECS="fLaC"
            radio-lossless
            """)
        #expect(list.audioReferences == ["radio-320", "radio-64", "radio-lossless", "video"])
    }

    @Test func otherwiseTheLowestBandwidthThatHasAudio() throws {
        let list = try master(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.4d401e"
            silent
            #EXT-X-STREAM-INF:BANDWIDTH=900000
            high
            #EXT-X-STREAM-INF:BANDWIDTH=300000
            low
            """)
        #expect(list.audioReferences == ["low", "high"])
    }

    @Test func manyStreamsAreBounded() throws {
        let list = try master((0..<5_000).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\nlist\($0)\n" }.joined())
        #expect(list.variants.count == HLSPlaylist.maximumStreamCount && list.audioReferences.count == 8)
    }

    /// 256 streams and 256 renditions with long addresses that differ in their last character.
    @Test func aHostileMasterPlaylistCostsNoTime() throws {
        let long = String(repeating: "x", count: 4_000)
        let text = (0..<256).map {
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\($0 % 4)\",NAME=\"a\",URI=\"\(long)\($0)\"\n"
                + "#EXT-X-STREAM-INF:BANDWIDTH=\($0),AUDIO=\"\($0 % 4)\"\n\(long)v\($0)\n"
        }
        let list = try master(text.joined())
        let begin = ContinuousClock.now
        let found = list.audioReferences
        #expect(ContinuousClock.now - begin < .seconds(10))
        #expect(found.count == 8 && Set(found).count == 8 && found[0].hasSuffix("x3"))
    }
}
