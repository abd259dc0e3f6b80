public import TenfourAudioCore
public import TenfourWaveform

/// The waveform of an item, as far as it is known. It grows while the item is downloaded or decoded.
public struct WaveformProgress: Equatable, Sendable {
    /// The bars of the whole item, and which of them have been read. They are exact (`Bars.isExact`) once the whole item
    /// has been read in its own rate and channel count: then they equal those of a separate reduction of the file to the
    /// bit.
    public var partialBars: PartialBars
    /// The rate of the frames that the bars count.
    public var rate: SampleRate
    /// The parts that were lost in transit when the file was recorded.
    public var markedRanges: [MarkedRange] = []

    /// The duration of the item, as it is known to the bars.
    public var duration: Duration { partialBars.bars.frameCount.duration(at: rate) }
    /// The proportion of the item that has been read, 0…1.
    public var readShare: Double { partialBars.readShare }
    /// Whether nothing will change any more.
    public var isExact: Bool { partialBars.bars.isExact }

    public init(partialBars: PartialBars, rate: SampleRate, markedRanges: [MarkedRange] = []) {
        self.partialBars = partialBars
        self.rate = rate
        self.markedRanges = markedRanges
    }
}

/// Keeps the exact waveforms of files. Called on the thread that reads for the waveform.
package protocol WaveformStore: Sendable {
    /// Returns what was kept of this item with this number of bars; nil if nothing was.
    func waveform(of identity: MediaIdentity, barCount: Int) -> WaveformProgress?
    func keep(_ waveform: WaveformProgress, of identity: MediaIdentity, barCount: Int)
}
