/// The sample formats of cards that this module supports, in order of preference.
enum SampleFormat: CaseIterable {
    case int16, int32, float, packed24, low24

    /// The formats in the order of their precision, for audio that may have more than 16 bits. A `Float` holds samples
    /// of 24 bits without loss.
    static let widestFirst: [SampleFormat] = [.float, .int32, .low24, .packed24, .int16]

    /// The number of bytes per sample.
    var byteCount: Int {
        @_noAllocation @_noLocks get {
            switch self {
            case .int16: 2
            case .int32, .float, .low24: 4
            case .packed24: 3
            }
        }
    }

    /// Converts `frameCount` frames of `samples` (interleaved, `channelCount` per frame, from `firstFrame` on) into
    /// `card`, which is aligned and has space for `frameCount` frames of `cardChannelCount` channels. May be called on
    /// an audio thread.
    ///
    /// Mono goes to the card's first two channels, stereo is averaged for a mono card, and the card's other channels
    /// are silent.
    @_noAllocation @_noLocks
    func encode(
        _ samples: Span<Float>, channelCount: Int, from firstFrame: Int, frameCount: Int,
        into card: UnsafeMutableRawPointer, cardChannelCount: Int
    ) {
        let conversion = SampleConversion(
            first: firstFrame * channelCount, frames: frameCount, ours: channelCount, cards: cardChannelCount)
        switch self {
        case .int16: unsafe conversion.encode(samples, into: card.assumingMemoryBound(to: Int16.self))
        case .int32: unsafe conversion.encode(samples, into: card.assumingMemoryBound(to: Int32.self))
        case .float: unsafe conversion.encode(samples, into: card.assumingMemoryBound(to: Float.self))
        case .packed24: unsafe conversion.encode(samples, into: card.assumingMemoryBound(to: Packed24.self))
        case .low24: unsafe conversion.encode(samples, into: card.assumingMemoryBound(to: Low24.self))
        }
    }

    /// Converts the first `frameCount` frames of `card` into `samples` at `firstFrame`. May be called on an audio
    /// thread.
    ///
    /// Mono is the mean of the card's first two channels, a mono card goes to both channels of stereo, and channels
    /// missing in the card are silent.
    @_noAllocation @_noLocks
    func decode(
        _ card: UnsafeRawPointer, cardChannelCount: Int,
        into samples: inout MutableSpan<Float>, channelCount: Int, from firstFrame: Int, frameCount: Int
    ) {
        let conversion = SampleConversion(
            first: firstFrame * channelCount, frames: frameCount, ours: channelCount, cards: cardChannelCount)
        switch self {
        case .int16: unsafe conversion.decode(card.assumingMemoryBound(to: Int16.self), into: &samples)
        case .int32: unsafe conversion.decode(card.assumingMemoryBound(to: Int32.self), into: &samples)
        case .float: unsafe conversion.decode(card.assumingMemoryBound(to: Float.self), into: &samples)
        case .packed24: unsafe conversion.decode(card.assumingMemoryBound(to: Packed24.self), into: &samples)
        case .low24: unsafe conversion.decode(card.assumingMemoryBound(to: Low24.self), into: &samples)
        }
    }
}

/// Converts frames between our channel count and the card's.
private struct SampleConversion {
    /// The index in `samples` of the first sample to convert.
    let first: Int
    /// The number of frames to convert.
    let frames: Int
    /// The number of channels in our samples.
    let ours: Int
    /// The number of channels of the card.
    let cards: Int

    func encode<Sample: CardSample>(_ samples: Span<Float>, into card: UnsafeMutablePointer<Sample>) {
        if ours == cards {
            for index in 0..<frames * ours { unsafe card[index].level = samples[first + index] }
            return
        }
        for frame in 0..<frames {
            let left = samples[first + frame * ours]
            let right = ours > 1 ? samples[first + frame * ours + 1] : left
            let target = frame * cards
            if cards == 1 {
                unsafe card[target].level = (left + right) * 0.5
                continue
            }
            unsafe card[target].level = left
            unsafe card[target + 1].level = right
            var channel = 2
            while channel < cards {
                unsafe card[target + channel].level = 0
                channel += 1
            }
        }
    }

