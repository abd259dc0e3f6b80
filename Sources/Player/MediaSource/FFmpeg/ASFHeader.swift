#if FFmpeg
    internal import TenfourAudioCore

    /// The header of Windows Media (ASF 1.20.02 section 3.2), of which FFmpeg passes the duration over if the file is cut.
    struct ASFHeader {
        let duration: Duration

        /// The first bytes in which the file properties are searched.
        private static let searched = 1 << 16
        /// The GUID of the File Properties Object.
        private static let fileProperties: [UInt8] = [
            0xA1, 0xDC, 0xAB, 0x8C, 0x47, 0xA9, 0xCF, 0x11, 0x8E, 0xE4, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65,
        ]
        private static let objectByteCount = 92

        /// Reads the header at the start of `stream`; nil if there is none, or the file was written as it was broadcast.
        init?(_ stream: borrowing ByteStream) throws(ByteSourceError) {
            guard stream.isSeekable else { return nil }
            var window = ByteWindow(of: stream.byteSource)
            try window.load(at: stream.start, count: Self.searched)
            let bytes = window.copiedBytes
            let last = bytes.count - Self.objectByteCount
            guard bytes.starts(with: [0x30, 0x26, 0xB2, 0x75]), last >= 0,
                let begin = (0...last).first(where: { bytes[$0...].starts(with: Self.fileProperties) })
            else { return nil }
            func number(_ offset: Int) -> UInt64 {
                (0..<8).reduce(0) { $0 | UInt64(bytes[begin + offset + $1]) << (8 * UInt64($1)) }
            }
            guard bytes[begin + 88] & 1 == 0 else { return nil }
            // 100 ns, less the time that a player waits.
            let seconds = Double(number(64)) / 1e7 - Double(number(80)) / 1e3
            guard (0...1e9).contains(seconds) else { return nil }
            duration = .seconds(seconds)
        }
    }
#endif
