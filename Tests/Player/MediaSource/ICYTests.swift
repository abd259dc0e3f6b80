import TenfourMediaSource
import Testing

struct ICYTests {
    private func title(_ text: String) -> String? { ICYMetadata(parsing: Array(text.utf8).span).title }

    @Test func aStationNamesItsSong() {
        let metadata = ICYMetadata(
            parsing: Array("StreamTitle='Miles Davis - So What';StreamUrl='http://a/b';\0\0\0".utf8).span)
        #expect(metadata.title == "Miles Davis - So What")
        #expect(metadata.url == "http://a/b")
    }

    @Test func aTitleMayHoldWhatEndsOne() {
        #expect(title("StreamTitle='Don't; Won't';") == "Don't; Won't")
        #expect(title("StreamTitle='It's ';' here';StreamUrl='';") == "It's ';' here")
        #expect(title("StreamTitle='a = b';") == "a = b")
    }

    @Test func aTruncatedTitleIsShownAsFarAsItGoes() {
        #expect(title("StreamTitle='So Wh") == "So Wh")
        #expect(title("StreamTitle='") == "")
        #expect(title("StreamTitle=") == nil)
        #expect(title("Stream") == nil)
        #expect(title("") == nil)
    }

    @Test func aStationMayStillWriteLatin1() {
        let bytes = Array("StreamTitle='Bj".utf8) + [0xF6] + Array("rk ".utf8) + [0x93, 0x94] + Array("';".utf8)
        #expect(ICYMetadata(parsing: bytes.span).title == "Björk “”")
        #expect(title("StreamTitle='Björk';") == "Björk")
    }

    @Test func aTitleDoesNotSteerTheTerminal() {
        #expect(title("StreamTitle='\u{1B}[2Jx\n';") == "\u{FFFD}[2Jx\u{FFFD}")
    }

    /// Audio and titles are separated, however the network splits the stream.
    @Test(arguments: [1, 2, 3, 7, 100])
    func soundAndTitlesAreTakenApart(pieceByteCount: Int) throws {
        var stream: [UInt8] = []
        var expected: [UInt8] = []
        for round in 0..<5 {
            let sound = (0..<10).map { UInt8(round * 10 + $0) }
            expected += sound
            stream += sound
            guard round % 2 == 0 else {
                stream.append(0)
                continue
            }
            var block = Array("StreamTitle='\(round)';".utf8)
            while block.count % 16 != 0 { block.append(0) }
            stream += [UInt8(block.count / 16)] + block
        }
        var demultiplexer = try #require(ICYDemultiplexer(interval: 10))
        var sound: [UInt8] = []
        var titles: [String] = []
        for start in stride(from: 0, to: stream.count, by: pieceByteCount) {
            let piece = Array(stream[start..<min(start + pieceByteCount, stream.count)])
            unsafe piece.withUnsafeBytes { bytes in
                unsafe demultiplexer.feed(bytes) {
                    unsafe sound += $0
                } found: {
                    titles.append("\(sound.count):\($0.title ?? "")")
                }
            }
        }
        #expect(sound == expected)
        #expect(titles == ["10:0", "30:2", "50:4"])
    }

    @Test func anIntervalThatIsNoneIsNotBelieved() {
        #expect(ICYDemultiplexer(interval: 0) == nil)
        #expect(ICYDemultiplexer(interval: -1) == nil)
        #expect(ICYDemultiplexer(interval: .max) == nil)
    }
}
