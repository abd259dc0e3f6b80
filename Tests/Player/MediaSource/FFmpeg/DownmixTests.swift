#if FFmpeg
    import Glibc
    import TenfourAudioCore
    import TenfourMediaSource
    import TestSupport
    import Testing

    /// One tone per channel tells how layouts are mixed down (ITU-R BS.775-4 annex 4).
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct DownmixTests {
        private static let rate = 48_000

        /// The coefficients for the left output before they are made smaller, in the order of the layout's channels.
        struct Layout: CustomTestStringConvertible, Sendable {
            var testDescription: String
            var left: [Double]
            var right: [Double]
        }

        private static let half = 0.5.squareRoot()

        static let layouts = [
            Layout(testDescription: "3.0", left: [1, 0, half], right: [0, 1, half]),
            Layout(testDescription: "quad", left: [1, 0, half, 0], right: [0, 1, 0, half]),
            Layout(testDescription: "5.0", left: [1, 0, half, half, 0], right: [0, 1, half, 0, half]),
            Layout(testDescription: "5.1", left: [1, 0, half, 0, half, 0], right: [0, 1, half, 0, 0, half]),
            Layout(testDescription: "5.1(side)", left: [1, 0, half, 0, half, 0], right: [0, 1, half, 0, 0, half]),
            Layout(
                testDescription: "7.1", left: [1, 0, half, 0, half, 0, half, 0],
                right: [0, 1, half, 0, 0, half, 0, half]),
        ]

        private static func frequency(_ channel: Int) -> Int { 400 + 300 * channel }

        private func make(_ layout: Layout, _ name: String, _ options: [String] = []) throws -> [UInt8] {
            let folder = Folder()
            let tones = layout.left.indices.map { "0.5*sin(2*PI*\(Self.frequency($0))*t)" }.joined(separator: "|")
            let source = "aevalsrc=exprs='\(tones)':channel_layout=\(layout.testDescription):s=\(Self.rate):d=1"
            try Files.run(
                "ffmpeg", ["-v", "error", "-y", "-f", "lavfi", "-i", source] + options + [folder(name)])
            return Folder.bytes(of: folder(name))
        }

        /// Returns the amplitude of a tone in one channel of half a second of interleaved samples.
        private func amplitude(of hertz: Int, in samples: [Float], _ channel: Int, of channels: Int) -> Double {
            let (first, count) = (Self.rate / 4, Self.rate / 2)
            var (cosine, sine) = (0.0, 0.0)
            for frame in first..<first + count {
                let angle = 2 * .pi * Double(hertz) * Double(frame) / Double(Self.rate)
                let sample = Double(samples[frame * channels + channel])
                cosine += sample * cos(angle)
                sine += sample * sin(angle)
            }
            return 2 * (cosine * cosine + sine * sine).squareRoot() / Double(count)
        }

        private func check(_ layout: Layout, _ bytes: [UInt8], tolerance: Double = 0.002) throws {
            let stereo = try openReader(StoredBytes(bytes), format: .stereo).readAll()
            let mono = try openReader(StoredBytes(bytes), format: .mono).readAll()
            // All factors are divided by the largest sum, so that full scale in all channels does not clip.
            let sum = layout.left.reduce(0, +)
            let both = zip(layout.left, layout.right).map { $0 + $1 }
            for channel in layout.left.indices {
                let tone = Self.frequency(channel)
                for (output, factors) in [layout.left, layout.right].enumerated() {
                    let found = amplitude(of: tone, in: stereo, output, of: 2)
                    #expect(abs(found - 0.5 * factors[channel] / sum) < tolerance, "\(channel) in \(output): \(found)")
                }
                let found = amplitude(of: tone, in: mono, 0, of: 1)
                #expect(
                    abs(found - 0.5 * both[channel] / both.reduce(0, +)) < tolerance, "\(channel) in mono: \(found)")
            }
        }

        @Test(arguments: layouts) func eachChannelGoesWhereItBelongs(_ layout: Layout) throws {
            try check(layout, make(layout, "a.wav", ["-c:a", "pcm_s24le"]))
        }

        /// All layouts of `ffmpeg -layouts` with up to eight channels.
        static let allLayouts = [
            "mono", "stereo", "downmix", "2.1", "3.0", "3.0(back)", "4.0", "quad", "quad(side)", "3.1", "5.0",
            "5.0(side)", "4.1", "5.1", "5.1(side)", "6.0", "6.0(front)", "hexagonal", "6.1", "6.1(back)", "6.1(front)",
            "7.0", "7.0(front)", "7.1", "7.1(wide)", "7.1(wide-side)", "octagonal",
        ]

        /// Returns a file of one second in `layout`, whose channels have levels of their own, and the number of channels.
        private func levels(_ layout: String, _ name: String, _ codec: String) throws -> (path: String, folder: Folder)
        {
            let folder = Folder()
            let source = "anoisesrc=r=48000:d=1:a=0.9:seed=7,aformat=s16:channel_layouts=mono,asetnsamples=1024"
            let gains = (0..<8).map { "\(0.1 * Double($0 + 1))*c0" }
            let count = try Self.channelCount(of: layout)
            let pan = (0..<count).map { "c\($0)=\(gains[$0])" }.joined(separator: "|")
            try Files.run(
                "ffmpeg",
                [
                    "-v", "error", "-y", "-f", "lavfi", "-i", "\(source),pan=\(layout)|\(pan)", "-c:a", codec,
                    folder(name),
                ])
            return (folder(name), folder)
        }

        private static func channelCount(of layout: String) throws -> Int {
            let listed = try Program.run("ffmpeg", ["-hide_banner", "-layouts"], for: .seconds(60)).output
            let line = listed.split(separator: "\n").map { $0.split(separator: " ") }.last { $0.first == layout[...] }
            let parts = try #require(line?.last, "this ffmpeg has no layout \(layout)")
            return parts.split(separator: "+").count
        }

        @Test(arguments: allLayouts) func theChannelsOfEveryLayoutAreKept(_ layout: String) throws {
            for (name, codec) in [("a.wav", "pcm_s16le"), ("a.caf", "pcm_s16le"), ("a.mkv", "flac")] {
                let made = try levels(layout, name, codec)
                let reader = try openReader(StoredBytes(Folder.bytes(of: made.path)), format: nil)
                let count = reader.format.channelCount
                #expect(try count == Self.channelCount(of: layout))
                let stored = made.folder("stored")
                // Without `-ac`, ffmpeg does not remix.
                try Files.run(
                    "ffmpeg", ["-v", "error", "-y", "-i", made.path, "-f", "s16le", "-c:a", "pcm_s16le", stored])
                let bytes = Folder.bytes(of: stored)
                let expected = stride(from: 0, to: bytes.count - 1, by: 2).map {
                    Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32_768
                }
                #expect(expected.contains { $0 != 0 })
                #expect(try reader.readAll() == expected, "\(name)")
            }
        }

        @Test func aCodecWithItsOwnOrderOfChannelsIsMixedByItsLayout() throws {
            let layout = try #require(Self.layouts.first { $0.testDescription == "5.1" })
            try check(layout, make(layout, "a.flac"))
            try check(layout, make(layout, "a.ac3", ["-b:a", "640k"]), tolerance: 0.01)
            try check(layout, make(layout, "a.m4a", ["-b:a", "512k"]), tolerance: 0.01)
            try check(layout, make(layout, "a.opus", ["-c:a", "libopus", "-b:a", "512k"]), tolerance: 0.01)
        }
    }
#endif
