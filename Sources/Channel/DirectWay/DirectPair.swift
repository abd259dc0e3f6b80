internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing

/// The way to one other member: by the relay, or by an address that has proved itself.
struct DirectPair: Sendable {
    enum State: Hashable, Sendable {
        case relayed
        case probing(until: Instant)
        case direct(DirectPath)
    }

    private let keys: PairKeys
    private(set) var state = State.relayed
    private var run: PeerRun?
    /// The salts of runs that have ended, the latest last. Their candidates are refused.
    private var formerSalts: [UInt128] = []
    private(set) var list: CandidateList?
    private var targets: [PeerAddress] = []
    /// Probes that are to be sent, by time.
    private var schedule: [(due: Instant, address: PeerAddress)] = []
    /// Addresses from which a probe has come, and which are to be probed next.
    private var triggered: [PeerAddress] = []
    private var outstanding: [(number: UInt64, address: PeerAddress)] = []
    /// Addresses from which media may come, as authentic probes or echoes have come from there.
    private(set) var sources: [(address: PeerAddress, until: Instant)] = []
    private var retry: Instant?
    private var failureCount = 0
    private var directSince: Instant?
    private var checks = TokenBucket(perSecond: 50, most: 100)
    /// Whether the other member has shown, by a probe, that it has this member's candidates.
    private(set) var isConfirmed = false

    static let probingDuration: Duration = .seconds(5)
    /// Probes to an address, after the beginning of the first attempt. Further attempts have one each, so that the bounds leave
    /// some for an address that changes.
    private static let rounds: [Duration] = [.zero, .milliseconds(400), .milliseconds(1200)]
    /// If something came from the address within this time, the pair does not move from there.
    private static let movePause: Duration = .milliseconds(400)
    private static let maximumFormerSaltCount = 8
    private static let maximumOutstandingCount = 32
    private static let maximumSourceCount = 4
    private static let maximumTriggeredCount = 4
    private static let shortestRetryPause: Duration = .seconds(2)
    private static let maximumDoublings = 8
    private static let lastingDuration: Duration = .seconds(60)

    init(_ keys: PairKeys) { self.keys = keys }

    var route: DirectRoute {
        guard case .direct(let path) = state else { return .relay }
        return path.isWarm ? .relayAndDirect(path.address) : .direct(path.address)
    }

    /// Seals an offer of this member.
    func sealed(_ offer: CandidateOffer, counter: UInt64, salt: UInt128) -> SealedCandidates {
        SealedCandidates(offer, counter: counter, salt: salt, with: keys)
    }

    // MARK: - Candidates

    /// Takes candidates of the other member. Returns whether the other member may not have this member's candidates: it has
    /// begun a new run, or repeats its own although it has shown that it had them.
    mutating func receive(_ sealed: SealedCandidates, ownSalt: UInt128) throws(DirectRefusal) -> Bool {
        if let run, run.salt == sealed.salt {
            guard sealed.counter > run.candidateCounter else { throw DirectRefusal(.replayed) }
        } else if formerSalts.contains(sealed.salt) {
            throw DirectRefusal(.replayed)
        }
        let opened: CandidateOffer?
        do { opened = try sealed.opened(with: keys) } catch { throw DirectRefusal(.malformed) }
        guard let opened else { throw DirectRefusal(.forged) }
        let isNew = run?.salt != sealed.salt
        defer { isConfirmed = false }
        if isNew {
            if let run { formerSalts = (formerSalts + [run.salt]).suffix(Self.maximumFormerSaltCount) }
            run = PeerRun(sealed.salt, keys, ownSalt: ownSalt)
            close()
        }
        run?.candidateCounter = sealed.counter
        switch opened {
        case .withdrawn:
            list = nil
            close()
        case .offered(let offered): list = offered
        }
        return isNew || isConfirmed
    }

    /// Sets the addresses to probe, and begins to probe if they are not the former ones.
    mutating func setTargets(_ addresses: [PeerAddress], at now: Instant) {
        guard addresses != targets else { return }
        targets = addresses
        if case .direct = state { return }
        failureCount = 0
        probe(at: now)
    }

