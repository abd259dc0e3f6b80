/// The two laws of G.711, which map samples of 16 bits to bytes (ITU-T G.711 tables 1 and 2).
public enum G711Law: Hashable, BitwiseCopyable, Sendable, CaseIterable {
    /// µ-law, used in North America and Japan.
    case mu
    /// A-law, used in all other countries.
    case a

    /// Returns the sample that `byte` encodes, full scale at ±32 768.
    @_noAllocation @_noLocks
    public func decode(_ byte: UInt8) -> Int {
        switch self {
        case .mu:
            let code = Int(~byte)
            let magnitude = ((code & 0x0F) << 3 + 0x84) << (code >> 4 & 7) - 0x84
            return code & 0x80 != 0 ? -magnitude : magnitude
        case .a:
            let code = Int(byte ^ 0x55)
            let (exponent, mantissa) = (code >> 4 & 7, (code & 0x0F) << 4)
            let magnitude = exponent == 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1)
            return code & 0x80 != 0 ? magnitude : -magnitude
        }
    }

    /// Returns the byte for `sample`, quantised by the steps of the law. Full scale is ±32 768; samples beyond it are
    /// clipped.
    @_noAllocation @_noLocks
    public func encode(_ sample: Int) -> UInt8 {
        switch self {
        case .mu:
            let magnitude = (sample < 0 ? min(-sample, 32_635) : min(sample, 32_635)) + 0x84
            let code = Self.code(magnitude) | (sample < 0 ? 0x80 : 0)
            return ~UInt8(truncatingIfNeeded: code)
        case .a:
            let magnitude = sample < 0 ? min(-sample - 1, 32_767) : min(sample, 32_767)
            let code = (magnitude < 256 ? magnitude >> 4 : Self.code(magnitude)) | (sample < 0 ? 0 : 0x80)
            return UInt8(truncatingIfNeeded: code) ^ 0x55
        }
    }

    /// Returns the bits of the exponent and mantissa of a magnitude from 128 to 32 767.
    @_noAllocation @_noLocks
    private static func code(_ magnitude: Int) -> Int {
        var exponent = 0
        while magnitude >> (exponent + 8) > 0 { exponent += 1 }
        return exponent << 4 | (magnitude >> (exponent + 3) & 0x0F)
    }
}
