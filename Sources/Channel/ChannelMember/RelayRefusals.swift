public import TenfourChannelKeys

/// Counts our packets that the relays have refused to forward, over all our sessions.
struct RelayRefusals: Sendable {
    /// The counts of the sessions before this one.
    private var earlier = MediaRefusalCounts()
    /// The counts of this session, as its relay has reported them.
    private var current = MediaRefusalCounts()
    private var posted: Set<MediaRefusal> = []

    var counts: MediaRefusalCounts {
        var counts = earlier
        for reason in MediaRefusal.allCases { counts[reason] &+= current[reason] }
        return counts
    }

    mutating func sessionBegan() {
        earlier = counts
        current = MediaRefusalCounts()
    }

    /// Takes over what the relay reports. Counts that a late record states are lower, and change nothing.
    mutating func reported(_ counts: MediaRefusalCounts, _ events: inout ChannelEvents) {
        for reason in MediaRefusal.allCases { current[reason] = max(current[reason], counts[reason]) }
        let all = self.counts
        for reason in MediaRefusal.allCases where all[reason] >= reason.reportedCount {
            guard posted.insert(reason).inserted else { continue }
            events.post(.mediaRefused(reason, count: Int(all[reason])))
        }
    }
}

extension MediaRefusal {
    /// The number of datagrams from which the user learns of it. A few packets overtake their announcement, or are on the
    /// way when another member gets the floor.
    fileprivate var reportedCount: UInt32 {
        switch self {
        case .unannounced: 5
        case .floor: 25
        case .talkerRate, .channelRate, .takenSSRC, .tooManyTalkers, .tooManySSRCs: 1
        }
    }
}

extension Channel {
    /// The counts of our packets that the relays have refused to forward; zero with relays that do not report it.
    public var refusedByRelay: MediaRefusalCounts { relayRefusals.counts }
}
