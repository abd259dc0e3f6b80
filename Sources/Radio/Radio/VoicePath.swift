internal import TenfourAudioCore
internal import TenfourSoundCard
internal import TenfourSystem
internal import TenfourVoiceProcessing

/// The two ends of the way on which played audio reaches the echo canceller; both are nil if echo is not cancelled.
struct VoicePath: ~Copyable {
    /// For the capture thread.
    var reference: EchoReference?
    /// For the thread that writes to the playback card.
    var played: PlayedAudioWriter?

    /// Echo needs a microphone and a loudspeaker that are open at once.
    init(_ configuration: RadioConfiguration, _ input: borrowing CaptureInput?, _ output: borrowing PlaybackOutput?) {
        reference = nil
        played = nil
        guard configuration.voice.cancelsEcho, configuration.duplex == .full,
            let capture = Self.cardFormat(of: input), let playback = Self.cardFormat(of: output)
        else { return }
        let ring = RingBuffer(capacity: PlayedAudio.ringCapacity, filler: PlayedAudio())
        reference = EchoReference(ring.consumer, captureRate: capture.rate, playbackRate: playback.rate)
        played = PlayedAudioWriter(ring.producer, format: playback)
    }

    private static func cardFormat(of input: borrowing CaptureInput?) -> LPCMFormat? {
        switch input {
        case .none: nil
        case .some(let input): input.granted == nil ? nil : input.format
        }
    }

    private static func cardFormat(of output: borrowing PlaybackOutput?) -> LPCMFormat? {
        switch output {
        case .none: nil
        case .some(let output): output.granted == nil ? nil : output.format
        }
    }
}
