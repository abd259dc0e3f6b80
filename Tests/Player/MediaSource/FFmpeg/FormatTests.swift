#if FFmpeg
    import TenfourAudioCore
    import TenfourMediaSource
    import TestSupport
    import Testing

    /// FFmpeg's codecs and containers are played, each with any other.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct FormatTests {
        struct Format: CustomTestStringConvertible, Sendable {
            var name: String
            var options: [String]
            var rate = 48_000
            var channelCount = 1
            var testDescription: String { ([name] + options).joined(separator: " ") }

            init(_ name: String, _ options: String = "", rate: Int = 48_000, channelCount: Int = 1) {
                self.name = name
                self.options = options.split(separator: " ").map(String.init)
                (self.rate, self.channelCount) = (rate, channelCount)
            }
        }

        static let formats = [
            Format("a.ac3"), Format("a.eac3"), Format("a.dts", "-c:a dca -strict -2 -f dts", channelCount: 2),
            Format("a.dts", "-c:a dca -strict -2 -f dts", rate: 44_100), Format("a.wma", "-c:a wmav2", rate: 44_100),
            Format("a.wma", "-c:a wmav1", rate: 44_100, channelCount: 2), Format("a.wv"), Format("a.tta"),
            Format("a.au"), Format("a.au", "-c:a pcm_mulaw"), Format("a.aiff"), Format("a.caf"),
            Format("a.caf", "-c:a alac"), Format("a.wav", "-c:a adpcm_ima_wav"), Format("a.wav", "-c:a adpcm_ms"),
            Format("a.wav", "-c:a pcm_s24le"), Format("a.wav", "-c:a pcm_alaw"), Format("a.wav", "-c:a libmp3lame"),
            Format("a.avi", "-c:a mp3"), Format("a.avi", "-c:a ac3"), Format("a.flv", "-c:a mp3", rate: 44_100),
            Format("a.flv", "-c:a aac", rate: 44_100), Format("a.mpg", "-c:a mp2 -f mpeg"),
            Format("a.vob", "-c:a ac3 -f vob"), Format("a.mkv", "-c:a eac3", channelCount: 6),
            Format("a.mka", "-c:a dca -strict -2", channelCount: 2), Format("a.mka", "-c:a wavpack"),
            Format("a.mka", "-c:a tta"), Format("a.mka", "-c:a libmp3lame"), Format("a.mp4", "-c:a ac3"),
            Format("a.mp4", "-c:a eac3"), Format("a.mp4", "-c:a libopus"), Format("a.mp4", "-c:a flac -strict -2"),
            Format("a.mov", "-c:a pcm_s24le"), Format("a.mov", "-c:a adpcm_ima_qt"),
            Format("a.spx", "-c:a libspeex", rate: 16_000),
            Format("a.opus", "-c:a libopus -b:a 256k", channelCount: 6),
            Format("a.opus", "-c:a libopus -b:a 256k -mapping_family 255", channelCount: 6),
            Format("a.opus", "-c:a libopus -mapping_family 0", channelCount: 2),
            Format("a.opus", "-c:a libopus -b:a 256k -mapping_family 1", channelCount: 8), Format("a.w64"),
            Format("a.rm", "-c:a ac3 -f rm"), Format("a.oga", "-c:a flac"),
            Format("a.mp2", "-c:a mp2"), Format("a.m4a", "-c:a alac"), Format("a.ts", "-c:a ac3"),
        ]

        @Test(arguments: formats) func itIsPlayedWhole(_ format: Format) throws {
            let encoder = format.options.firstIndex(of: "-c:a").map { format.options[$0 + 1] }
            // Some builds of ffmpeg lack an encoder of another library.
            if let encoder, encoder.hasPrefix("lib"), !ToneFiles.has(encoder: encoder) { return }
            let bytes = try ToneFiles.bytes(
                format.name, format.options, seconds: 4, rate: format.rate, channelCount: format.channelCount)
            for isSeekable in [true, false] {
                // An index at the end of MP4 is read from a pipe, too.
                let heard = try ToneFiles.heard(bytes, isSeekable: isSeekable)
                let seconds = Double(heard.count) / 48_000
                #expect(3.9...4.1 ~= seconds, "\(seconds) s, seekable: \(isSeekable)")
                #expect(abs(ToneFiles.frequency(heard, around: 2) - 440) < 2)
                let peak = heard[48_000..<3 * 48_000].reduce(0) { max($0, abs($1)) }
                #expect(0.25...0.36 ~= peak, "\(peak)")
            }
        }

        private static func twoTracks(_ name: String, _ codec: String) throws -> [UInt8] {
            let folder = Folder()
            folder.write(try ToneFiles.bytes("a.wav"), to: "low.wav")
            folder.write(try ToneFiles.bytes("a.wav", hertz: 880), to: "high.wav")
            try Files.run(
                "ffmpeg",
                [
                    "-v", "error", "-i", folder("low.wav"), "-i", folder("high.wav"), "-map", "0", "-map", "1",
                    "-disposition:a:0", "0", "-disposition:a:1", "default", "-metadata:s:a:0", "language=ger",
                    "-metadata:s:a:1", "language=eng", "-c:a", codec, folder(name),
                ])
            return Folder.bytes(of: folder(name))
        }

        @Test(arguments: [("a.mka", "libvorbis"), ("a.m4a", "aac"), ("a.mkv", "ac3"), ("a.mp4", "alac")])
        func theMarkedTrackIsPlayedAndAnotherCanBeChosen(_ name: String, _ codec: String) throws {
            let bytes = try Self.twoTracks(name, codec)
            for (choice, hertz) in [
                (nil, 880.0), ("1", 440), ("2", 880), ("de", 440), ("deu", 440), ("GER", 440), ("en", 880),
            ] as [(String?, Double)] {
                let choice = try choice.map { try #require(AudioTrackChoice($0)) }
                let reader = try openReader(StoredBytes(bytes), format: .mono, track: choice)
                let heard = try reader.readAll()
                #expect(abs(ToneFiles.frequency(heard, around: 1) - hertz) < 2, "\(choice as Any)")
                let tracks = reader.demuxer.track.alternatives
                #expect(tracks.map(\.number) == [1, 2] && tracks.map(\.language) == ["ger", "eng"])
                #expect(tracks.map(\.isDefault) == [false, true])
                #expect(tracks.firstIndex(where: \.isRead) == (hertz == 440 ? 0 : 1))
            }
            for choice in [AudioTrackChoice.number(3), .language("fr")] {
                let error = #expect(throws: ReaderError.self) {
                    try openReader(StoredBytes(bytes), format: .mono, track: choice)
                }
                #expect("\(try #require(error))".contains("1 (ger), 2 (eng)"))
            }
        }

        /// Formats that this module demuxes itself, a chain among them.
        @Test(arguments: ["a.wav", "a.opus", "chain.opus", "a.mp3", "a.ogg"])
        func aFileOfOneTrackHasNoOther(_ name: String) throws {
            let options = name.hasSuffix("ogg") ? ["-c:a", "libvorbis"] : []
            var bytes = try ToneFiles.bytes(name, options, hertz: 440, seconds: 1)
            if name == "chain.opus" { bytes += try ToneFiles.bytes("a.opus", [], hertz: 440, seconds: 1) }
            for isSeekable in [true, false] {
                let source = { StoredBytes(bytes, knowsLength: isSeekable, isSeekable: isSeekable) }
                #expect(try openReader(source(), format: .mono, track: .number(1)).readAll().count > 40_000)
                for choice in [AudioTrackChoice.number(2), .language("de")] {
                    let error = #expect(throws: ReaderError.self) {
                        try openReader(source(), format: .mono, track: choice).readAll()
                    }
                    #expect("\(try #require(error))".contains("no such audio track, only 1:"))
                }
            }
        }

        @Test(arguments: ["", "0", "65", "-1", "x", "four", "d1"])
        func onlyNumbersAndLanguagesChooseATrack(_ text: String) { #expect(AudioTrackChoice(text) == nil) }
    }
#endif
