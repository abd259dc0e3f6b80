#if FFmpeg
    import TenfourAudioCore
    import TenfourHTTPSource
    import TenfourMediaSource
    import TestSupport
    import Testing

    @Suite(.onItsOwnThread) struct StationLengthTests {
        /// Some stations begin with the start of an MP3 file, whose Xing header states the number of the file's frames.
        @Test(arguments: [true, false]) func aStationThatBeginsWithAXingHeaderHasNoLength(isStation: Bool) throws {
            let folder = Folder()
            let options = [
                "-v", "error", "-f", "lavfi", "-i", "sine=duration=10", "-ac", "2", "-q:a", "4", "-f", "mp3",
            ]
            #expect(try Program.run("ffmpeg", options + [folder("song")]).end == .code(0))
            #expect(Folder.bytes(of: folder("song")).firstRange(of: Array("Xing".utf8)) != nil)
            let server = try SoundServer(folder)
            let source = try HTTPByteSource(server.address("song", isStation ? "icy=1000" : "norange"))
            defer { source.stop() }
            let format = LPCMFormat(rate: .opus, channelCount: 1)
            let duration = try openReader(source, format: format).demuxer.duration
            #expect((duration == nil) == isStation, "\(duration as Any)")
        }
    }
#endif
