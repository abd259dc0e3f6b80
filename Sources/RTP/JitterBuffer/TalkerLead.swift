internal import TenfourAudioCore

/// The time by which a talker's packets have come earlier than its first ones, and playout is therefore too late.
///
/// A talker that sends faster than real time would fill the queue without end. A stall of the network fills it, too, but
/// the packets that come after it are no faster than those before.
struct TalkerLead: BitwiseCopyable, Sendable {
    private var value = FrameCount.zero
    private let longest: FrameCount

    /// The part of the playout delay that is no lead, because the configuration asks for it.
    private let intended: FrameCount

    /// The limits of the maximum lead: 200 ms, because a talkspurt may begin with 150 ms that are sent at once, and 1 s.
    private static var limits: ClosedRange<FrameCount> { FrameCount(9_600)...FrameCount(48_000) }

    /// The maximum lead, in frames.
    static func longest(_ configuration: PlayoutConfiguration) -> FrameCount {
        min(max(configuration.maximum, limits.lowerBound), limits.upperBound)
    }

    init(_ configuration: PlayoutConfiguration) {
        longest = Self.longest(configuration)
        intended =
            if case .fixed(let playoutDelay) = configuration.playoutDelay { playoutDelay } else {
                max(configuration.maximum - longest, .zero)
            }
    }

    /// The lead that is left where audio is dropped.
    var kept: FrameCount { @_noAllocation @_noLocks get { FrameCount(longest.rawValue / 2) } }

    /// Records that a packet was faster than all before by `gain`, when `delay` was the playout delay less the delay of the
    /// fastest packet. Returns whether audio must be dropped.
    @_noAllocation @_noLocks
    mutating func exceedsLimit(gaining gain: FrameCount, delay: FrameCount) -> Bool {
        value = min(value + gain, max(delay - intended, .zero))
        return value > longest
    }

    /// Records that audio was dropped, up to the lead that is kept.
    @_noAllocation @_noLocks
    mutating func shorten() { value = kept }

    @_noAllocation @_noLocks
    mutating func reset() { value = .zero }
}
