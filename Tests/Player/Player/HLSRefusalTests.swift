#if FFmpeg
    import TenfourMediaSource
    import TestSupport
    import Testing

    @testable import TenfourPlayer

    /// HLS streams that cannot be played, from a web server on this machine.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct HLSRefusalTests {
        private let packager = HLSPackager()
        private let server: SoundServer

        init() throws { server = try SoundServer(packager.folder) }

        private func refusal(_ text: String) -> String {
            packager.folder.write("#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + text + "\n#EXT-X-ENDLIST\n", to: "bad.m3u8")
            do throws(StreamError) {
                _ = try OpenedHLS(server.address("bad.m3u8"))
                return "it played"
            } catch {
                return error.description
            }
        }

        @Test func whatCannotBePlayedIsToldWithARemedy() throws {
            try packager.package(HLSPackager.kinds[0])
            packager.folder.write("short", to: "short.key")
            let key = "#EXT-X-KEY:METHOD=AES-128,URI="
            let segment = "#EXTINF:2,\nlist-0.ts"
            #expect(refusal("").contains("no segments"))
            #expect(refusal("#EXTINF:2,\nnothing.seg").contains("has nothing at this address (status 404)"))
            #expect(refusal("#EXTINF:2,\nfile:///etc/passwd").contains("local file"))
            #expect(refusal("#EXTINF:2,\ndata:audio/aac;base64,AAAA").contains("only http and https"))
            #expect(refusal("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"a\"\n\(segment)").contains("SAMPLE-AES"))
            #expect(refusal("\(key)\"nothing.key\"\n\(segment)").contains("the key of this encrypted"))
            #expect(refusal("\(key)\"short.key\"\n\(segment)").contains("5 bytes instead of 16"))
            #expect(refusal("\(key)\"list.key\"\n\(segment)").contains("known audio format"), "not encrypted")
            #expect(refusal("#EXTINF:2,\nbad.m3u8").contains("playlist"))
            #expect(refusal("#EXTINF:0,\nempty.seg").contains("status 404"))
        }

        @Test func mastersThatNameEachOtherEnd() throws {
            for (one, other) in [("a", "b"), ("b", "a")] {
                packager.folder.write("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(other).m3u8\n", to: "\(one).m3u8")
            }
            #expect(throws: StreamError.self) { try OpenedHLS(server.address("a.m3u8")) }
            #expect(server.requests.count == 2)
        }

        @Test func anEndlessListOfNothingEnds() throws {
            packager.folder.write([], to: "empty.seg")
            let list = (0..<100_000).map { "#EXTINF:0,\nempty.seg?\($0)\n" }.joined()
            #expect(refusal(list).contains("empty"))
            #expect(server.requests.count < 100)
        }

        @Test func aKeyThatDoesNotComeIsWaitedForOnce() throws {
            try packager.package(HLSPackager.kinds[0])
            packager.folder.write([UInt8](repeating: 1, count: 16), to: "late.key")
            let begin = ContinuousClock.now
            let told = refusal(
                (0..<10).map { "#EXT-X-KEY:METHOD=AES-128,URI=\"late=30/late.key\"\n#EXTINF:2,\nlist-\($0).ts\n" }
                    .joined())
            #expect(told.contains("the key of this encrypted"))
            #expect(ContinuousClock.now - begin < .seconds(40))
        }
    }
#endif
