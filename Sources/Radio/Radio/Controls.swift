internal import Synchronization
internal import TenfourAudioCore

/// Settings and flags that other threads share with the audio threads.
final class Controls: Sendable {
    /// Whether the session can deliver audio: it has joined its channel, or has none. The capture thread starts to read
    /// a file only when this is true.
    let isConnected: Atomic<Bool>
    let hasStarted = Atomic<Bool>(false)
    let isStopping = Atomic<Bool>(false)
    let isMicrophoneOpen: Atomic<Bool>
    /// The index of the first listener to request from the relay; negative if there is no request.
    let listenerPage = Atomic<Int>(-1)
    /// The mean square of the latest captured packet, as the bits of a Float, below a number that changes with each
    /// reading of the card.
    let capturedLevel = Atomic<UInt64>(0)
    let isSpeakerMuted = Atomic<Bool>(false)
    /// How far received audio stays behind that of other sessions, as the raw value of a `Background`.
    let background = Atomic<UInt8>(0)
    let isMutedByOtherSession = Atomic<Bool>(false)
    let needsCapture = Atomic<Bool>(true)
    /// The volume of received audio, as the bits of a Float.
    let volume = Atomic<UInt32>(Float(1).bitPattern)
    let talkerVolumes = TalkerVolumes()
    let floor = FloorControls()
    /// The time in milliseconds for which the microphone that opens has waited for the floor. What was said meanwhile is
    /// sent. It is no part of `floor`, since the capture thread counts no references.
    let floorWait = Atomic<Int>(0)
    /// Whether received audio is muted while the microphone is open.
    let isHalfDuplex: Bool
    /// The tone to be played next, as its raw value plus one; zero if there is none.
    private let tone = Atomic<UInt8>(0)
    /// What the threads of a replay share; nil if the session keeps no history.
    let replays: Replays?
    /// Whether the input has ended and all of it is in the ring buffer.
    let hasInputEnded = Atomic<Bool>(false)
    /// The encoder settings that the network thread requests, as an `EncoderDemand`; zero if there is no request.
    let encoderDemand = Atomic<UInt64>(0)

    /// The requested playback rate, as the bits of a Double.
    let rate = Atomic<UInt64>((1.0).bitPattern)
    /// The requested pitch shift in cents, as the bits of a Double.
    let pitch = Atomic<UInt64>((0.0).bitPattern)
    /// The time in microseconds by which time-pitch processing lies behind reception.
    let timePitchLag = Atomic<Int>(0)
    /// The number of samples that time-pitch processing dropped.
    let timePitchLoss = Atomic<Int>(0)

    /// Whether the network thread has ended.
    let isOver = Atomic<Bool>(false)
    /// Whether the time-pitch thread has ended. The recorder then writes the remaining audio and ends.
    let isTimePitchOver = Atomic<Bool>(false)
    /// Whether the playback thread has ended. The time-pitch thread, or the recorder if there is no time-pitch thread,
    /// then processes the remaining audio and ends.
    let isPlaybackOver = Atomic<Bool>(false)

    init(isMicrophoneOpen: Bool, isConnected: Bool, isHalfDuplex: Bool = false, replays: Replays? = nil) {
        self.replays = replays
        self.isHalfDuplex = isHalfDuplex
        self.isMicrophoneOpen = Atomic(isMicrophoneOpen)
        self.isConnected = Atomic(isConnected)
    }

    var stops: Bool { isStopping.load(ordering: .relaxed) }

    /// Whether received audio is muted now, because the user talks.
    var mutesForHalfDuplex: Bool {
        isHalfDuplex && isMicrophoneOpen.load(ordering: .relaxed) && floor.maySend.load(ordering: .relaxed)
    }

    func play(_ tone: SignalTone) { self.tone.store(tone.rawValue + 1, ordering: .relaxed) }

    /// Returns the tone to be played next, once.
    func takeTone() -> SignalTone? {
        let number = tone.exchange(0, ordering: .relaxed)
        return number > 0 ? SignalTone(rawValue: number - 1) : nil
    }
}
