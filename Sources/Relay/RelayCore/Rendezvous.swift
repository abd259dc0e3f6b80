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
    let initiator: Endpoint
    /// The number of the run that the initiator has begun last.
    var run: UInt64
    /// The pass as it is sent to the responder.
    let pass: RendezvousMessage
    let began: Instant
    /// The time of the last MEET, or of the last message that was passed on.
    private var latest: Instant
    private var end: Instant
    private var byteCount = 0

    static let longestTime = Duration.seconds(60)
    static let silence = Duration.seconds(10)
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
    mutating func repeated(run: UInt64, at now: Instant) {
        self.run = run
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

    /// Counts a message that is passed on. Returns false if there have been too many bytes; the rendezvous then ends.
    mutating func pass(_ message: PairingMessage, _ datagram: Span<UInt8>, at now: Instant) -> Bool {
        guard byteCount + datagram.count <= Self.maximumByteCount else {
            end = now
            return false
        }
        byteCount += datagram.count
        latest = now
        if message.kind == .receipt || message.refusesAll(datagram) { end = min(end, now + Self.afterwards) }
        return true
    }
}

/// The rendezvous that are in progress, 32 at the most. Each needs a pass, which costs the relay two X25519 operations.
///
/// If all are taken, a newcomer takes the place of one that began at least 2 s ago: first the newest of the network with
/// the most initiators, then the oldest of all. A run takes less than 2 s.
struct RendezvousTable: Sendable {
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

    /// Returns the index of the rendezvous of the initiator at `endpoint` with the station under `number`.
    func index(_ number: RendezvousNumber, of endpoint: Endpoint, at now: Instant) -> Int? {
        entries.firstIndex { $0.number == number && $0.initiator == endpoint && $0.passes(at: now) }
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

    /// Whether the station with this share takes part in a rendezvous.
    func isBusy(_ station: SharePoint, at now: Instant) -> Bool {
        entries.contains { $0.station == station && !$0.hasEnded(at: now) }
    }

    /// The station with this share now receives at `endpoint`.
    mutating func move(_ station: SharePoint, to endpoint: Endpoint) {
        for index in entries.indices where entries[index].station == station { entries[index].responder = endpoint }
    }

    /// Whether there is room for one more, or a rendezvous that an initiator from `address` may take the place of;
    /// removes the latter.
    mutating func makeRoom(for address: IPAddress, at now: Instant) -> Bool {
        entries.removeAll { $0.hasEnded(at: now) }
        guard entries.count >= Self.maximumCount else { return true }
        guard let index = newestOfLargestNetwork(for: address, at: now) ?? oldest(for: address, at: now) else {
            return false
        }
        entries.remove(at: index)
        return true
    }

    mutating func begin(_ rendezvous: Rendezvous) {
        entries.append(rendezvous)
        _ = turns.spend(rendezvous.initiator.address, at: rendezvous.began)
    }

    private func newestOfLargestNetwork(for address: IPAddress, at now: Instant) -> Int? {
        var networks = NetworkShares()
        for entry in entries { networks.add(entry.initiator.address, isListener: true) }
        guard networks.mayDisplace(from: address) else { return nil }
        return entries.lastIndex {
            mayMakeRoom($0, at: now)
                && networks.memberCount(near: $0.initiator.address) == networks.mostListeners
        }
    }

    private func oldest(for address: IPAddress, at now: Instant) -> Int? {
        guard turns.allows(address, at: now) else { return nil }
        return entries.firstIndex { mayMakeRoom($0, at: now) }
    }

    private func mayMakeRoom(_ entry: Rendezvous, at now: Instant) -> Bool {
        now - entry.began >= Rendezvous.shortestTime
    }
}
