internal import TenfourOpusCodec
internal import TenfourSession

/// The encoder settings that the network thread requests, packed for an `Atomic`.
struct EncoderDemand: BitwiseCopyable, Sendable {
    /// The packed settings; never zero.
    let rawValue: UInt64

    /// Unpacks the settings; nil if nothing is requested.
    @_noAllocation @_noLocks
    init?(rawValue: UInt64) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Creates the settings that `lossProtection` needs, with the fixed settings of `coding`.
    init(_ lossProtection: LossProtection, _ coding: CodingSettings) {
        let isAlwaysOn = coding.fec == .on
        let loss = lossProtection.inBandFEC ? lossProtection.expectedLoss : isAlwaysOn ? coding.expectedLoss : 0
        rawValue =
            UInt64(max(lossProtection.bitRate, 1)) << 16 | UInt64(loss) << 8
            | (lossProtection.inBandFEC || isAlwaysOn ? 1 : 0)
    }

    @_noAllocation @_noLocks
    func apply(to settings: inout OpusEncoderSettings) {
        settings.bitRate = Int(truncatingIfNeeded: rawValue >> 16)
        settings.expectedLoss = Int(truncatingIfNeeded: rawValue >> 8 & 0xFF)
        settings.inBandFEC = rawValue & 1 != 0
    }
}
