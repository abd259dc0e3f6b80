/// The encoding of one sample, by ALSA's names (`arecord -f`). All are little-endian.
public enum SampleCoding: String, Hashable, Sendable, CaseIterable {
    case unsigned8 = "U8"
    case signed8 = "S8"
    case signed16 = "S16_LE"
    /// 24 bits in the low three of four bytes.
    case signed24 = "S24_LE"
    case packedSigned24 = "S24_3LE"
    case signed32 = "S32_LE"
    case float32 = "FLOAT_LE"

    public var byteCount: Int {
        switch self {
        case .unsigned8, .signed8: 1
        case .signed16: 2
        case .packedSigned24: 3
        case .signed24, .signed32, .float32: 4
        }
    }

    /// Decodes the sample at `offset`. Full scale is ±1; NaN and infinity become silence.
    internal func decode(_ bytes: Span<UInt8>, at offset: Int) -> Float {
        func integer(_ index: Int) -> Int32 { Int32(bytes[offset + index]) }
        switch self {
        case .unsigned8: return Float(integer(0) - 128) / 128
        case .signed8: return Float(Int8(truncatingIfNeeded: integer(0))) / 128
        case .signed16: return Float(Int16(truncatingIfNeeded: integer(0) | integer(1) << 8)) / 32_768
        case .signed24, .packedSigned24:
            return Float((integer(0) << 8 | integer(1) << 16 | integer(2) << 24) >> 8) / 8_388_608
        case .signed32:
            return Float(integer(0) | integer(1) << 8 | integer(2) << 16 | integer(3) << 24) / 2_147_483_648
        case .float32:
            let pattern = integer(0) | integer(1) << 8 | integer(2) << 16 | integer(3) << 24
            let sample = Float(bitPattern: UInt32(bitPattern: pattern))
            return sample.isFinite ? sample : 0
        }
    }

    /// Encodes a sample at `offset`. Values beyond full scale are clipped, except in the floating-point codings; NaN
    /// becomes silence.
    internal func encode(_ sample: Float, into bytes: inout MutableSpan<UInt8>, at offset: Int) {
        let pattern: Int32
        switch self {
        case .unsigned8: pattern = scaled(sample, by: 128) + 128
        case .signed8: pattern = scaled(sample, by: 128)
        case .signed16: pattern = scaled(sample, by: 32_768)
        case .signed24, .packedSigned24: pattern = scaled(sample, by: 8_388_608)
        case .signed32: pattern = scaled(sample, by: 2_147_483_648)
        case .float32: pattern = Int32(bitPattern: (sample.isFinite ? sample : 0).bitPattern)
        }
        for index in 0..<byteCount { bytes[offset + index] = UInt8(truncatingIfNeeded: pattern >> (8 * Int32(index))) }
    }

    /// Returns the sample as an integer with the coding's bits at the top of 32. Only for integer codings.
    internal func leftAligned(_ sample: Float) -> Int32 {
        switch self {
        case .unsigned8, .signed8: scaled(sample, by: 128) << 24
        case .signed16: scaled(sample, by: 32_768) << 16
        case .signed24, .packedSigned24: scaled(sample, by: 8_388_608) << 8
        case .signed32, .float32: scaled(sample, by: 2_147_483_648)
        }
    }

    private func scaled(_ sample: Float, by fullScale: Double) -> Int32 {
        guard !sample.isNaN else { return 0 }
        let number = (Double(sample) * fullScale).rounded(.toNearestOrEven)
        return Int32(min(max(number, -fullScale), fullScale - 1))
    }
}
