internal import TenfourAudioCore

/// Decides where playout begins when somebody talks already.
///
/// The packets that arrived before the card's first request waited for us: in the socket, while the threads started, or
/// for a card that had not begun to play. Their age is not the network's delay, and nobody expected their audio. So
/// playout begins with the packet that is as old as the target delay. The beginning of a talkspurt is kept.
///
/// The first packets do not show the network's jitter yet. So a talk that is joined in the middle begins 40 ms after the
/// fastest packet. Nobody waits for its first word.
struct JoinedTalk: BitwiseCopyable, Sendable {
    /// Whether no talkspurt has begun yet.
    private(set) var isPending = true
    /// The end of the newest packet that waited, in the talker's time; nil if none has.
    private var waitedEnd: FrameCount?
    /// The end of the newest packet, in the talker's time; nil before the first packet.
    private var newestEnd: FrameCount?
    /// The position of the packet that starts the present talkspurt; nil if it has not arrived, or if every packet has the
    /// marker of a first one.
    private var talkspurtStart: FrameCount?
    /// Whether a packet has arrived that did not wait in the socket, and shows the network's delay.
    private var showsNetwork = false

    /// The time after the card's first request for which playout waits for a packet that did not wait in the socket: 100
    /// ms.
    private static var longestWait: FrameCount { FrameCount(4_800) }
    /// The longest audio from before the target delay that is kept because a talkspurt begins with it: 150 ms, which a
    /// station sends from before its key was pressed.
    private static var longestPreRoll: FrameCount { FrameCount(7_200) }
    /// The longest audio from before the wanted position with which playout begins: 10 ms. A packet that begins earlier is
    /// dropped, and playout begins with the next one.
    private static var longestExcess: FrameCount { FrameCount(480) }
    /// The delay, in addition to that of the fastest packet, with which a talk that is joined begins: 40 ms.
    static var reserve: FrameCount { @_noAllocation @_noLocks get { FrameCount(1_920) } }

    @_noAllocation @_noLocks
    init() {}

    /// Whether packets have waited and no talkspurt has begun yet.
    var hasWaitingPackets: Bool { @_noAllocation @_noLocks get { isPending && waitedEnd != nil } }

    /// Records an original packet that begins at `start` in the talker's time and arrived at the position `arrival`. The
    /// card's first request has the position 0.
    @_noAllocation @_noLocks
    mutating func insert(_ packet: PacketInfo, start: FrameCount, arrivedAt arrival: FrameCount) {
        guard isPending else { return }
        let end = start + packet.frameCount
        if packet.hasWaited || arrival < .zero { waitedEnd = max(waitedEnd ?? end, end) }
        if !packet.hasWaited { showsNetwork = true }
        // A marker without a pause before it starts nothing.
        if packet.startsTalkspurt {
            if let newestEnd, start <= newestEnd { talkspurtStart = nil } else { talkspurtStart = start }
        }
        newestEnd = max(newestEnd ?? end, end)
    }

    /// Whether only packets that waited in the socket have arrived, and playout does not begin yet, when the card requests
    /// the position `now`.
    @_noAllocation @_noLocks
    func awaitsNetwork(at now: FrameCount) -> Bool { hasWaitingPackets && !showsNetwork && now < Self.longestWait }

    /// Returns the position of the start of the present talkspurt, if it is kept when audio is due from `due` on; nil if a
    /// talk is joined in the middle.
    @_noAllocation @_noLocks
    func keptStart(due: FrameCount) -> FrameCount? {
        guard let talkspurtStart, due - talkspurtStart <= Self.longestPreRoll else { return nil }
        return talkspurtStart
    }

    /// Returns whether `packet` waited and is dropped, if playout is to begin with the position `wanted`.
    @_noAllocation @_noLocks
    func drops(_ packet: PacketQueue.Entry, wanting wanted: FrameCount) -> Bool {
        guard isPending, let waitedEnd else { return false }
        return packet.end <= waitedEnd && packet.start + Self.longestExcess < wanted
    }

    /// Records that a talkspurt begins.
    @_noAllocation @_noLocks
    mutating func begin() { isPending = false }
}
