#if FFmpeg
    import TenfourAudioCore
    import TenfourMediaSource
    import TestSupport

    /// Files of tones, made by ffmpeg, and what is heard of them.
    enum ToneFiles {
        /// Returns a file of a tone with the amplitude 0.3.
        static func bytes(
            _ name: String, _ options: [String] = [], hertz: Int = 440, seconds: Double = 2, rate: Int = 44_100,
            channelCount: Int = 1
        ) throws -> [UInt8] {
            let folder = Folder()
            let one = "0.3*sin(2*PI*\(hertz)*t)"
            let tones = Array(repeating: one, count: channelCount).joined(separator: "|")
            let layout = [1: "mono", 2: "stereo", 6: "5.1", 8: "7.1"][channelCount] ?? "\(channelCount)c"
            let source = "aevalsrc=exprs='\(tones)':channel_layout=\(layout):s=\(rate):d=\(seconds)"
            try Files.run("ffmpeg", ["-v", "error", "-y", "-f", "lavfi", "-i", source] + options + [folder(name)])
            return Folder.bytes(of: folder(name))
        }

        /// Whether the installed ffmpeg has this encoder.
        static func has(encoder: String) -> Bool {
            let listed = try? Program.run("ffmpeg", ["-v", "error", "-encoders"], for: .seconds(60)).output
            return listed?.split(separator: "\n").contains {
                $0.split(separator: " ").dropFirst().first == encoder[...]
            }
                ?? false
        }

        /// Returns the frequency within 0.1 s of `second` at 48 kHz, by the zero crossings; 0 for silence.
        static func frequency(_ samples: [Float], around second: Double) -> Double {
            let middle = Int(second * 48_000)
            let range = max(middle - 4_800, 1)..<min(middle + 4_800, samples.count)
            let crossings = range.filter { samples[$0 - 1] < 0 && samples[$0] >= 0 }
            guard let first = crossings.first, let last = crossings.last, crossings.count > 4 else { return 0 }
            return Double(crossings.count - 1) * 48_000 / Double(last - first)
        }

        /// Reads `bytes` as mono at 48 kHz.
        static func heard(_ bytes: [UInt8], isSeekable: Bool = true) throws(ReaderError) -> [Float] {
            try openReader(
                StoredBytes(bytes, knowsLength: isSeekable, isSeekable: isSeekable), format: .mono
            ).readAll()
        }
    }
#endif
