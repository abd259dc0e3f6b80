internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPairing
internal import TenfourSession

/// Two stations whose messages of pairing the relay passes on: one waits under a number, and the other has named it.
struct Rendezvous: Sendable {
    /// The share of the station that waits. It stands for the station, also if its endpoint changes.
    let station: SharePoint
    let number: RendezvousNumber
    fileprivate(set) var responder: Endpoint
    private(set) var initiator: Endpoint
    /// The number of the run that the initiator has begun last.
    private(set) var run: UInt64
    /// Whether a CONFIRMATION of this run was passed on, which may cost a guess. A responder forgets a run, so that a
    /// further SHARE with the same number would begin one more.
    private(set) var isConfirmed = false
    /// The pass as it is sent to the responder.
    let pass: RendezvousMessage
    let began: Instant
    /// The time of the last MEET, or of the last message that was passed on.
    private var latest: Instant
    private var end: Instant
    private var byteCount = 0

    static let longestTime = Duration.seconds(60)
    static let silence = Duration.seconds(10)
    /// A rendezvous of this age ends for another host that has met the station less often. It is the time that a responder
    /// allows for a run.
    static let turn = Duration.seconds(10)
    static let maximumByteCount = 4_096
    /// The time for which repeated messages are passed on behind RECEIPT or a refusal of all words.
    static let afterwards = Duration.seconds(2)
    /// A rendezvous keeps its place for at least this long. So the relay makes at most sixteen passes in a second.
    static let shortestTime = Duration.seconds(2)

    init(
        _ place: WaitingPlaces.Place, with initiator: Endpoint, run: UInt64, pass: RendezvousMessage, at now: Instant
    ) {
        station = place.share
        number = place.number
        responder = place.endpoint
        self.initiator = initiator
        self.run = run
        self.pass = pass
        began = now
        latest = now
        end = now + Self.longestTime
    }

    /// The initiator has sent MEET again, perhaps for a new run.
    mutating func repeated(run: UInt64, from initiator: Endpoint, at now: Instant) {
        if run != self.run { isConfirmed = false }
        self.run = run
        self.initiator = initiator
        latest = now
    }

    func passes(at now: Instant) -> Bool { now < min(end, latest + Self.silence) }

    func hasEnded(at now: Instant) -> Bool { !passes(at: now) && now >= began + Self.shortestTime }

    /// Returns the endpoint to which a message of pairing from `sender` goes; nil if it is not one of this rendezvous.
    func destination(of message: PairingMessage, from sender: Endpoint) -> Endpoint? {
        guard message.initiator == run else { return nil }
        switch message.kind {
        case .hello, .share, .confirmation, .receipt: return sender == initiator ? responder : nil
        case .challenge, .shareReply, .link, .refusal: return sender == responder ? initiator : nil
        }
    }

    /// Counts a message that is passed on. Returns false if there have been too many bytes, which ends the rendezvous, and
    /// for a SHARE after the run's CONFIRMATION.
    mutating func pass(_ message: PairingMessage, _ datagram: Span<UInt8>, at now: Instant) -> Bool {
        if message.kind == .share, isConfirmed { return false }
        guard byteCount + datagram.count <= Self.maximumByteCount else {
            end = now
            return false
        }
        byteCount += datagram.count
        latest = now
        if message.kind == .confirmation { isConfirmed = true }
        if message.kind == .receipt || message.refusesAll(datagram) { end = min(end, now + Self.afterwards) }
        return true
    }
}

/// The rendezvous that are in progress, 32 at the most. Each needs a pass, which costs the relay two X25519 operations.
///
/// If all are taken, a newcomer takes the place of one that began at least 2 s ago: first the newest of the network with
/// the most initiators, then the oldest of this network, or of all if each network has one. A run takes less than 2 s.
struct RendezvousTable: Sendable {
    /// The place in the table of a new rendezvous.
    enum Room: Equatable {
        case free
        /// That of the rendezvous with this index, which ends.
        case instead(of: Int)
    }

    /// In the order in which they began.
    private var entries: [Rendezvous] = []
    /// Limits how often a host may take the place of the oldest rendezvous: once for each time that its turn comes.
    private var turns: AddressLimits

