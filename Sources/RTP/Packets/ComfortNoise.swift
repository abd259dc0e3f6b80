/// The background noise while a talker of G.711 sends no audio: the payload of comfort noise (RFC 3389 section 3).
public struct ComfortNoise: BitwiseCopyable, Sendable {
    /// The level in dB below full scale (-dBov), 0…127.
    public let level: Int
    /// The number of reflection coefficients, 0…12; 0 for white noise.
    public let order: Int
    /// The RMS value of the white noise that the filter turns into noise of `level`, but at most of -30 dB, since nobody
    /// sends louder background noise; full scale is 1.
    public let excitation: Float
    private var reflections = InlineArray<12, Float>(repeating: 0)

    /// Parses a payload; nil if it is empty. Coefficients beyond the twelfth are left out.
    public init?(parsing payload: Span<UInt8>) {
        guard payload.count > 0 else { return nil }
        level = Int(payload[0] & 0x7F)
        order = min(payload.count - 1, reflections.count)
        var power: Float = 1
        for _ in 0..<max(level, 30) { power *= 0.794_328_2 }
        for index in 0..<order {
            // 255, which is not used, would be a filter whose output does not fade.
            let reflection = Float(min(Int(payload[index + 1]), 254) - 127) * 258 / 32_768
            reflections[index] = reflection
            power *= 1 - reflection * reflection
        }
        excitation = power.squareRoot()
    }

    /// Returns the reflection coefficient at `index`, from 0 to `order` - 1. It is more than -1 and less than 1.
    @_noAllocation @_noLocks
    public func reflection(_ index: Int) -> Float { reflections[index] }
}

extension ComfortNoise: Equatable {
    public static func == (one: Self, other: Self) -> Bool {
        one.level == other.level && one.order == other.order
            && (0..<one.order).allSatisfy { one.reflections[$0] == other.reflections[$0] }
    }
}
