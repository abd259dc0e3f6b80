#if FFmpeg
    internal import CAV

    /// Decrypts AES-128 in CBC mode, as the segments of HTTP Live Streaming are encrypted. The C functions are
    /// `av_aes_init` and `av_aes_crypt`.
    ///
    /// For one thread at a time.
    @safe
    public final class AESDecryption {
        private let handle: OpaquePointer
        /// The encrypted block before the next one, at first the initialization vector.
        private var vector: [UInt8]

        private static let blockByteCount = 16

        /// Creates a decryption with a key and an initialization vector of 16 bytes each. Throws if FFmpeg is not
        /// installed.
        public init(key: [UInt8], vector: [UInt8]) throws(ReaderError) {
            precondition(key.count == 16 && vector.count == 16, "AES-128 needs 16 bytes of key and vector")
            try loadFFmpeg()
            guard let handle = unsafe av.av_aes_alloc() else {
                throw .undecodable(ffmpegErrorText(tenfour_av_no_memory()), kind: .resourcesExhausted)
            }
            unsafe self.handle = handle
            self.vector = vector
            _ = unsafe av.av_aes_init(handle, key, 128, 1)
        }

        deinit { unsafe av.av_free(UnsafeMutableRawPointer(handle)) }

        /// Decrypts `bytes` in place. Bytes after the last whole block of 16 are left as they are.
        public func decrypt(_ bytes: inout [UInt8]) {
            let count = bytes.count / Self.blockByteCount
            guard count > 0 else { return }
            let source = bytes
            unsafe bytes.withUnsafeMutableBufferPointer { room in
                unsafe source.withUnsafeBufferPointer { source in
                    unsafe vector.withUnsafeMutableBufferPointer { vector in
                        unsafe av.av_aes_crypt(
                            handle, room.baseAddress!, source.baseAddress!, Int32(clamping: count),
                            vector.baseAddress!, 1)
                    }
                }
            }
        }
    }
#endif
