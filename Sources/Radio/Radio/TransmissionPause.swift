internal import TenfourAudioCore
internal import TenfourVoiceProcessing

/// Decides which packets are sent while nobody talks (discontinuous transmission, DTX).
///
/// A pause begins with a packet without audio, from which the receiver knows that it is to play comfort noise. Every
/// 600 ms the noise itself is sent, and again a packet without audio. The encoder rests meanwhile, so that its state
/// stays that of the receiver's decoder.
///
/// Use it on the capture thread only. Allocates nothing.
struct TransmissionPause: BitwiseCopyable, Sendable {
    enum Decision: Equatable {
        /// Encode the frame, and send it.
        case encode(startsTalkspurt: Bool)
        /// Send a packet without audio.
        case announcePause
        /// Send nothing.
        case omit
    }

    private var activity: SpeechActivity
    /// The number of packets from one packet of noise to the next.
    private let interval: Int
    /// The number of packets since the last one with audio.
    private var count = 0

    /// `frame` is the duration of a packet.
    init(format: LPCMFormat, frame: Duration) {
        activity = SpeechActivity(format: format)
        interval = max(2, Int((.milliseconds(600) / frame).rounded()))
    }

    /// Decides about the next packet, whose audio is `samples` (interleaved).
    mutating func decide(_ samples: Span<Float>, startsTalkspurt: Bool) -> Decision {
        activity.insert(samples)
        let isPause = !activity.isActive && !startsTalkspurt
        count += 1
        guard isPause, count < interval else {
            let hasPaused = count > 2
            count = 0
            return .encode(startsTalkspurt: startsTalkspurt || hasPaused)
        }
        return count == 1 ? .announcePause : .omit
    }
}
