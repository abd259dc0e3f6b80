public import TenfourAudioCore
public import TenfourChannelKeys
public import TenfourManagedChannel
internal import TenfourPacing

/// The direct ways of one member to the others of a managed channel, at most three (Protocol/15-direct.md). Opens no socket and
/// reads no clock.
///
/// After each input, call `poll`, take records, datagrams and events until nil, then sleep until `nextDeadline`. Send the records
/// before further media, because the relay must know to whom it forwards. Media goes by the relay until `mediaRoute` says
/// otherwise.
public struct DirectWay: Sendable {
    public struct Event: Hashable, Sendable {
        /// The member to whom media goes by another way than before.
        public let index: UInt16
        public let route: DirectRoute
    }

    private let identity: MemberIdentity
    public let index: UInt16
    private let channelID: UInt128
    /// The random number of this run. With it no key is used in two runs.
    private let salt: UInt128
    private var offerCounter: UInt64 = 0
    /// Whether this member's user allows direct ways.
    public private(set) var isAllowed = true
    private var isJoined = false
    private var view: PeerAddress?
    private var local: [PeerAddress] = []
    private var relays: [PeerAddress] = []
    private var pairs: [UInt16: DirectPair] = [:]
    private var networks: [UInt16: UInt8] = [:]
    private var output = DirectOutput()
    private var activity = MediaActivity()
    private var offers: [UInt16: Offer] = [:]
    private var offerRate = TokenBucket(perSecond: 1, most: 8)
    private var report = LimitedMediaReport()
    private var routes: [UInt16: DirectRoute] = [:]
    /// Addresses of members whose direct way has just ended: packets are still on their way.
    private var formerSources: [(address: PeerAddress, index: UInt16, until: Instant)] = []
    private var events: [Event] = []

    /// The sending of this member's candidates to another one.
    private struct Offer {
        var due: Instant
        var count = 0
    }

