#if FFmpeg
    internal import CAV
    internal import TenfourMediaSource
    internal import TenfourAudioCore

    /// What the reader of this module needs of its parsers besides what everybody sees.
    protocol PacketSource: Demuxer {
        /// What a decoder is opened with.
        var codec: CodecParameters { get }
        /// The packet that `nextPacket` gave last. Its timestamps count from the beginning of the sound, below zero for what a
        /// decoder gives first and nobody shall hear.
        var packet: Packet { get }
        /// Of the packet's timestamps, in seconds.
        var timeBase: AVRational { get }
        /// How much sound before a position the decoder must have had to give the right one there.
        var preroll: Duration { get }
        /// What positions since the last seek must be corrected by, as has become known by now.
        var correction: Duration { get }
        /// Whether positions since the last seek are exact by now.
        var isExact: Bool { get }
        /// How many of the frames that were decoded of the packet, at a rate, are sound and not there to fill it up.
        func soundLength(of decoded: Int, at hertz: Int32) -> Int
        /// Only a decoder knows the rate and channels of some formats.
        func learn(_ format: LPCMFormat)
    }

    /// The C functions are `av_packet_alloc` and `av_packet_free`.
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

        /// A copy of `bytes`, and the zeros behind it that decoders ask for (`av_new_packet`). False when there is no memory.
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

    /// The C functions are `avcodec_parameters_alloc` and `avcodec_parameters_free`.
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

        /// `mp3`, `aac`, … by `avcodec_get_name`.
        var name: String { unsafe String(cString: av.avcodec_get_name(handle.pointee.codec_id)!) }

        /// nil where it is not known before something was decoded.
        var format: LPCMFormat? {
            let (rate, channels) = unsafe (Int(handle.pointee.sample_rate), Int(handle.pointee.ch_layout.nb_channels))
            guard 1...10_000_000 ~= rate, 1...64 ~= channels else { return nil }
            return LPCMFormat(rate: SampleRate(hertz: rate), channelCount: channels)
        }
    }
#endif
