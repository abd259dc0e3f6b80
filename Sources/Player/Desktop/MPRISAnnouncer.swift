internal import TenfourAudioCore
internal import TenfourDBus

/// Decides which signals are due: `PropertiesChanged` for properties that have changed, and `Seeked` when the position
/// differs from what clients believe. Sends nothing and reads no clock.
struct MPRISAnnouncer {
    enum Announcement: Equatable {
        case changed([String: BusValue])
        /// The new position.
        case sought(Duration)
    }

    /// The position that clients believe, and when they learned it.
    fileprivate struct Belief {
        var position: Duration
        var moment: Instant
        var item: String?
        /// Seconds of the item per second of time.
        var rate: Double

        func position(at now: Instant) -> Duration { position + (now - moment) * rate }
    }

    private var told: [String: BusValue]?
    private var belief: Belief?
    private var lastAnnouncement: Instant?
    /// Until then a small difference counts, because a client has sought.
    private var closeUntil = Instant.start

    /// The shortest time between two rounds of signals.
    static let interval = Duration.milliseconds(100)
    /// The largest difference that is not announced. Stalls of the machine and estimates of the position stay below it.
    private static let tolerance = Duration.milliseconds(250)
    /// The same for the second after a client has sought.
    private static let closeTolerance = Duration.milliseconds(50)

    /// A client has moved the position.
    mutating func sought(at now: Instant) { closeUntil = now + .seconds(1) }

    /// Returns the signals that are due at `now`, the moment at which `state` was read. The first call returns none.
    mutating func announcements(of state: RemoteState, at now: Instant) -> [Announcement] {
        if let lastAnnouncement, now - lastAnnouncement < Self.interval { return [] }
        let properties = MPRISProperties.announced(state)
        guard let told else {
            self.told = properties
            belief = Belief(state, at: now)
            return []
        }
        var announcements: [Announcement] = []
        let changed = properties.filter { told[$0.key] != $0.value }
        if !changed.isEmpty {
            announcements.append(.changed(changed))
            self.told = properties
        }
        if let position = soughtPosition(state, at: now) { announcements.append(.sought(position)) }
        if !announcements.isEmpty { lastAnnouncement = now }
        return announcements
    }

    /// Returns the position if it differs from what clients believe; nil otherwise.
    private mutating func soughtPosition(_ state: RemoteState, at now: Instant) -> Duration? {
        // While playback waits for audio, the position does not say yet where it continues.
        guard !state.isBuffering, var belief else { return nil }
        let new = Belief(state, at: now)
        if belief.item != new.item {
            // Clients assume that a new item begins at its start.
            belief = Belief(position: .zero, moment: now, item: new.item, rate: new.rate)
        } else if belief.rate != new.rate {
            belief = Belief(position: belief.position(at: now), moment: now, item: new.item, rate: new.rate)
        }
        self.belief = belief
        let difference = new.position - belief.position(at: now)
        let tolerance = now < closeUntil ? Self.closeTolerance : Self.tolerance
        guard difference > tolerance || difference < .zero - tolerance else { return nil }
        self.belief = new
        return new.position
    }
}

extension MPRISAnnouncer.Belief {
    fileprivate init(_ state: RemoteState, at now: Instant) {
        self.init(
            position: state.position, moment: now, item: state.item?.id,
            rate: state.status == .playing ? state.rate : 0)
    }
}
