#if FFmpeg
    import TenfourAudioCore
    import TenfourMediaSource
    import TestSupport
    import Testing

    /// Gain, chapters and pictures in containers.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct ContainerTagTests {
        private let folder = Folder()

        private static let chapters = [
            Chapter(start: .zero, title: "First \u{FFFD}[31m"), Chapter(start: .seconds(10), title: "Second"),
            Chapter(start: .seconds(20), title: "Third"),
        ]

        private static let metadata = """
            ;FFMETADATA1
            REPLAYGAIN_TRACK_GAIN=-6.50 dB
            REPLAYGAIN_ALBUM_PEAK=0.5
            [CHAPTER]
            TIMEBASE=1/1000
            START=0
            END=10000
            title=First \u{1B}[31m
            [CHAPTER]
            TIMEBASE=1/1000
            START=10000
            END=20000
            title=Second
            [CHAPTER]
            TIMEBASE=1/1000
            START=20000
            END=30000
            title=Third
            """

        private func make(_ name: String, _ options: [String] = [], picture: Bool = false) throws -> [UInt8] {
            folder.write(Array(Self.metadata.utf8), to: "metadata")
            var inputs = ["-i", Files.shared.wav, "-i", folder("metadata"), "-map_metadata", "1"]
            if picture {
                try Files.run(
                    "ffmpeg",
                    ["-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=60x40", "-frames:v", "1", folder("c.png")])
                inputs = [
                    "-i", Files.shared.wav, "-i", folder("metadata"), "-i", folder("c.png"), "-map_metadata", "1",
                ]
                inputs += ["-map", "0", "-map", "2", "-c:v", "copy", "-disposition:v", "attached_pic"]
                inputs += ["-metadata:s:v", "comment=Cover (front)"]
            }
            try Files.run("ffmpeg", ["-v", "error", "-y"] + inputs + options + [folder(name)])
            return Folder.bytes(of: folder(name))
        }

        @Test(arguments: ["a.mka", "a.mp3", "a.m4b", "a.webm"])
        func chaptersAreRead(_ name: String) throws {
            let bytes = try make(name, name == "a.m4b" ? ["-f", "ipod"] : [])
            let track = try openReader(StoredBytes(bytes), format: nil).demuxer.track
            #expect(track.chapters == Self.chapters)
        }

        /// The titles are spread over the file, and reading each would be a request.
        @Test func anAudiobookFromTheNetworkHasChaptersWithoutTitles() throws {
            let bytes = try make("a.m4b", ["-f", "ipod"])
            let source = StoredBytes(bytes, isHere: false)
            let track = try openReader(source, format: nil).demuxer.track
            #expect(track.chapters.map(\.start) == Self.chapters.map(\.start))
            #expect(source.jumpCount < 6)
        }

        @Test(arguments: ["a.flac", "a.ogg"]) func chaptersInCommentsAreRead(_ name: String) throws {
            let comments = ["CHAPTER001=00:00:01.500", "CHAPTER001NAME=One", "CHAPTER002=00:00:12.000"]
            let bytes = try make(name, comments.flatMap { ["-metadata", $0] } + ["-map_chapters", "-1"])
            let track = try openReader(StoredBytes(bytes), format: nil).demuxer.track
            #expect(
                track.chapters == [Chapter(start: .milliseconds(1_500), title: "One"), Chapter(start: .seconds(12))])
        }

        @Test func aCueSheetInFLACHasChapters() throws {
            let sheet = """
                FILE "x.wav" WAVE
                  TRACK 01 AUDIO
                    TITLE "One"
                    INDEX 01 00:00:00
                  TRACK 02 AUDIO
                    TITLE "Two"
                    INDEX 01 00:12:00
                """
            let bytes = try make("a.flac", ["-metadata", "CUESHEET=\(sheet)", "-map_chapters", "-1"])
            let track = try openReader(StoredBytes(bytes), format: nil).demuxer.track
            #expect(
                track.chapters == [Chapter(start: .zero, title: "One"), Chapter(start: .seconds(12), title: "Two")])
        }

        @Test(arguments: ["a.mka", "a.mp3", "a.flac", "a.ogg", "a.opus", "a.wv"])
        func theGainIsRead(_ name: String) throws {
            let track = try openReader(StoredBytes(make(name)), format: nil).demuxer.track
            #expect(track.gain == ReplayGain(trackGain: -6.5, albumPeak: 0.5), "\(track.gain)")
        }

        @Test(arguments: ["a.mp3", "a.flac"]) func picturesAreDescribed(_ name: String) throws {
            let track = try openReader(StoredBytes(make(name, picture: true)), format: nil).demuxer.track
            let picture = try #require(track.pictures.first)
            #expect(picture.kind == .frontCover && picture.mediaType == "image/png")
            #expect(picture.size == Picture.Size(width: 60, height: 40))
            #expect(picture.byteCount == Folder.bytes(of: folder("c.png")).count)
        }

        /// A FLAC file with pictures of 100 MB is played or refused, in bounded memory.
        @Test func oneHundredMegabytesOfCoverAreNoHarm() throws {
            let bytes = try make("a.flac")
            let block = 16_000_000
            var header: [UInt8] = [6, UInt8(block >> 16), UInt8(block >> 8 & 0xFF), UInt8(block & 0xFF)]
            header += [0, 0, 0, 3, 0, 0, 0, 9]
            header += Array("image/png".utf8) + [UInt8](repeating: 0, count: 20)
            header += (0..<4).map { UInt8(truncatingIfNeeded: (block - 41) >> (24 - 8 * $0)) }
            let picture = header + [UInt8](repeating: 1, count: block + 4 - header.count)
            // The pictures follow the stream information, which has 34 bytes behind its header.
            var file = Array(bytes[..<42])
            for _ in 0..<7 { file += picture }
            file += bytes[42...]
            do throws(ReaderError) {
                let reader = try openReader(StoredBytes(file), format: nil)
                #expect(reader.demuxer.track.pictures.count <= 7)
                #expect(try reader.readSome(1_000).count > 0)
            } catch { #expect("\(error)".contains("damaged")) }
        }
    }
#endif
