internal import TenfourAudioCore
public import TenfourPackets

/// The state of a mixer at the time when the playback thread last wrote it.
public struct MixerReport: BitwiseCopyable, Sendable {
    public var talkers = InlineArray<8, TalkerReport>(repeating: TalkerReport())
    /// The number of packets dropped because no buffer was free for their talker.
    public var crowdedOutCount = 0

    public init() {}
}

/// The state of one of a mixer's jitter buffers.
public struct TalkerReport: BitwiseCopyable, Sendable {
    public var ssrc = SSRC(0)
    /// Whether the buffer has ever belonged to a talker.
    public var isUsed = false
    /// Whether audio of the talker plays or is queued.
    public var isHeard = false
    /// The mean square of the audio of the last pull.
    public var meanSquare: Float = 0
    public var playout = PlayoutStatistics()

    public init() {}
}

extension JitterBuffer {
    /// The audio concealed since the talker began. The mixer uses the difference between two pulls.
    var concealment: Mixer.Concealment {
        @_noAllocation @_noLocks get {
            let statistics = statistics
            var concealment = Mixer.Concealment()
            concealment.behind = statistics.concealedInHindsight.rawValue
            concealment.ahead = statistics.concealed.rawValue - concealment.behind
            return concealment
        }
    }

    @_noAllocation @_noLocks
    func write(to report: inout TalkerReport) {
        report.ssrc = ssrc ?? SSRC(0)
        report.isUsed = ssrc != nil
        report.isHeard = !isIdle
        report.meanSquare = meanSquare
        report.playout = statistics
    }
}
