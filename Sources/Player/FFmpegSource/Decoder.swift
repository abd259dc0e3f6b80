#if FFmpeg
    internal import CAV
    internal import TenfourMediaSource
    internal import TenfourAudioCore

    /// An FFmpeg decoder and its last frame. The C functions are `avcodec_open2`, `avcodec_send_packet`,
    /// `avcodec_receive_frame` and `avcodec_free_context`.
    @safe
    struct Decoder: ~Copyable {
        private let handle: UnsafeMutablePointer<AVCodecContext>
        let frame: UnsafeMutablePointer<AVFrame>

        enum Outcome { case frame, needsPacket, ended, damaged }

        init(_ parameters: CodecParameters, timeBase: AVRational) throws(ReaderError) {
            let name = parameters.name
            guard Self.isPlayed(unsafe parameters.handle.pointee.codec_id) else {
                throw .undecodable(
                    "the codec \(name) is not supported: convert the file with ffmpeg first")
            }
            guard let codec = unsafe av.avcodec_find_decoder(parameters.handle.pointee.codec_id) else {
                throw .undecodable(
                    "the installed FFmpeg has no decoder for \(name): convert the file to another format")
            }
            var handle = unsafe av.avcodec_alloc_context3(codec)
            var frame = unsafe av.av_frame_alloc()
            var result = tenfour_av_no_memory()
            if let handle = unsafe handle, unsafe frame != nil {
                result = unsafe av.avcodec_parameters_to_context(handle, parameters.handle)
                unsafe handle.pointee.pkt_timebase = timeBase
                unsafe handle.pointee.thread_count = 1
                // FFmpeg must not trim the codec's start-up delay and the padding: the reader does, since it knows
                // positions after a seek.
                unsafe handle.pointee.flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL
                if result >= 0 { result = unsafe av.avcodec_open2(handle, codec, nil) }
            }
            guard let opened = unsafe handle, let made = unsafe frame, result >= 0 else {
                unsafe av.avcodec_free_context(&handle)
                unsafe av.av_frame_free(&frame)
                throw .undecodable("the \(name) decoder rejects this file (\(ffmpegErrorText(result)))")
            }
            unsafe self.handle = opened
            unsafe self.frame = made
        }

        deinit {
            var handle: UnsafeMutablePointer<AVCodecContext>? = unsafe handle
            var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
            unsafe av.avcodec_free_context(&handle)
            unsafe av.av_frame_free(&frame)
        }

        /// Sends a packet, or nil for the end of the stream. Returns false if the packet cannot be decoded.
        func send(_ packet: Packet?) -> Bool { unsafe av.avcodec_send_packet(handle, packet?.handle) >= 0 }

        func receive() -> Outcome {
            let result = unsafe av.avcodec_receive_frame(handle, frame)
            if result >= 0 { return .frame }
            if result == tenfour_av_again() { return .needsPacket }
            return result == tenfour_av_eof() ? .ended : .damaged
        }

        /// Whether the whole frame is to be skipped. FFmpeg 5 does not return the first frame of Vorbis. FFmpeg 7
        /// returns it with the number of samples to skip in the first four of ten bytes (`AV_FRAME_DATA_SKIP_SAMPLES`).
        var isFrameSkipped: Bool {
            for index in unsafe 0..<Int(frame.pointee.nb_side_data) {
                guard let data = unsafe frame.pointee.side_data[index]?.pointee,
                    unsafe data.type == AV_FRAME_DATA_SKIP_SAMPLES, unsafe data.size >= 4
                else { continue }
                let skipped = unsafe Span(_unsafeStart: data.data, count: data.size).littleEndian32(at: 0)
                return unsafe Int(skipped) >= Int(frame.pointee.nb_samples)
            }
            return false
        }

        /// Resets the decoder (`avcodec_flush_buffers`).
        func reset() { unsafe av.avcodec_flush_buffers(handle) }

        /// Limits decoding to common codecs, since each further decoder is code that untrusted bytes reach.
        private static func isPlayed(_ codec: AVCodecID) -> Bool {
            let played = [
                AV_CODEC_ID_MP1, AV_CODEC_ID_MP2, AV_CODEC_ID_MP3, AV_CODEC_ID_AAC, AV_CODEC_ID_ALAC, AV_CODEC_ID_FLAC,
                AV_CODEC_ID_VORBIS, AV_CODEC_ID_OPUS,
            ]
            return AV_CODEC_ID_FIRST_AUDIO.rawValue..<AV_CODEC_ID_ADPCM_IMA_QT.rawValue ~= codec.rawValue
                || played.contains(codec)
        }
    }
#endif
