/// Recognises the headers of FLAC's frames (RFC 9639 section 9.1).
package enum FLACFrame {
    /// The length of the longest header in bytes.
    private static let headerByteCount = 16

    /// Returns the index of the first sample of the frame whose header begins at `offset`; nil if none does. `blockSize` is
    /// the number of samples in a frame of a stream whose frames are equally long.
    package static func firstSample(_ bytes: Span<UInt8>, at offset: Int, blockSize: Int) -> Int64? {
        guard bytes.count - offset >= headerByteCount, bytes[offset] == 0xFF, bytes[offset + 1] & 0xFE == 0xF8 else {
            return nil
        }
        let (sizeCode, rateCode, third) = (bytes[offset + 2] >> 4, bytes[offset + 2] & 15, bytes[offset + 3])
        guard sizeCode > 0, rateCode < 15, third >> 4 < 11, third & 1 == 0, third >> 1 & 7 != 3 else { return nil }
        // The number of the frame or sample is coded as in UTF-8, with up to seven bytes.
        let first = bytes[offset + 4]
        let length = (~first).leadingZeroBitCount
        guard length != 1, length <= 7 else { return nil }
        var number = length == 0 ? Int64(first) : Int64(first & (0x7F >> UInt8(length)))
        for index in 1..<max(length, 1) {
            let next = bytes[offset + 4 + index]
            guard next >> 6 == 2 else { return nil }
            number = number << 6 | Int64(next & 0x3F)
        }
        var end = offset + 4 + max(length, 1)
        end += sizeCode == 6 ? 1 : sizeCode == 7 ? 2 : 0
        end += rateCode == 12 ? 1 : rateCode > 12 ? 2 : 0
        guard checksum(bytes, offset..<end) == bytes[end] else { return nil }
        return bytes[offset + 1] & 1 == 1 ? number : number * Int64(blockSize)
    }

    /// Computes the CRC-8 with the polynomial x⁸ + x² + x + 1.
    private static func checksum(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt8 {
        range.reduce(UInt8(0)) { sum, index in
            (0..<8).reduce(sum ^ bytes[index]) { sum, _ in sum << 1 ^ (sum >> 7 == 1 ? 0x07 : 0) }
        }
    }
}
