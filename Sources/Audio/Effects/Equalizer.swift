public import TenfourAudioCore

/// An equaliser: bands in series, each a filter.
///
/// For one thread at a time, which may be an audio thread: after `init` no function allocates or blocks.
public struct Equalizer: ~Copyable, InPlaceEffect, Sendable {
    public let format: LPCMFormat
    public let bandCount: Int

    private var bands: FixedBuffer<EqualizerBand>
    private var filter: BiquadFilter

    public init(format: LPCMFormat, bands: [EqualizerBand]) {
        self.format = format
        bandCount = bands.count
        let flat = EqualizerBand(frequency: 1_000, gain: 0)
        self.bands = FixedBuffer(repeating: flat, count: max(bandCount, 1))
        filter = BiquadFilter(format: format, capacity: bandCount)
        for index in 0..<bandCount {
            self.bands[index] = bands[index]
            filter.setLimited(bands[index].design, at: index)
        }
        filter.clear()
    }

    /// The band at `index`, 0..<`bandCount`. A new value takes effect within 10 ms, without a click.
    public subscript(index: Int) -> EqualizerBand {
        get { bands[index] }
        set {
            precondition(index < bandCount, "the number of bands is fixed")
            bands[index] = newValue
            filter.setLimited(newValue.design, at: index)
        }
    }

    @_noAllocation @_noLocks
    public mutating func apply(to samples: inout MutableSpan<Float>) { filter.apply(to: &samples) }

    public mutating func clear() { filter.clear() }
}
