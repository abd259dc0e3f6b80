#if FFmpeg
    internal import CAV
    internal import TenfourAudioCore

    /// Converts decoded frames to interleaved floats of a format, by libswresample. The C functions are
    /// `swr_alloc_set_opts2`, `swr_convert` and `swr_free`.
    @safe
    struct Converter: ~Copyable {
        private let handle: OpaquePointer
        private let input: Shape
        private let output: LPCMFormat

        private struct Shape: Equatable {
            var rate: Int32
            var channelCount: Int32
            var format: Int32

            init(_ frame: UnsafeMutablePointer<AVFrame>) {
                rate = unsafe frame.pointee.sample_rate
                channelCount = unsafe frame.pointee.ch_layout.nb_channels
                format = unsafe frame.pointee.format
            }
        }

        /// The largest number of input frames per call.
        static let inputLimit = 2_048

        /// Creates a converter. Returns nil if libswresample does not support the conversion.
        init?(from frame: UnsafeMutablePointer<AVFrame>, to output: LPCMFormat) {
            var handle: OpaquePointer?
            let result = unsafe tenfour_swr_open(
                av, &handle, frame, Int32(clamping: output.rate.hertz), Int32(clamping: output.channelCount))
            guard result >= 0, let made = unsafe handle else {
                unsafe av.swr_free(&handle)
                return nil
            }
            unsafe self.handle = made
            input = unsafe Shape(frame)
            self.output = output
        }

        deinit {
            var handle: OpaquePointer? = unsafe handle
            unsafe av.swr_free(&handle)
        }

        func accepts(_ frame: UnsafeMutablePointer<AVFrame>) -> Bool { unsafe Shape(frame) == input }

        /// Returns the largest number of output frames that the next call may write for `count` input frames.
        func room(for count: Int) -> Int { Int(unsafe av.swr_get_out_samples(handle, Int32(clamping: count))) }

        /// Converts `count` frames (at most `inputLimit`) from frame `skipped` on into the front of `samples`.
        func convert(
            _ frame: UnsafeMutablePointer<AVFrame>, from skipped: Int, count: Int,
            into samples: inout MutableSpan<Float>
        ) -> Int {
            let room = Int32(clamping: samples.count / output.channelCount)
            return unsafe samples.withUnsafeMutableBufferPointer { samples in
                max(
                    unsafe Int(
                        tenfour_swr_convert(
                            av, handle, frame, Int32(clamping: skipped), Int32(clamping: count), samples.baseAddress,
                            room)),
                    0)
            }
        }

        /// Writes the frames still buffered at the end. Call it until it returns 0.
        func drain(into samples: inout MutableSpan<Float>) -> Int {
            let room = Int32(clamping: samples.count / output.channelCount)
            return unsafe samples.withUnsafeMutableBufferPointer { samples in
                max(unsafe Int(tenfour_swr_drain(av, handle, samples.baseAddress, room)), 0)
            }
        }
    }
#endif
