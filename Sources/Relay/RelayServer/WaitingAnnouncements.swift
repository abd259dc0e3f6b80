internal import TenfourChannelKeys
internal import TenfourRelayCore

/// Delays repeated announcements by a few milliseconds, so that the media packet that follows an announcement is
/// forwarded before it. The first announcement of an epoch is not delayed.
struct WaitingAnnouncements {
    private var waiting: [Waiting] = []
    /// The bytes of the waiting announcements, one after the other. This array and `waiting` keep their capacity.
    private var bytes: [UInt8] = []
    /// The last two epochs of each talker. There may be two, because a talker also announces its next epoch near the
    /// end of an epoch.
    private var known: [MemberID: (Epoch, Epoch?)] = [:]

    private struct Waiting {
        var start: Int
        var end: Int
        var channel: ChannelIndex
        var talker: MemberID
    }

    /// The delay of a repeated announcement: long enough for the following media packet to arrive and to be forwarded
    /// to many members.
    static let wait = Duration.milliseconds(5)

    var isEmpty: Bool { waiting.isEmpty }

    /// Stores a repeated announcement. Returns false for the first announcement of an epoch, which must be sent
    /// immediately.
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

    /// Removes all announcements and passes them to `send` in the order of their arrival.
    mutating func removeAll(_ send: (Span<UInt8>, _ channel: ChannelIndex, _ talker: MemberID) -> Void) {
        // Iterates by index, because iterating over the array itself would retain it, so that `removeAll` would copy
        // it.
        for index in waiting.indices {
            let entry = waiting[index]
            send(bytes.span.extracting(entry.start..<entry.end), entry.channel, entry.talker)
        }
        waiting.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Removes the announcements and epochs of a talker that has left, because the talker's number may be reused.
    mutating func forget(_ talker: MemberID) {
        known[talker] = nil
        waiting.removeAll { $0.talker == talker }
    }
}
