public import TenfourAudioCore

/// The first byte of an Opus packet, its table of contents (RFC 6716 section 3.1). It describes the coding of all
/// frames of the packet.
public struct OpusTOC: Hashable, Sendable {
    public var rawValue: UInt8

    @_noAllocation @_noLocks
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The coding mode: linear prediction for speech (SILK), the transform codec for music and low delay (CELT), or
    /// both (hybrid).
    public enum Mode: Hashable, Sendable { case silk, hybrid, celt }

    /// Audio bandwidths of 4, 6, 8, 12 and 20 kHz.
    public enum Bandwidth: Int, Hashable, Comparable, Sendable {
        case narrow = 4_000
        case medium = 6_000
        case wide = 8_000
        case superWide = 12_000
        case full = 20_000

        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The number of the configuration in RFC 6716 table 2, 0…31.
    public var configuration: UInt8 { @_noAllocation @_noLocks get { rawValue >> 3 } }

    public var mode: Mode {
        @_noAllocation @_noLocks get {
            switch configuration {
            case 0..<12: .silk
            case 12..<16: .hybrid
            default: .celt
            }
        }
    }

    public var bandwidth: Bandwidth {
        @_noAllocation @_noLocks get {
            switch configuration {
            case 0..<4, 16..<20: .narrow
            case 4..<8: .medium
            case 8..<12, 20..<24: .wide
            case 12..<14, 24..<28: .superWide
            default: .full
            }
        }
    }

    /// The duration of each Opus frame: 2.5, 5, 10, 20, 40 or 60 ms, as 120…2880 frames at 48 000 Hz.
    public var frameCount: FrameCount {
        @_noAllocation @_noLocks get {
            let step = Int(configuration & 3)
            return switch mode {
            case .silk: FrameCount(step == 3 ? 2880 : 480 << step)
            case .hybrid: FrameCount(480 << (step & 1))
            case .celt: FrameCount(120 << step)
            }
        }
    }

    /// Whether the packet is encoded in two channels. The receiver may still play one channel.
    public var isStereo: Bool { @_noAllocation @_noLocks get { rawValue & 0x04 != 0 } }

    /// The packing of the Opus frames (RFC 6716 section 3.2). 0: one frame; 1: two frames of equal length; 2: two
    /// frames of different lengths; 3: the next byte states the number of frames.
    public var code: UInt8 { @_noAllocation @_noLocks get { rawValue & 0x03 } }
}
