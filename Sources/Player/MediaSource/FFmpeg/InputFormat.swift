#if FFmpeg
    internal import CAV

    /// A demuxer of libavformat, found by the first bytes of a file. The C function is `av_probe_input_format3`.
    @safe
    struct InputFormat {
        let handle: UnsafePointer<AVInputFormat>
        var name: String { unsafe String(cString: handle.pointee.name) }
        /// The name for people: the first of several, such as `matroska`.
        var shownName: String {
            let first = String(name.prefix { $0 != "," })
            return first == "mov" ? "MP4" : first
        }

        /// The number of bytes that libavformat looks at.
        private static let byteCount = 1 << 16
        /// The lowest score that counts (`AVPROBE_SCORE_RETRY` and one): below it, ffmpeg asks for more bytes.
        private static let lowestScore: Int32 = 26
        /// Formats that lead to other files, hold text or pictures, or are read by `FrameParser`, which is stricter.
        private static let refused: Set = [
            "concat", "hls", "applehttp", "dash", "sdp", "rtsp", "rtp", "imf", "ffmetadata", "tty", "image2", "gif",
            "ico", "mp3", "aac", "ac3", "eac3", "bin", "xbin", "adf", "idf", "webm_dash_manifest", "data",
        ]

        /// Recognises the bytes after `tag`; nil if they are text, or nothing that libavformat knows.
        init?(of window: inout ByteWindow, after tag: ID3Tag) throws(ReaderError) {
            do { try window.load(at: tag.byteCount, count: Self.byteCount) } catch {
                throw .demuxer(.byteSource(error))
            }
            var bytes = window.copiedBytes
            guard !Self.isText(bytes.prefix(512)) else { return nil }
            let count = bytes.count
            // libavformat reads beyond the end (`AVPROBE_PADDING_SIZE`).
            bytes += repeatElement(0, count: 32)
            var score: Int32 = 0
            let found = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                unsafe "".withCString { name in
                    var data = unsafe AVProbeData(
                        filename: name, buf: bytes.baseAddress, buf_size: Int32(count), mime_type: nil)
                    return unsafe av.av_probe_input_format3(&data, 1, &score)
                }
            }
            guard let handle = unsafe found, score >= Self.lowestScore else { return nil }
            unsafe self.handle = handle
            let names = name.split(separator: ",").map(String.init)
            if names.contains(where: { Self.refused.contains($0) || $0.hasSuffix("_pipe") }) { return nil }
        }

        /// Finds a demuxer by its name; nil if this FFmpeg lacks it. The C function is `av_find_input_format`.
        init?(named name: String) {
            guard let handle = unsafe av.av_find_input_format(name) else { return nil }
            unsafe self.handle = handle
        }

        private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
            bytes.allSatisfy { $0 >= 0x20 || $0 == 9 || $0 == 10 || $0 == 13 }
        }
    }
#endif
