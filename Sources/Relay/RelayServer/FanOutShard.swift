internal import TenfourChannelKeys
internal import TenfourSession
internal import TenfourUV

/// The fan-out of one sending thread: sends the packets of all channels to the members assigned to this thread.
struct FanOutShard {
    private let backlog: Backlog
    private let trailers = MemberTrailers()
    private var fanOuts: [Int: FanOut] = [:]

    init(sending socket: UDPSocket, on loop: EventLoop) throws(NetworkError) {
        backlog = try Backlog(of: socket, on: loop, trailers: trailers)
    }

    mutating func apply(_ change: MemberChange) {
        switch change {
        case .add(let member, let channel, let endpoint, let key):
            trailers.set(key, for: member)
            fanOut(channel).add(member, at: endpoint, endsInTrailer: key != nil)
        case .move(let member, let channel, let endpoint): fanOuts[channel]?.move(member, to: endpoint)
        case .remove(let member, let channel):
            fanOuts[channel]?.remove(member)
            trailers.set(nil, for: member)
        case .end(let channel): fanOuts.removeValue(forKey: channel)?.removeAll()
        }
    }

    private mutating func fanOut(_ channel: Int) -> FanOut {
        if let fanOut = fanOuts[channel] { return fanOut }
        let fanOut = FanOut(sharing: backlog)
        fanOuts[channel] = fanOut
        return fanOut
    }

    func send(_ datagram: Span<UInt8>, channel: Int, stream: Int, except: Int?) {
        fanOuts[channel]?.send(datagram, stream: stream, except: except)
    }

    func statistics(of channel: Int) -> FanOutStatistics { fanOuts[channel]?.statistics ?? FanOutStatistics() }

    var statistics: [Int: FanOutStatistics] { fanOuts.mapValues(\.statistics) }

    func close() { backlog.close() }
}

/// A change of the members to which packets are sent.
enum MemberChange: Sendable {
    /// `trailers` is the key of the trailers of the member's packets; nil if they have none.
    case add(member: Int, channel: Int, Endpoint, trailers: TrailerKey?)
    case move(member: Int, channel: Int, Endpoint)
    case remove(member: Int, channel: Int)
    /// The channel was removed.
    case end(channel: Int)
}
