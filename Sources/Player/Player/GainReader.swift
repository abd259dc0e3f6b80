internal import TenfourAudioCore
internal import TenfourEffects
internal import TenfourMediaSource

/// Reads an item and applies the gain that its tags state, from the first frame on, so that items in a crossfade have
/// their own gains.
///
/// Where no gain applies, samples pass unchanged. For one thread at a time.
final class GainReader: MediaReader {
    private let base: any MediaReader
    private let mode: ReplayGain.Mode
    private var gain: ReplayGain
    private var ramp: Ramp

    /// The duration of the change where the streams of a chain, such as the songs of a station, state other gains.
    private static let changeDuration = Duration.milliseconds(20)

    init(_ base: any MediaReader, _ mode: ReplayGain.Mode) {
        self.base = base
        self.mode = mode
        gain = base.demuxer.track.gain
        ramp = Ramp(gain.factor(mode)?.amplitude ?? 1)
    }

    var demuxer: any Demuxer { base.demuxer }
    var format: LPCMFormat { base.format }
    var sampleWidth: SampleWidth? { base.sampleWidth }
    var position: Estimate<Duration> { base.position }

    func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
        let count = try base.read(into: &samples)
        let present = base.demuxer.track.gain
        if present != gain {
            gain = present
            let change = FrameCount(Self.changeDuration, at: format.rate).rawValue
            ramp.begin(gain.factor(mode)?.amplitude ?? 1, frameCount: change)
        }
        if ramp.isMoving || ramp.value != 1 {
            var index = 0
            for _ in 0..<count.rawValue {
                ramp.advance()
                for _ in 0..<format.channelCount {
                    samples[index] *= ramp.value
                    index += 1
                }
            }
        }
        return count
    }

    func seek(to position: Duration) throws(ReaderError) -> Estimate<Duration> { try base.seek(to: position) }
}
