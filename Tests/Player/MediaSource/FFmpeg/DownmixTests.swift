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

        @Test func aCodecWithItsOwnOrderOfChannelsIsMixedByItsLayout() throws {
            let layout = try #require(Self.layouts.first { $0.testDescription == "5.1" })
            try check(layout, make(layout, "a.flac"))
            try check(layout, make(layout, "a.ac3", ["-b:a", "640k"]), tolerance: 0.01)
            try check(layout, make(layout, "a.m4a", ["-b:a", "512k"]), tolerance: 0.01)
            try check(layout, make(layout, "a.opus", ["-c:a", "libopus", "-b:a", "512k"]), tolerance: 0.01)
        }
    }
#endif
