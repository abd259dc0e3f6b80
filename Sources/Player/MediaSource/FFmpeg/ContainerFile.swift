#if FFmpeg
    internal import CAV

    /// A container opened by FFmpeg. The C functions are `avformat_open_input` and `avformat_close_input`.
    @safe
    final class ContainerFile {
        let handle: UnsafeMutablePointer<AVFormatContext>
        /// The stream through which FFmpeg reads. It is stored here, so that it exists as long as the container is
        /// open.
        private let stream: ByteStream

        /// Opens the container in `stream`. With `isProbed`, reads on until the streams are known, since some formats
        /// have no header.
        init(_ stream: ByteStream, _ format: InputFormat, isProbed: Bool) throws(ReaderError) {
            self.stream = stream
            unsafe handle = try Self.open(stream, format, isProbed: isProbed)
            if isProbed { _ = unsafe av.avformat_find_stream_info(handle, nil) }
        }

        deinit {
            var handle: UnsafeMutablePointer<AVFormatContext>? = unsafe handle
            unsafe av.avformat_close_input(&handle)
        }

        /// The indices of the audio streams.
        var audioStreams: [Int32] {
            let count = unsafe Int32(clamping: handle.pointee.nb_streams)
            return (0..<count).filter {
                unsafe handle.pointee.streams[Int($0)]?.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
            }
        }

        /// Whether there are moving pictures. The cover of an album is none.
        var hasVideo: Bool {
            (0..<Int(unsafe handle.pointee.nb_streams)).contains {
                guard let stream = unsafe handle.pointee.streams[$0]?.pointee else { return false }
                return unsafe stream.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO
                    && stream.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
            }
        }

        /// Describes the audio streams.
        var audioTracks: [AudioTrack] {
            audioStreams.enumerated().compactMap { number, index in
                guard let stream = unsafe handle.pointee.streams[Int(index)]?.pointee,
                    let parameters = unsafe stream.codecpar?.pointee
                else { return nil }
                let tags = unsafe ContainerTags(handle, streamIndex: index)
                return unsafe AudioTrack(
                    number: number + 1, codec: String(cString: av.avcodec_get_name(parameters.codec_id)!),
                    channelCount: max(Int(parameters.ch_layout.nb_channels), 0),
                    language: tags.ofStream("language").flatMap { $0 == "und" ? nil : $0 },
                    title: tags.ofStream("title"), isDefault: stream.disposition & AV_DISPOSITION_DEFAULT != 0)
            }
        }

        private static func open(
            _ stream: ByteStream, _ format: InputFormat, isProbed: Bool
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
            unsafe made.pointee.probesize = isProbed ? 1 << 22 : 1 << 16
            var options: OpaquePointer?
            // Skips the chapter titles of an MP4 that is not here yet: they are spread over an audiobook, and each would
            // cost a request before the first audio.
            if !stream.isHere { _ = unsafe av.av_dict_set(&options, "ignore_chapters", "1", 0) }
            let result = unsafe av.avformat_open_input(&handle, "", format.handle, &options)
            unsafe av.av_dict_free(&options)
            guard let opened = unsafe handle, result >= 0 else {
                if let failure = stream.consumeFailure() { throw .demuxer(.byteSource(failure)) }
                throw .demuxer(
                    .malformed(
                        "this looks like \(format.shownName) but is damaged or incomplete (\(ffmpegErrorText(result))): download it again"
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
