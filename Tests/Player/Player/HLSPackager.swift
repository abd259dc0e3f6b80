#if FFmpeg
    import TestSupport
    import Testing

    /// A folder with HLS packages of `CodedAudio`, which ffmpeg makes. Files of all packages lie side by side.
    final class HLSPackager: Sendable {
        static let seconds = 20

        let folder = Folder()

        init() { folder.write(CodedAudio(seconds: Self.seconds).wav, to: "sound.wav") }

        struct Kind: CustomTestStringConvertible, Sendable {
            var testDescription: String
            /// The options of ffmpeg for the encoding and the packaging.
            var options: [String]
            var pictures = false
            /// The samples per channel that the decoder puts before the recording's start.
            var delay = 0
            var rate = CodedAudio.rate
        }

        static let aac = ["-c:a", "aac", "-b:a", "128k", "-aac_pns", "0"]

        static let kinds = [
            Kind(testDescription: "AAC in MPEG-TS", options: aac, delay: 1_024),
            Kind(
                testDescription: "MP3 in MPEG-TS", options: ["-c:a", "libmp3lame", "-b:a", "128k"], delay: 1_105),
            Kind(testDescription: "AC-3 in MPEG-TS", options: ["-c:a", "ac3", "-b:a", "192k"], delay: 256),
            Kind(
                testDescription: "AAC with pictures", options: aac + ["-c:v", "mpeg2video", "-g", "10"], pictures: true,
                delay: 1_024),
            Kind(testDescription: "AAC in fMP4", options: aac + ["-hls_segment_type", "fmp4"], delay: 1_024),
            Kind(testDescription: "one file of MPEG-TS", options: aac + ["-hls_flags", "single_file"], delay: 1_024),
            Kind(
                testDescription: "one file of fMP4",
                options: aac + ["-hls_segment_type", "fmp4", "-hls_flags", "single_file"], delay: 1_024),
            Kind(
                testDescription: "timestamps that wrap",
                options: aac + ["-output_ts_offset", "95440", "-muxdelay", "0", "-muxpreload", "0"], delay: 1_024),
            Kind(testDescription: "encrypted", options: aac + ["-hls_key_info_file", "KEYS"], delay: 1_024),
        ]

        /// Makes `NAME.m3u8` with segments of 2 s.
        func package(
            _ kind: Kind, name: String = "list", seconds: Double = 2, input: [String] = [], vector: String? = nil
        ) throws {
            folder.write((0..<16).map { UInt8($0 * 7) }, to: "\(name).key")
            folder.write("\(name).key\n\(folder("\(name).key"))\n\(vector ?? "")\n", to: "\(name).keys")
            let pictures = kind.pictures ? ["-f", "lavfi", "-i", "testsrc=size=160x120:rate=10", "-shortest"] : []
            try run(
                input + ["-i", folder("sound.wav")] + pictures
                    + kind.options.map { $0 == "KEYS" ? folder("\(name).keys") : $0 } + [
                        "-f", "hls", "-hls_time", "\(seconds)", "-hls_list_size", "0",
                        "-hls_fmp4_init_filename", "\(name)-init.mp4",
                        "-hls_segment_filename",
                        folder(kind.options.contains("single_file") ? "\(name)-all.ts" : "\(name)-%d.ts"),
                        folder("\(name).m3u8"),
                    ])
        }

        /// Makes segments without a container, `NAME-0.ts` and so on, and returns their durations.
        func packElementary(_ options: [String], format: String, name: String = "list") throws -> [Double] {
            try run(
                ["-i", folder("sound.wav"), "-map", "0:a"] + options + [
                    "-f", "segment", "-segment_time", "2", "-segment_format", format, "-segment_list",
                    folder("\(name).csv"), folder("\(name)-%d.ts"),
                ])
            return Folder.text(of: folder("\(name).csv")).split(separator: "\n").compactMap { line in
                let fields = line.split(separator: ",").compactMap { Double($0) }
                return fields.count == 2 ? fields[1] - fields[0] : nil
            }
        }

        func run(_ arguments: [String]) throws {
            let result = try Program.run("ffmpeg", ["-v", "error", "-y"] + arguments, for: .seconds(120))
            guard result.end == .code(0) else { throw Failed(text: result.errors) }
        }

        struct Failed: Error { var text: String }
    }
#endif
