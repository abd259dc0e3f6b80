internal import TenfourAudioCore
public import TenfourPackets

/// The state of a mixer, as the playback thread last wrote it.
public struct MixerReport: BitwiseCopyable, Sendable {
    public var talkers = InlineArray<8, TalkerReport>(repeating: TalkerReport())
    /// Packets of talkers for whom there was no buffer.
    public var crowdedOutCount = 0

    public init() {}
}

/// The state of one talker of a mixer.
public struct TalkerReport: BitwiseCopyable, Sendable {
    public var ssrc = SSRC(0)
    /// Whether the buffer belongs, or belonged last, to a talker.
    public var isUsed = false
    /// Whether audio of the talker plays or is queued.
    public var isHeard = false
    /// The mean square of the audio made last.
    public var meanSquare: Float = 0
    public var playout = PlayoutStatistics()

    public init() {}
}

extension JitterBuffer {
    /// The audio concealed since the talker began. The difference between two pulls is used.
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
