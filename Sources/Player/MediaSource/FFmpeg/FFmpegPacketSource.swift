#if FFmpeg
    internal import CAV
    internal import TenfourAudioCore

    /// A demuxer for `FFmpegReader`.
    protocol FFmpegPacketSource: MissingAudioReporting {
        /// The codec's parameters, with which a decoder is opened.
        var codec: CodecParameters { get }
        /// The packet that `nextPacket` returned last. Timestamps count from the start of the audio and are negative
        /// for the decoder's start-up.
        var packet: Packet { get }
        /// The unit of the packet's timestamps, in seconds.
        var timeBase: AVRational { get }
        /// The duration of audio to decode before a position, so that the output is exact from this position on.
        var preroll: Duration { get }
        /// The duration to add to the positions of packets read since the last seek, if that seek reached an estimated
        /// position. It is the error of the estimate, and zero until the error is known.
        var correction: Duration { get }
        /// Whether positions since the last seek are now known to be exact.
        var isExact: Bool { get }
        /// Returns the number of the `decoded` frames that are audio and not padding.
        func audibleFrameCount(of decoded: Int, at hertz: Int32) -> Int
        /// Sets the format, which for some codecs only the decoder knows.
        func updateFormat(_ format: LPCMFormat)
    }

    /// An encoded packet. The C functions are `av_packet_alloc` and `av_packet_free`.
    @safe
    final class Packet {
        let handle: UnsafeMutablePointer<AVPacket>

        init?() {
            guard let handle = unsafe av.av_packet_alloc() else { return nil }
            unsafe self.handle = handle
        }

        deinit {
            var handle: UnsafeMutablePointer<AVPacket>? = unsafe handle
            unsafe av.av_packet_free(&handle)
        }

        /// Copies `bytes` and appends the zero padding that decoders require (`av_new_packet`). Returns false if no
        /// memory is left.
        func hold(_ bytes: Span<UInt8>) -> Bool {
            unsafe av.av_packet_unref(handle)
            guard unsafe av.av_new_packet(handle, Int32(clamping: bytes.count)) == 0 else { return false }
            unsafe bytes.withUnsafeBytes { bytes in
                guard let source = bytes.baseAddress else { return }
                unsafe UnsafeMutableRawPointer(handle.pointee.data).copyMemory(from: source, byteCount: bytes.count)
            }
            return true
        }
    }

    /// The parameters of a codec. The C functions are `avcodec_parameters_alloc` and `avcodec_parameters_free`.
    @safe
    final class CodecParameters {
        let handle: UnsafeMutablePointer<AVCodecParameters>

        init?() {
            guard let handle = unsafe av.avcodec_parameters_alloc() else { return nil }
            unsafe self.handle = handle
        }

        deinit {
            var handle: UnsafeMutablePointer<AVCodecParameters>? = unsafe handle
            unsafe av.avcodec_parameters_free(&handle)
        }

        /// The codec's name, such as `mp3` or `aac`, by `avcodec_get_name`.
        var name: String { unsafe String(cString: av.avcodec_get_name(handle.pointee.codec_id)!) }

        /// Whether FFmpeg knows the codec, if only by name.
        var isKnown: Bool { unsafe handle.pointee.codec_id != AV_CODEC_ID_NONE }

        /// The format of the decoded audio; nil if it is unknown before decoding.
        var format: LPCMFormat? {
            let (rate, channels) = unsafe (Int(handle.pointee.sample_rate), Int(handle.pointee.ch_layout.nb_channels))
            guard 1...10_000_000 ~= rate, 1...64 ~= channels else { return nil }
            return LPCMFormat(rate: SampleRate(hertz: rate), channelCount: channels)
        }
    }
#endif
