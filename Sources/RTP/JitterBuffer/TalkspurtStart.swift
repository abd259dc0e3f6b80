internal import TenfourAudioCore

/// Tells whether the first packets of a talkspurt show the network's delay, or were captured before they were sent.
///
/// A station sends the audio from before its key was pressed, 150 ms, all at once. These packets arrive together, each
/// 20 ms less late than the one before, and playout catches up with them. If they counted as jitter, each press of a
/// key would raise the playout delay for half a minute.
struct TalkspurtStart: BitwiseCopyable, Sendable {
    private var arrival: FrameCount
    private let start: FrameCount
    /// The bucket of the slowest packet so far.
    private var highest = Int.min
    /// Whether the packets were captured before they were sent.
    private var wasCapturedEarlier = false

    /// The duration of audio after which the arrivals are compared: 100 ms. Jitter makes a shorter comparison
    /// unreliable.
    private static var comparison: FrameCount { FrameCount(4_800) }

    enum Decision: Equatable {
        /// Less than 100 ms of audio has arrived.
        case undecided
        /// The packet was captured before it was sent, and does not count.
        case wasCapturedEarlier
        /// The packet shows the network's delay. `highest` is the bucket of the slowest packet that counts.
        case network(highest: Int)
    }

    /// Begins with the first packet of a talkspurt.
    @_noAllocation @_noLocks
    init(at arrival: FrameCount, delay: FrameCount) {
        self.arrival = arrival
        start = arrival - delay
    }

    /// Inserts a packet, the first one too.
    @_noAllocation @_noLocks
    mutating func insert(_ bucket: Int, at arrival: FrameCount, delay: FrameCount) -> Decision {
        let audio = arrival - delay
        guard !isUndecided(about: audio) else {
            highest = max(highest, bucket)
            return .undecided
        }
        // Packets that arrive in less than half of their duration were sent at once.
        if (arrival - self.arrival).rawValue * 2 < (audio - start).rawValue {
            wasCapturedEarlier = true
            return .wasCapturedEarlier
        }
        return .network(highest: wasCapturedEarlier ? bucket : max(highest, bucket))
    }

    /// Whether the packet whose audio begins at `audio`, in the talker's time, is too early to compare arrivals.
    @_noAllocation @_noLocks
    func isUndecided(about audio: FrameCount) -> Bool { audio - start < Self.comparison }

    /// The bucket of the slowest packet, if the talkspurt ended before the arrivals were compared; nil otherwise.
    var undecidedPeak: Int? { @_noAllocation @_noLocks get { wasCapturedEarlier ? nil : highest } }

    /// Adds `frames` to the recorded arrival, because the clock that measures arrivals was adjusted by this number.
    @_noAllocation @_noLocks
    mutating func shift(by frames: FrameCount) { arrival += frames }
}
