#if FFmpeg
    internal import CAV
    internal import TenfourMediaSource

    /// A container opened by FFmpeg. The C functions are `avformat_open_input` and `avformat_close_input`.
    @safe
    final class ContainerFile {
        let handle: UnsafeMutablePointer<AVFormatContext>
        /// The stream through which FFmpeg reads. It is stored here, so that it exists as long as the container is
        /// open.
        private let stream: ByteStream

        init(_ stream: ByteStream, _ format: UnsafePointer<AVInputFormat>, _ name: String) throws(ReaderError) {
            self.stream = stream
            unsafe handle = try Self.open(stream, format, name)
        }

        deinit {
            var handle: UnsafeMutablePointer<AVFormatContext>? = unsafe handle
            unsafe av.avformat_close_input(&handle)
        }

        var firstAudioStream: Int32? {
            let count = unsafe Int32(clamping: handle.pointee.nb_streams)
            return (0..<count).first {
                unsafe handle.pointee.streams[Int($0)]?.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
            }
        }

        private static func open(
            _ stream: ByteStream, _ format: UnsafePointer<AVInputFormat>, _ name: String
        ) throws(ReaderError) -> UnsafeMutablePointer<AVFormatContext> {
            var handle = unsafe av.avformat_alloc_context()
            guard let made = unsafe handle else {
                throw .undecodable(ffmpegErrorText(tenfour_av_no_memory()), kind: .resourcesExhausted)
            }
            unsafe made.pointee.pb = unsafe stream.handle
            unsafe made.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
            unsafe made.pointee.io_open = refuseToOpen
            unsafe made.pointee.protocol_whitelist = av.av_strdup("none")
            unsafe made.pointee.max_streams = 64
            unsafe made.pointee.probesize = 1 << 16
            var options: OpaquePointer?
            // Skips the chapter titles of an MP4 that is not here yet: they are spread over an audiobook, and each would
            // cost a request before the first audio.
            if !stream.isHere { _ = unsafe av.av_dict_set(&options, "ignore_chapters", "1", 0) }
            let result = unsafe av.avformat_open_input(&handle, "", format, &options)
            unsafe av.av_dict_free(&options)
            guard let opened = unsafe handle, result >= 0 else {
                if let failure = stream.consumeFailure() { throw .demuxer(.byteSource(failure)) }
                throw .demuxer(
                    .malformed(
                        "this looks like \(name) but is damaged or incomplete (\(ffmpegErrorText(result))): download it again"
                    ))
            }
            return unsafe opened
        }
    }

    @c
    private func refuseToOpen(
        _: UnsafeMutablePointer<AVFormatContext>?, _: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
        _: UnsafePointer<CChar>?, _: Int32, _: UnsafeMutablePointer<OpaquePointer?>?
    ) -> Int32 { tenfour_av_not_permitted() }
#endif
