internal import TenfourChannelKeys
internal import TenfourRelayCore

/// Announcements that tell listeners nothing new: they wait until the packet that they came with is out, which would be late
/// behind them. Epochs that were not announced before do not wait.
struct WaitingAnnouncements {
    private var waiting: [Waiting] = []
    /// Theirs, one behind the other. Both keep their memory.
    private var bytes: [UInt8] = []
    /// The last two of each talker: while one comes to its end, the next is announced beside it.
    private var known: [MemberID: (Epoch, Epoch?)] = [:]

    private struct Waiting {
        var start: Int
        var end: Int
        var channel: ChannelIndex
        var talker: MemberID
    }

    /// How long they wait: for the packet behind them to come, and go out to many.
    static let wait = Duration.milliseconds(5)

    var isEmpty: Bool { waiting.isEmpty }

    /// Keeps an announcement that can wait. Returns false for the first one of an epoch.
    mutating func insert(
        _ datagram: Span<UInt8>, of epoch: Epoch, channel: ChannelIndex, talker: MemberID
    ) -> Bool {
        guard let (last, before) = known[talker], epoch == last || epoch == before else {
            known[talker] = (epoch, known[talker]?.0)
            return false
        }
        let start = bytes.count
        for index in datagram.indices { bytes.append(datagram[index]) }
        waiting.append(Waiting(start: start, end: bytes.count, channel: channel, talker: talker))
        return true
    }

    /// Removes all announcements and passes them to `send`, first in, first out.
    mutating func removeAll(_ send: (Span<UInt8>, _ channel: ChannelIndex, _ talker: MemberID) -> Void) {
        // One that is walked over is held, and could not be emptied in its place.
        for index in waiting.indices {
            let entry = waiting[index]
            send(bytes.span.extracting(entry.start..<entry.end), entry.channel, entry.talker)
        }
        waiting.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    /// The talker's number may be another's from now on.
    mutating func forget(_ talker: MemberID) {
        known[talker] = nil
        waiting.removeAll { $0.talker == talker }
    }
}
