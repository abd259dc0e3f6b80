/// How a card takes and gives samples, in the order we would have them.
enum SampleFormat: CaseIterable {
    case int16, int32, float, packed24, low24

    /// Of one sample.
    var byteCount: Int {
        @_noAllocation @_noLocks get {
            switch self {
            case .int16: 2
            case .int32, .float, .low24: 4
            case .packed24: 3
            }
        }
    }

    /// Puts `frameCount` frames of `samples` (interleaved, `channelCount` a frame, from `firstFrame` on) into `card`, which
    /// has room for as many of `cardChannelCount` and is aligned for any sample. Audio thread.
    ///
    /// Mono goes to the first two channels of the card, stereo on a mono card is halved and added, and channels that are
    /// the card's alone are silent.
    @_noAllocation @_noLocks
    func encode(
        _ samples: Span<Float>, channelCount: Int, from firstFrame: Int, frameCount: Int,
        into card: UnsafeMutableRawPointer, cardChannelCount: Int
    ) {
        let way = SampleConversion(first: firstFrame * channelCount, frames: frameCount, ours: channelCount, cards: cardChannelCount)
        switch self {
        case .int16: unsafe way.encode(samples, into: card.assumingMemoryBound(to: Int16.self))
        case .int32: unsafe way.encode(samples, into: card.assumingMemoryBound(to: Int32.self))
        case .float: unsafe way.encode(samples, into: card.assumingMemoryBound(to: Float.self))
        case .packed24: unsafe way.encode(samples, into: card.assumingMemoryBound(to: Packed24.self))
        case .low24: unsafe way.encode(samples, into: card.assumingMemoryBound(to: Low24.self))
        }
    }

    /// Puts the first `frameCount` frames of `card` into `samples` at `firstFrame`. Audio thread.
    ///
    /// Mono is the mean of the card's first two channels, a mono card sounds in both of stereo, and channels that the card
    /// does not have are silent.
    @_noAllocation @_noLocks
    func decode(
        _ card: UnsafeRawPointer, cardChannelCount: Int,
        into samples: inout MutableSpan<Float>, channelCount: Int, from firstFrame: Int, frameCount: Int
    ) {
        let way = SampleConversion(first: firstFrame * channelCount, frames: frameCount, ours: channelCount, cards: cardChannelCount)
        switch self {
        case .int16: unsafe way.decode(card.assumingMemoryBound(to: Int16.self), into: &samples)
        case .int32: unsafe way.decode(card.assumingMemoryBound(to: Int32.self), into: &samples)
        case .float: unsafe way.decode(card.assumingMemoryBound(to: Float.self), into: &samples)
        case .packed24: unsafe way.decode(card.assumingMemoryBound(to: Packed24.self), into: &samples)
        case .low24: unsafe way.decode(card.assumingMemoryBound(to: Low24.self), into: &samples)
        }
    }
}

/// Which samples of ours meet which of the card's.
private struct SampleConversion {
    /// Of our samples.
    let first: Int
    let frames: Int
    /// Channels in a frame of ours and of the card.
    let ours: Int
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

/// One sample the way a card takes it, in the byte order of this machine.
protocol CardSample: BitwiseCopyable {
    /// The sample's level, full scale at ±1.
    ///
    /// Setting it rounds to the nearest step; beyond full scale it stays there, and what is no number is silence. Setting
    /// the level that was read changes nothing. (A property and no initializer: the latter would hand about metadata,
    /// which the audio thread's checker refuses.)
    var level: Float { get set }
}

extension Int16: CardSample {
    var level: Float {
        @_noAllocation @_noLocks get { Float(self) * (1 / 32_768) }
        @_noAllocation @_noLocks set {
            // Added to 1.5 · 2²³, a float has no bits left for a fraction: the sum is rounded to the nearest, and its low
            // bits are the integer. Unlike a conversion this neither traps nor branches, so a loop of it becomes vectors.
            let rounded = kept(newValue, below: 32_767 / 32_768) * 32_768 + 12_582_912
            self = Int16(truncatingIfNeeded: rounded.bitPattern)
        }
    }
}

extension Int32: CardSample {
    var level: Float {
        @_noAllocation @_noLocks get { Float(self) * (1 / 2_147_483_648) }
        @_noAllocation @_noLocks set {
            // The greatest step is no Float, so the end of the scale is found in Double, with 1.5 · 2⁵² to round by.
            let scaled = Double(kept(newValue, below: 1)) * 2_147_483_648
            let rounded = (scaled < 2_147_483_647 ? scaled : 2_147_483_647) + 6_755_399_441_055_744
            self = Int32(truncatingIfNeeded: rounded.bitPattern)
        }
    }
}

extension Float: CardSample {
    var level: Float {
        @_noAllocation @_noLocks get { kept(self, below: 1) }
        @_noAllocation @_noLocks set { self = kept(newValue, below: 1) }
    }
}

/// 24 bits in three bytes, the lowest first: all that some USB interfaces take.
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

/// 24 bits in the low three bytes of four: all that some cards on I2S take.
struct Low24: CardSample, Equatable {
    /// A card may leave anything in the high byte. It is given the sign there, which some expect.
    var bits: Int32

    var level: Float {
        @_noAllocation @_noLocks get { Float((bits << 8) >> 8) * (1 / 8_388_608) }
        @_noAllocation @_noLocks set { bits = step24(newValue) }
    }
}

/// The step of 24 bits nearest to `level`.
@_noAllocation @_noLocks
private func step24(_ level: Float) -> Int32 {
    let rounded = Double(kept(level, below: 8_388_607 / 8_388_608)) * 8_388_608 + 6_755_399_441_055_744
    return Int32(truncatingIfNeeded: rounded.bitPattern)
}

/// `level` within −1…`top`, and zero for what is no number.
@_noAllocation @_noLocks
private func kept(_ level: Float, below top: Float) -> Float {
    let lifted: Float = level >= -1 ? level : (level < -1 ? -1 : 0)
    return lifted <= top ? lifted : top
}