    func decode<Sample: CardSample>(_ card: UnsafePointer<Sample>, into samples: inout MutableSpan<Float>) {
        if ours == cards {
            for index in 0..<frames * ours { samples[first + index] = unsafe card[index].level }
            return
        }
        for frame in 0..<frames {
            let left = unsafe card[frame * cards].level
            let right = cards > 1 ? unsafe card[frame * cards + 1].level : left
            let target = first + frame * ours
            if ours == 1 {
                samples[target] = (left + right) * 0.5
                continue
            }
            samples[target] = left
            samples[target + 1] = right
            var channel = 2
            while channel < ours {
                samples[target + channel] = 0
                channel += 1
            }
        }
    }
}

/// A sample in a card's format, in native byte order.
protocol CardSample: BitwiseCopyable {
    /// The level, full scale at ±1.
    ///
    /// The setter rounds to the nearest step, clips at full scale and turns NaN into silence. A level that was read and
    /// is written again stays unchanged. `level` is a property instead of an initializer, since the allocation check of
    /// the audio thread rejects the type metadata that an initializer needs.
    var level: Float { get set }
}

extension Int16: CardSample {
    var level: Float {
        @_noAllocation @_noLocks get { Float(self) * (1 / 32_768) }
        @_noAllocation @_noLocks set {
            // Rounds by adding 1.5 · 2²³, which leaves an integer in the low bits. Unlike a conversion this neither
            // traps nor branches, so that loops vectorise.
            let rounded = clipped(newValue, below: 32_767 / 32_768) * 32_768 + 12_582_912
            self = Int16(truncatingIfNeeded: rounded.bitPattern)
        }
    }
}

extension Int32: CardSample {
    var level: Float {
        @_noAllocation @_noLocks get { Float(self) * (1 / 2_147_483_648) }
        @_noAllocation @_noLocks set {
            // Clips in Double, since no Float equals Int32.max, and rounds by adding 1.5 · 2⁵².
            let scaled = Double(clipped(newValue, below: 1)) * 2_147_483_648
            let rounded = (scaled < 2_147_483_647 ? scaled : 2_147_483_647) + 6_755_399_441_055_744
            self = Int32(truncatingIfNeeded: rounded.bitPattern)
        }
    }
}

extension Float: CardSample {
    var level: Float {
        @_noAllocation @_noLocks get { clipped(self, below: 1) }
        @_noAllocation @_noLocks set { self = clipped(newValue, below: 1) }
    }
}

/// A sample of 24 bits in three bytes, least significant first: the only format of some USB interfaces.
struct Packed24: CardSample, Equatable {
    var low: UInt8
    var middle: UInt8
    var high: Int8

    var level: Float {
        @_noAllocation @_noLocks get {
            Float(Int32(high) << 16 | Int32(middle) << 8 | Int32(low)) * (1 / 8_388_608)
        }
        @_noAllocation @_noLocks set {
            let step = step24(newValue)
            low = UInt8(truncatingIfNeeded: step)
            middle = UInt8(truncatingIfNeeded: step >> 8)
            high = Int8(truncatingIfNeeded: step >> 16)
        }
    }
}

/// A sample of 24 bits in the low three of four bytes: the only format of some I2S cards.
struct Low24: CardSample, Equatable {
    /// The high byte is undefined in captured samples. In written samples it repeats the sign, as some cards expect.
    var bits: Int32

    var level: Float {
        @_noAllocation @_noLocks get { Float((bits << 8) >> 8) * (1 / 8_388_608) }
        @_noAllocation @_noLocks set { bits = step24(newValue) }
    }
}

/// Returns the 24-bit step nearest to `level`.
@_noAllocation @_noLocks
private func step24(_ level: Float) -> Int32 {
    let rounded = Double(clipped(level, below: 8_388_607 / 8_388_608)) * 8_388_608 + 6_755_399_441_055_744
    return Int32(truncatingIfNeeded: rounded.bitPattern)
}

/// Returns `level` clipped to −1…`top`; NaN becomes zero.
@_noAllocation @_noLocks
private func clipped(_ level: Float, below top: Float) -> Float {
    let lifted: Float = level >= -1 ? level : (level < -1 ? -1 : 0)
    return lifted <= top ? lifted : top
}