    static let maximumCount = 32
    private static let turnPrice = CellRateLimit.Price(perSecond: 1.0 / 120, most: 1)

    init(using generator: inout CSPRNG) {
        turns = AddressLimits(Self.turnPrice, rowCount: RendezvousLimits.rowCount, seed: generator.next())
    }

    subscript(index: Int) -> Rendezvous {
        get { entries[index] }
        set { entries[index] = newValue }
    }

    /// Returns the index of the rendezvous of the initiator at `endpoint` with the station under `number`. If the initiator
    /// is at another endpoint of its host, because its router has changed the port, it must name the same run.
    func index(_ number: RendezvousNumber, run: UInt64, of endpoint: Endpoint, at now: Instant) -> Int? {
        entries.firstIndex {
            $0.number == number && $0.passes(at: now)
                && ($0.initiator == endpoint
                    || $0.run == run && $0.initiator.address.hostPrefix == endpoint.address.hostPrefix)
        }
    }

    /// Returns the index of the rendezvous to which a message of pairing belongs, and the endpoint to which it goes.
    func route(
        _ message: PairingMessage, from sender: Endpoint, at now: Instant
    ) -> (index: Int, destination: Endpoint)? {
        for index in entries.indices where entries[index].passes(at: now) {
            if let destination = entries[index].destination(of: message, from: sender) { return (index, destination) }
        }
        return nil
    }

    /// The station with this share now receives at `endpoint`.
    mutating func move(_ station: SharePoint, to endpoint: Endpoint) {
        for index in entries.indices where entries[index].station == station { entries[index].responder = endpoint }
    }

    /// Returns the room for a rendezvous of an initiator from `address` with the station at `place`; nil if it has to wait.
    /// Nobody gives way before `begin`.
    mutating func room(for address: IPAddress, at place: WaitingPlaces.Place, _ now: Instant) -> Room? {
        entries.removeAll { $0.hasEnded(at: now) }
        if let index = entries.firstIndex(where: { $0.station == place.share }) {
            return endsForAnother(entries[index], address, at: place, now) ? .instead(of: index) : nil
        }
        guard entries.count >= Self.maximumCount else { return .free }
        // The first one is the oldest.
        guard let first = entries.first, mayMakeRoom(first, at: now) else { return nil }
        return yielding(to: address, at: now).map { .instead(of: $0) }
    }

    mutating func begin(_ rendezvous: Rendezvous, in room: Room) {
        if case .instead(of: let index) = room { entries.remove(at: index) }
        entries.append(rendezvous)
        spendTurn(of: rendezvous.initiator.address, at: rendezvous.began)
    }

    /// Lets the time begin anew until a host may take the place of the oldest rendezvous.
    mutating func spendTurn(of address: IPAddress, at now: Instant) {
        turns.giveBack(address)
        _ = turns.spend(address, at: now)
    }

    /// Whether the rendezvous of a station ends for an initiator from `address`. Otherwise somebody who knows the number could
    /// keep others from the station, by MEETs alone.
    private func endsForAnother(
        _ entry: Rendezvous, _ address: IPAddress, at place: WaitingPlaces.Place, _ now: Instant
    ) -> Bool {
        now - entry.began >= Rendezvous.turn
            && (entry.number != place.number
                || place.meetingCount(of: address) < place.meetingCount(of: entry.initiator.address))
    }

    private func yielding(to address: IPAddress, at now: Instant) -> Int? {
        var networks = AddressGroups<UInt64>()
        for entry in entries { networks.add(entry.run, to: entry.initiator.address.networkPrefix) }
        let isCandidate = { (entry: Rendezvous) in
            mayMakeRoom(entry, at: now)
                && (networks.mostCount < 2
                    || networks.count(of: entry.initiator.address.networkPrefix) == networks.mostCount)
        }
        if networks.yields(to: address.networkPrefix), let newest = entries.lastIndex(where: isCandidate) {
            return newest
        }
        return turns.allows(address, at: now) ? entries.firstIndex(where: isCandidate) : nil
    }

    private func mayMakeRoom(_ entry: Rendezvous, at now: Instant) -> Bool {
        now - entry.began >= Rendezvous.shortestTime
    }
}
