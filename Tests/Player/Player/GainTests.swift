#if FFmpeg
    import Glibc
    import TenfourAudioCore
    import TenfourAudioFile
    import TenfourMediaSource
    import TestSupport
    import Testing

    @testable import TenfourPlayer

    /// The gain of tags, measured in a file that is written.
    @Suite(.onItsOwnThread) struct GainTests {
        private let folder = Folder()

        /// Writes a FLAC file of a constant level with these tags, and returns its length in frames.
        @discardableResult
        private func write(_ name: String, level: Float, frames: Int = 48_000, tags: [String] = []) throws -> Int {
            var file = try AudioFileWriter(path: folder("level.wav"), format: .mono)
            try file.write([Float](repeating: level, count: frames).span)
            try file.close()
            let options = tags.flatMap { ["-metadata", $0] }
            let result = try Program.run(
                "ffmpeg", ["-v", "error", "-y", "-i", folder("level.wav")] + options + [folder(name)],
                for: .seconds(60))
            #expect(result.end == .code(0), "\(result.errors)")
            return frames
        }

        private func play(
            _ names: [String], gain: ReplayGain.Mode = .track, over crossfade: Duration = .zero
        ) throws -> [Float] {
            var configuration = StreamerConfiguration()
            configuration.output = .file(folder("out.wav"))
            configuration.channelCount = 1
            configuration.crossfade = crossfade
            configuration.gain = gain
            let streamer = try Streamer(configuration)
            streamer.open(names.map { folder($0) })
            streamer.play()
            try streamer.wait()
            streamer.close()
            return try Recording(wav: folder("out.wav")).channels[0]
        }

        /// Half the amplitude is −6.0206 dB.
        @Test func eachItemHasItsGainFromItsFirstFrameToItsLast() throws {
            try write("1.flac", level: 0.5)
            try write("2.flac", level: 0.5, tags: ["REPLAYGAIN_TRACK_GAIN=-6.0206 dB"])
            try write("3.flac", level: 0.25, tags: ["REPLAYGAIN_TRACK_GAIN=6.0206 dB", "REPLAYGAIN_TRACK_PEAK=0.25"])
            let sound = try play(["1.flac", "2.flac", "3.flac"])
            #expect(sound.count == 144_000)
            #expect(sound[400..<48_000].allSatisfy { $0 == 0.5 }, "without a gain, samples pass unchanged")
            #expect(sound[48_000..<96_000].allSatisfy { abs($0 - 0.25) < 0.000_1 })
            #expect(sound[96_000...].allSatisfy { abs($0 - 0.5) < 0.000_1 })
            #expect(try play(["1.flac", "2.flac"], gain: .none)[400...].allSatisfy { $0 == 0.5 })
        }

        @Test func inACrossfadeEachItemHasItsOwn() throws {
            try write("1.flac", level: 0.5, tags: ["REPLAYGAIN_TRACK_GAIN=-6.0206 dB"])
            try write("2.flac", level: 0.125, tags: ["REPLAYGAIN_ALBUM_GAIN=6.0206 dB", "REPLAYGAIN_ALBUM_PEAK=0.125"])
            let sound = try play(["1.flac", "2.flac"], over: .milliseconds(500))
            let length = 96_000 - sound.count
            #expect((21_000...24_000).contains(length))
            // With both at a quarter, the sum of equal-power gains is between 1 and √2 times that.
            #expect(sound[400...].allSatisfy { (0.2499...0.3537).contains($0) })
            let middle = sound[48_000 - length / 2]
            #expect(abs(middle - 0.353_55) < 0.001)
        }

        @Test func anUnknownPeakIsLimited() throws {
            try write("1.flac", level: 0.9, tags: ["REPLAYGAIN_TRACK_GAIN=+12 dB"])
            try write("2.flac", level: 0.5)
            let sound = try play(["1.flac", "2.flac"])
            #expect(sound.count == 96_000 && sound.allSatisfy { abs($0) <= 1 })
            #expect(sound[24_000] > 0.8)
        }

        /// A known peak limits the gain: 12 dB would clip, so that the samples reach full scale and no more.
        @Test func aKnownPeakLimitsTheGain() throws {
            try write("1.flac", level: 0.5, tags: ["REPLAYGAIN_TRACK_GAIN=+12 dB", "REPLAYGAIN_TRACK_PEAK=0.5"])
            #expect(try play(["1.flac"])[400...].allSatisfy { abs($0 - 1) < 0.000_1 })
        }

        @Test func chaptersAreSought() throws {
            let comments = [
                "CHAPTER001=00:00:00.000", "CHAPTER001NAME=One", "CHAPTER002=00:00:10.000", "CHAPTER003=00:00:20.000",
            ]
            try write("1.flac", level: 0.5, frames: 30 * 48_000, tags: comments)
            var configuration = StreamerConfiguration()
            configuration.output = .clock
            let streamer = try Streamer(configuration)
            defer { streamer.close() }
            streamer.open(folder("1.flac"))
            streamer.play()
            /// Waits for at most a minute.
            func comes(_ condition: () -> Bool) -> Bool {
                for _ in 0..<12_000 where !condition() { usleep(5_000) }
                return condition()
            }
            #expect(comes { streamer.chapter == 0 } && streamer.track?.chapters.first?.title == "One")
            streamer.nextChapter()
            #expect(comes { streamer.chapter == 1 })
            streamer.nextChapter()
            #expect(comes { streamer.chapter == 2 })
            streamer.nextChapter()
            #expect(streamer.chapter == 2, "the last chapter has no next one")
            streamer.previousChapter()
            #expect(comes { streamer.chapter == 1 }, "in its first seconds, a chapter leads to the one before")
        }
    }
#endif
