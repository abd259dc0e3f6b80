import TenfourAudioCore
import TenfourMediaSource

extension Track {
    /// The format as text such as `mp3, 44100 Hz, stereo`, and the rate of the output if it differs.
    func summary(playedAt rate: SampleRate) -> String {
        let channels =
            format.channelCount == 1 ? "mono" : format.channelCount == 2 ? "stereo" : "\(format.channelCount) channels"
        let resampling =
            rate == format.rate ? "" : "; \(format.rate.hertz) Hz resampled to \(rate.hertz) Hz by tenfour"
        return "\(codec), \(format.rate.hertz) Hz, \(channels)\(resampling)"
    }
}