    /// Begins to repeat this member's candidates, because they have changed.
    mutating func offerChanged() { isConfirmed = false }

    /// Ends the direct way: the permission is withdrawn, or the other member has begun a new run. Packets that are on their way
    /// are still heard.
    mutating func close() {
        state = .relayed
        (targets, schedule, triggered, outstanding, retry) = ([], [], [], [], nil)
        isConfirmed = false
    }

    // MARK: - Datagrams

    /// Takes a probe, or an echo, that came from `source`.
    mutating func receive(
        _ probe: DirectProbe, from source: PeerAddress, isAllowed: (PeerAddress) -> Bool, at now: Instant,
        _ output: inout DirectOutput
    ) {
        guard run != nil, list != nil else { return output.discard(.notAMember) }
        guard checks.spend(1, at: now) else { return output.discard(.tooMany) }
        if let refusal = run?.refusal(of: probe) { return output.discard(refusal) }
        guard isAllowed(source) else { return output.discard(.forbiddenCandidate) }
        isConfirmed = true
        if probe.isEcho {
            receiveEcho(probe.number, from: source, at: now, &output)
        } else {
            receiveProbe(probe.number, from: source, at: now, &output)
        }
    }

    private mutating func receiveProbe(
        _ number: UInt64, from source: PeerAddress, at now: Instant, _ output: inout DirectOutput
    ) {
        remember(source, at: now)
        var isProved = false
        var isMove = true
        if case .direct(var path) = state {
            isProved = path.address == source
            isMove = !isProved && now - path.lastHeard >= Self.movePause
            if isProved {
                path.heard(at: now)
                state = .direct(path)
            }
        }
        guard let key = run?.sendKey else { return }
        if isProved || output.spend(.echo, to: source, of: keys.other, at: now) {
            output.send(number, isEcho: true, to: source, from: keys.own, to: keys.other, key: key)
        }
        guard isMove, !isProved, !triggered.contains(source), triggered.count < Self.maximumTriggeredCount else {
            return
        }
        triggered.append(source)
    }

    private mutating func receiveEcho(
        _ number: UInt64, from source: PeerAddress, at now: Instant, _ output: inout DirectOutput
    ) {
        guard let place = outstanding.firstIndex(where: { $0.number == number && $0.address == source }) else {
            return output.discard(.unexpectedEcho)
        }
        outstanding.remove(at: place)
        output.answered(source)
        remember(source, at: now)
        if case .direct(var path) = state {
            if path.address == source {
                path.echoed(at: now)
                state = .direct(path)
                return
            }
            guard now - path.lastHeard >= Self.movePause else { return }
        }
        state = .direct(DirectPath(source, at: now))
        directSince = directSince ?? now
        (schedule, triggered, retry) = ([], [], nil)
    }

    /// Records that media of the other member has come from `source`.
    mutating func mediaReceived(from source: PeerAddress, at now: Instant) {
        guard case .direct(var path) = state, path.address == source else { return }
        path.heard(at: now)
        state = .direct(path)
    }

    /// Whether media of the other member may come from `source`.
    func hears(_ source: PeerAddress, at now: Instant) -> Bool {
        sources.contains { $0.address == source && now < $0.until }
    }

    /// The network has reported that `address` cannot be reached.
    mutating func unreachable(_ address: PeerAddress, at now: Instant) {
        if case .direct(let path) = state, path.address == address { fall(at: now) }
    }

    private mutating func remember(_ source: PeerAddress, at now: Instant) {
        sources.removeAll { $0.address == source || now >= $0.until }
        if sources.count >= Self.maximumSourceCount { sources.removeFirst() }
        sources.append((source, now + DirectPath.consentDuration))
    }

    // MARK: - Time

    mutating func poll(
        _ activity: MediaActivity, at now: Instant, using generator: inout some RandomNumberGenerator,
        _ output: inout DirectOutput
    ) {
        if let retry, now >= retry { probe(at: now) }
        if case .probing(let until) = state, now >= until { fall(at: now) }
        if case .direct(var path) = state {
            if path.isLost(activity, at: now) {
                fall(at: now)
            } else {
                path.updateWarmth(at: now)
                let share = Double(generator.next() >> 11) * 0x1p-53
                if path.takeProbe(activity, share: share, at: now) {
                    send(to: path.address, using: &generator, &output)
                }
                state = .direct(path)
            }
        }
        sendProbes(at: now, using: &generator, &output)
    }

