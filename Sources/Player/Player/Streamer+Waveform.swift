// MARK: The waveform, for any thread; nothing blocks
extension Streamer {
    /// The waveform of the item that is heard, as far as it is known; nil if `StreamerConfiguration.waveformBarCount` is
    /// nil, for a live stream, and for a stream whose length is unknown.
    ///
    /// Nothing is fetched for it. A local file is read ahead of playback, by a thread of low priority and with at
    /// most a quarter of a processor. A download is read as it arrives; parts that were skipped by a seek are missing.
    /// For other sources, such as HLS segments, the bars are measured at the output's rate and are never exact.
    public var waveform: WaveformProgress? { analysis?.progress(of: heardItem.number) }

    /// Whether the configuration asks for waveforms.
    package var hasWaveform: Bool { analysis != nil }

    /// Whether the waveform is made. Set it to false while nobody looks at it. Default: true.
    public var makesWaveform: Bool {
        get { analysis?.isWanted ?? false }
        set { analysis?.isWanted = newValue }
    }
}
