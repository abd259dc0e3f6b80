internal import Synchronization

/// What people and other threads tell the audio threads while sound flows.
final class Controls: Sendable {
    /// Whether what is sent can get anywhere: a file is not begun before.
    let isConnected: Atomic<Bool>
    let hasStarted = Atomic<Bool>(false)
    let isStopping = Atomic<Bool>(false)
    let isMicrophoneOpen: Atomic<Bool>
    /// From where on listeners are to be named; below zero where nobody asks.
    let listenerPage = Atomic<Int>(-1)
    let isSpeakerMuted = Atomic<Bool>(false)
    /// The input has come to its end, and all of it is in the handoff.
    let hasInputEnded = Atomic<Bool>(false)
    /// What the network asks of the encoder: an `EncoderDemand`, or zero while it asks nothing.
    let encoderDemand = Atomic<UInt64>(0)

    /// How what is heard is bent: the bits of a Double each, of a rate and of cents.
    let rate = Atomic<UInt64>((1.0).bitPattern)
    let pitch = Atomic<UInt64>((0.0).bitPattern)
    /// How far what is bent lies behind, in microseconds.
    let timePitchLag = Atomic<Int>(0)
    /// Samples that were left out on the way through bending.
    let timePitchLoss = Atomic<Int>(0)

    /// Each for the thread that waits for it: the network thread has ended, the playback thread has ended, nothing is bent any more.
    let isOver = Atomic<Bool>(false)
    let isTimePitchOver = Atomic<Bool>(false)
    let isPlaybackOver = Atomic<Bool>(false)

    init(isMicrophoneOpen: Bool, isConnected: Bool) {
        self.isMicrophoneOpen = Atomic(isMicrophoneOpen)
        self.isConnected = Atomic(isConnected)
    }

    var stops: Bool { isStopping.load(ordering: .relaxed) }
}
