#if FFmpeg
    internal import CAV
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
            guard let codec = unsafe Self.find(parameters.handle.pointee.codec_id) else {
                throw .undecodable(
                    parameters.isKnown
                        ? "the installed FFmpeg has no decoder for \(name): convert the file to another format"
                        : "the installed FFmpeg does not know the codec of this file: convert the file to another format"
                )
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
                if Self.checksummed.contains(unsafe codec.pointee.id) {
                    unsafe handle.pointee.err_recognition |= AV_EF_CRCCHECK | AV_EF_EXPLODE
                }
                if result >= 0 { result = unsafe av.avcodec_open2(handle, codec, nil) }
            }
            guard let opened = unsafe handle, let made = unsafe frame, result >= 0 else {
                unsafe av.avcodec_free_context(&handle)
                unsafe av.av_frame_free(&frame)
                throw .undecodable(
                    "the \(name) decoder rejects this file (\(ffmpegErrorText(result))): download it again, or convert it with ffmpeg first"
                )
            }
            unsafe self.handle = opened
            unsafe self.frame = made
        }

        /// The codecs whose damaged frames would be noise at full scale, and have a checksum by which they are recognised.
        private static let checksummed = [AV_CODEC_ID_FLAC, AV_CODEC_ID_WAVPACK, AV_CODEC_ID_TTA]

        /// Returns the decoder of a codec. For Speex it is that of libspeex where the installed FFmpeg has it: FFmpeg's own in
        /// version 7.1 returns each wideband frame twice.
        private static func find(_ codec: AVCodecID) -> UnsafePointer<AVCodec>? {
            let preferred = codec == AV_CODEC_ID_SPEEX ? unsafe av.avcodec_find_decoder_by_name("libspeex") : nil
            return unsafe preferred ?? av.avcodec_find_decoder(codec)
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

        /// The width of the samples that the codec stores; nil for a lossy codec. Known after the first frame.
        var sampleWidth: SampleWidth? {
            guard let codec = unsafe handle.pointee.codec_descriptor,
                unsafe codec.pointee.props & AV_CODEC_PROP_LOSSLESS != 0
            else { return nil }
            let bitCount = unsafe Int(handle.pointee.bits_per_raw_sample)
            switch unsafe handle.pointee.sample_fmt {
            case AV_SAMPLE_FMT_U8, AV_SAMPLE_FMT_U8P: return .integer(bitCount: 8)
            case AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P: return .integer(bitCount: 16)
            case AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P:
                return .integer(bitCount: 1...32 ~= bitCount ? bitCount : 32)
            case AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_DBL, AV_SAMPLE_FMT_DBLP: return .floatingPoint
            default: return nil
            }
        }

        /// Resets the decoder (`avcodec_flush_buffers`). Call it only if `forgetsAll`.
        func reset() { unsafe av.avcodec_flush_buffers(handle) }

        /// Whether a reset decoder returns nothing of the audio before. The decoder of AC-3 and E-AC-3 keeps the second
        /// half of its last block.
        var forgetsAll: Bool { unsafe ![AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3].contains(handle.pointee.codec_id) }
    }
#endif
