internal import TenfourAudioCore
internal import TenfourClocks
internal import TenfourMediaSource
internal import TenfourWaveform

/// Takes the samples that are decoded for playback for the waveform of an item whose bytes cannot be read a second time.
/// For the worker's thread.
final class WaveformTap {
    private let analysis: WaveformAnalysis
    private var reduction: BarReduction?
    private var serial = 0
    private var reported = Instant.start

    init(_ analysis: WaveformAnalysis) { self.analysis = analysis }

    /// Returns a reader that also passes on to the waveform what it reads; nil if the waveform needs no samples.
    func tapped(_ reader: any MediaReader) -> (any MediaReader)? {
        analysis.tappedJob == nil ? nil : Reader(reader, self)
    }

    /// Adds samples that begin at `position`. Does nothing if the length of the item is unknown.
    private func append(_ samples: Span<Float>, at position: Duration, of reader: any MediaReader) {
        guard let serial = analysis.tappedJob, let duration = reader.demuxer.duration?.value else { return }
        let (format, now) = (reader.format, MonotonicClock.now)
        let whole = FrameCount(duration, at: format.rate)
        if serial != self.serial {
            self.serial = serial
            reported = .start
            reduction = BarReduction(
                barCount: analysis.barCount, channelCount: format.channelCount, expecting: whole)
        }
        let frame = FrameCount(position, at: format.rate)
        // Positions are rounded; a jump is larger.
        if abs(frame.rawValue - (reduction?.position ?? 0)) > format.rate.hertz / 200 { reduction?.move(to: frame) }
        reduction?.append(samples)
        guard now - reported >= WaveformAnalysis.reportInterval else { return }
        reported = now
        guard var bars = reduction?.partialBars(of: whole) else { return }
        // The samples have the rate and the channels of the output.
        bars.bars.isExact = false
        analysis.report(WaveformProgress(partialBars: bars, rate: format.rate), of: serial)
    }
}

extension WaveformTap {
    /// Reads, and passes on to a tap what it reads.
    private final class Reader: MediaReader {
        private let base: any MediaReader
        private let tap: WaveformTap

        init(_ base: any MediaReader, _ tap: WaveformTap) { (self.base, self.tap) = (base, tap) }

        var demuxer: any Demuxer { base.demuxer }
        var format: LPCMFormat { base.format }
        var position: Estimate<Duration> { base.position }

        func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
            let begin = base.position.value
            let count = try base.read(into: &samples)
            tap.append(samples.span.extracting(0..<count.rawValue * format.channelCount), at: begin, of: base)
            return count
        }

        func seek(to position: Duration) throws(ReaderError) -> Estimate<Duration> { try base.seek(to: position) }
    }
}