    /// Sends the next probe to an address that has not proved itself, if one is due.
    private mutating func sendProbes(
        at now: Instant, using generator: inout some RandomNumberGenerator, _ output: inout DirectOutput
    ) {
        while output.allowsProbe(at: now) {
            let address: PeerAddress
            let purpose: ProbeBudget.Purpose
            if let first = triggered.first {
                triggered.removeFirst()
                (address, purpose) = (first, .triggeredProbe)
            } else if let first = schedule.first, now >= first.due {
                schedule.removeFirst()
                (address, purpose) = (first.address, .scheduledProbe)
            } else {
                return
            }
            if output.spend(purpose, to: address, of: keys.other, at: now) {
                send(to: address, using: &generator, &output)
            }
        }
    }

    private mutating func send(
        to address: PeerAddress, using generator: inout some RandomNumberGenerator, _ output: inout DirectOutput
    ) {
        guard let key = run?.sendKey else { return }
        let number = generator.next() >> (64 - DirectProbe.numberBitCount)
        guard output.send(number, isEcho: false, to: address, from: keys.own, to: keys.other, key: key) else { return }
        if outstanding.count >= Self.maximumOutstandingCount { outstanding.removeFirst() }
        outstanding.append((number, address))
    }

    private mutating func probe(at now: Instant) {
        retry = nil
        guard run != nil, !targets.isEmpty else { return }
        state = .probing(until: now + Self.probingDuration)
        schedule = Self.rounds.prefix(failureCount == 0 ? Self.rounds.count : 1).flatMap { round in
            targets.enumerated().map { (now + round + DirectOutput.pause * $0.offset, $0.element) }
        }.sorted { $0.0 < $1.0 }
    }

    /// Goes back to the relay, and probes again after a pause, which doubles unless the direct way has lasted a minute.
    private mutating func fall(at now: Instant) {
        if let directSince, now - directSince >= Self.lastingDuration { failureCount = 0 }
        directSince = nil
        state = .relayed
        schedule = []
        retry = now + Self.shortestRetryPause * (1 << min(failureCount, Self.maximumDoublings))
        failureCount = min(failureCount + 1, Self.maximumDoublings)
    }

    func deadline(_ activity: MediaActivity, nextProbe: Instant?, at now: Instant) -> Instant? {
        var deadlines = [retry]
        switch state {
        case .relayed: break
        case .probing(let until): deadlines.append(until)
        case .direct(let path): deadlines.append(path.deadline(activity, at: now))
        }
        let next = triggered.isEmpty ? schedule.first?.due : now
        if let next { deadlines.append(nextProbe.map { max(next, $0) } ?? next) }
        return deadlines.compactMap(\.self).min()
    }
}

/// The reason why candidates are ignored.
struct DirectRefusal: Error, Hashable, Sendable {
    var reason: DirectDiscard

    init(_ reason: DirectDiscard) { self.reason = reason }
}

/// A run of the other member: the keys that hold as long as neither member has started anew.
private struct PeerRun: Sendable {
    let salt: UInt128
    var candidateCounter: UInt64 = 0
    let sendKey: SecretBytes
    private let receiveKey: SecretBytes
    private var window = ReplayWindow()

    init(_ salt: UInt128, _ keys: PairKeys, ownSalt: UInt128) {
        self.salt = salt
        sendKey = keys.probeKey(of: keys.own, salt: ownSalt, receiver: salt)
        receiveKey = keys.probeKey(of: keys.other, salt: salt, receiver: ownSalt)
    }

    /// The reason why a probe is ignored; nil for an authentic one, whose counter is then used.
    mutating func refusal(of probe: DirectProbe) -> DirectDiscard? {
        guard window.accepts(probe.counter) else { return .replayed }
        guard probe.isAuthentic(under: receiveKey) else { return .forged }
        window.insert(probe.counter)
        return nil
    }
}