    private static let offerPauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]
    private static let maximumEventCount = 64
    private static let formerSourceDuration: Duration = .seconds(2)
    private static let maximumFormerSourceCount = 16

    /// `index` is the member's in the roster. `generator` must be unpredictable: the system's generator, outside tests.
    public init(
        _ identity: MemberIdentity, index: UInt16, channelID: UInt128, using generator: inout some RandomNumberGenerator
    ) {
        self.identity = identity
        self.index = index
        self.channelID = channelID
        salt = UInt128(generator.next()) << 64 | UInt128(generator.next())
    }

    // MARK: - Input

    /// The relay has welcomed the member.
    public mutating func joined(at now: Instant) {
        isJoined = true
        report.joined(at: now)
    }

    /// The session has ended. Direct ways go on.
    public mutating func left() { isJoined = false }

    /// Sets the addresses at which this member may be reached: `view` as the relay sees it, and at most eight of `local`; those
    /// to which nobody may send are left out. Also the addresses of the relay, to which no probe is sent.
    public mutating func update(view: PeerAddress, local: [PeerAddress], relays: [PeerAddress], at now: Instant) {
        guard view != self.view || local != self.local || relays != self.relays else { return }
        (self.view, self.local, self.relays) = (view, local, relays)
        for index in pairs.keys {
            pairs[index]?.offerChanged()
            offers[index] = Offer(due: now)
            updateTargets(index, at: now)
        }
    }

    /// Ends the permission of this member's user, for this run.
    public mutating func withdraw(at now: Instant) {
        guard isAllowed else { return }
        isAllowed = false
        for index in pairs.keys {
            pairs[index]?.close()
            offers[index] = Offer(due: now)
        }
        updateRoutes(at: now)
    }

    /// Takes the list of those who allow a direct way. `key` returns the key of a member in the roster.
    public mutating func receive(_ members: DirectMembers, at now: Instant, key: (UInt16) -> IdentityKey?) {
        report.answered()
        let isPermitted =
            isAllowed && members.isPermission && members.members.contains { $0.index == index }
        let others = isPermitted ? members.members.filter { $0.index != index } : []
        for index in pairs.keys where !others.contains(where: { $0.index == index }) {
            remove(index, at: now)
        }
        networks = Dictionary(members.members.map { ($0.index, $0.network) }, uniquingKeysWith: { first, _ in first })
        for other in others {
            if pairs[other.index] == nil {
                guard let key = key(other.index),
                    let keys = PairKeys(identity, index, with: key, other.index, channelID: channelID)
                else { continue }
                pairs[other.index] = DirectPair(keys)
                offers[other.index] = Offer(due: now)
            }
            updateTargets(other.index, at: now)
        }
        updateRoutes(at: now)
    }

    public mutating func receive(_ candidates: SealedCandidates, at now: Instant) {
        let index = candidates.index
        guard isAllowed, pairs[index] != nil else { return output.discard(.notAMember) }
        do throws(DirectRefusal) {
            if try pairs[index]?.receive(candidates, ownSalt: salt) ?? false { offers[index] = Offer(due: now) }
        } catch {
            return output.discard(error.reason)
        }
        updateTargets(index, isCounted: true, at: now)
        updateRoutes(at: now)
    }

    /// Takes a datagram that begins like a probe (`DirectProbe.begins`).
    public mutating func receive(probe datagram: Span<UInt8>, from source: PeerAddress, at now: Instant) {
        guard let probe = try? DirectProbe(parsing: datagram) else { return output.discard(.malformed) }
        guard isAllowed, probe.receiver == index, pairs[probe.sender] != nil else {
            return output.discard(.notAMember)
        }
        let judge = judge(of: probe.sender)
        let otherView = pairs[probe.sender]?.list?.view
        let isAllowed = { (address: PeerAddress) in
            guard let judge, let otherView else { return false }
            return judge.verdict(on: address, otherView: otherView) == .used
        }
        pairs[probe.sender]?.receive(probe, from: source, isAllowed: isAllowed, at: now, &output)
        updateRoutes(at: now)
    }

    /// The member from which media may come from `source`. Counts a stranger if there is none. The receiver must still decrypt
    /// the packet, and its replay window plays no packet twice.
    public mutating func sender(at source: PeerAddress, at now: Instant) -> UInt16? {
        if let found = pairs.first(where: { $0.value.hears(source, at: now) }) { return found.key }
        if let former = formerSources.first(where: { $0.address == source && now < $0.until }) { return former.index }
        output.discard(.stranger)
        return nil
    }

    /// Records that a packet from `source` was decrypted, and is the member's.
    public mutating func mediaReceived(from index: UInt16, at source: PeerAddress, _ now: Instant) {
        pairs[index]?.mediaReceived(from: source, at: now)
        activity.report(at: now)
    }

    /// Records that this member sends media, or expects some.
    public mutating func mediaActive(at now: Instant) { activity.report(at: now) }

    /// The network has reported that `address` cannot be reached (ICMP).
    public mutating func unreachable(_ address: PeerAddress, at now: Instant) {
        for index in pairs.keys { pairs[index]?.unreachable(address, at: now) }
        updateRoutes(at: now)
    }

    /// Does what is due.
    public mutating func poll(at now: Instant, using generator: inout some RandomNumberGenerator) {
        for index in pairs.keys.sorted() { pairs[index]?.poll(activity, at: now, using: &generator, &output) }
        updateRoutes(at: now)
    }

    // MARK: - Output

    /// The content of the next record for the relay.
    public mutating func nextRecord(at now: Instant) -> [UInt8]? {
        guard isJoined else { return nil }
        if let limited = report.next(isAllowed: isAllowed, at: now) { return limited.bytes }
        for index in offers.keys.sorted() {
            guard let offer = offers[index], now >= offer.due, let pair = pairs[index] else { continue }
            guard let own = ownOffer, !pair.isConfirmed || !isAllowed else {
                offers[index] = nil
                continue
            }
            guard offerRate.spend(1, at: now) else { return nil }
            offers[index] =
                offer.count < Self.offerPauses.count
                ? Offer(due: now + Self.offerPauses[offer.count], count: offer.count + 1) : nil
            offerCounter += 1
            return pair.sealed(own, counter: offerCounter, salt: salt).bytes
        }
        return nil
    }

    public mutating func nextDatagram() -> (address: PeerAddress, bytes: [UInt8])? { output.nextDatagram() }

    public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    /// The way of media to a member.
    public func route(to index: UInt16) -> DirectRoute { pairs[index]?.route ?? .relay }

    /// The addresses to which each packet of this member goes, and whether it goes by the relay, too.
    public var mediaRoute: (usesRelay: Bool, addresses: [PeerAddress]) {
        let routes = pairs.values.map(\.route)
        let usesRelay =
            routes.isEmpty
            || routes.contains { route in
                if case .direct = route { false } else { true }
            }
        return (usesRelay, routes.compactMap(\.address))
    }

    /// The number of things that were ignored, by reason.
    public var discards: [DirectDiscard: UInt64] { output.discards }

    /// The moment at which `poll` and `nextRecord` have something to do; `now` is the present one.
    public func nextDeadline(at now: Instant) -> Instant? {
        var deadlines = pairs.values.map { $0.deadline(activity, nextProbe: output.nextProbe, at: now) }
        if isJoined {
            deadlines.append(report.due)
            // Without a token the next offer waits for one, which comes each second.
            if let due = offers.values.map(\.due).min() {
                deadlines.append(offerRate.left < 1 ? max(due, now + .milliseconds(100)) : due)
            }
        }
        return deadlines.compactMap(\.self).min()
    }

    // MARK: - Candidates

    /// This member's candidates; nil while its address is not known.
    private var ownOffer: CandidateOffer? {
        guard isAllowed else { return .withdrawn }
        guard let view else { return nil }
        let usable = ([view] + local).filter { AddressReach($0) != .forbidden && $0.port >= CandidateJudge.lowestPort }
        let addresses = usable.filter { $0 != view }.prefix(CandidateList.maximumCount)
        return CandidateList(view: view, addresses.isEmpty ? [view] : Array(addresses)).map { .offered($0) }
    }

    private mutating func remove(_ index: UInt16, at now: Instant) {
        let end = now + Self.formerSourceDuration
        let sources = pairs[index]?.sources.map { ($0.address, index, min($0.until, end)) } ?? []
        formerSources = (formerSources.filter { now < $0.until } + sources).suffix(Self.maximumFormerSourceCount)
        pairs[index] = nil
        offers[index] = nil
    }

    private func judge(of other: UInt16) -> CandidateJudge? {
        guard let view else { return nil }
        let isShared = networks[index] != nil && networks[index] == networks[other]
        return CandidateJudge(view: view, relays: relays, sharesNetwork: isShared)
    }

    /// Judges the candidates of a member anew. Refused ones are counted when they come, and not each time.
    private mutating func updateTargets(_ index: UInt16, isCounted: Bool = false, at now: Instant) {
        guard isAllowed, let list = pairs[index]?.list, let judge = judge(of: index) else { return }
        var targets: [PeerAddress] = []
        for address in [list.view] + list.addresses where !targets.contains(address) {
            switch judge.verdict(on: address, otherView: list.view) {
            case .used: targets.append(address)
            case .elsewhere: if isCounted { output.discard(.candidateElsewhere) }
            case .forbidden: if isCounted { output.discard(.forbiddenCandidate) }
            }
        }
        // In a common network the way through its router is the longer one.
        let isNear = { AddressReach($0) == .local }
        pairs[index]?.setTargets(targets.filter(isNear) + targets.filter { !isNear($0) }, at: now)
    }

    private mutating func updateRoutes(at now: Instant) {
        for index in Set(routes.keys).union(pairs.keys).sorted() {
            let route = route(to: index)
            guard route != routes[index] ?? .relay else { continue }
            routes[index] = route == .relay ? nil : route
            if events.count < Self.maximumEventCount { events.append(Event(index: index, route: route)) }
        }
        let direct = routes.compactMap { index, route in if case .direct = route { index } else { nil } }
        report.update(direct.sorted(), isAllowed: isAllowed, at: now)
    }
}
