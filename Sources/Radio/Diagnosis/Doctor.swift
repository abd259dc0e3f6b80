internal import TenfourAudioCore
internal import TenfourCall
public import TenfourChannelKeys
internal import TenfourDNSSD
internal import TenfourRadio
internal import TenfourSession
internal import TenfourSoundCard
internal import TenfourSystem
internal import TenfourUV

/// Gathers the facts for all checks, side by side.
public struct Doctor: Sendable {
    public var subject: Subject
    /// The name of the sound card.
    public var device = "default"
    /// The UDP port on which this station is called.
    public var port: UInt16 = 5004
    /// The version of this program, such as `0.5`.
    public var version: String
    /// The folder for recordings.
    public var recordings: String
    public var machine = Machine()
    /// The X25519 pair of this user's identity, for a channel that has an owner; nil if there is none.
    public var identity: KeyShare?
    /// Whether the clock counts as synchronised; nil asks the kernel.
    public var isClockRight: Bool?

    /// The time after which the facts that are there are judged.
    static let limit = Duration.milliseconds(5_000)
    /// The time in which a name is looked up.
    private static let lookupLimit = Duration.seconds(3)
    /// The time in which stations nearby are found before they are probed.
    private static let browseTime = Duration.milliseconds(1_300)
    /// The largest number of stations nearby that are probed.
    private static let maximumProbeCount = 16

    public init(_ subject: Subject, version: String, recordings: String) {
        self.subject = subject
        self.version = version
        self.recordings = recordings
    }

    /// Gathers all facts and judges them. Returns after 5 s at most. What did not end by then ends with the process.
    public func examine() -> Diagnosis {
        let board = Board()
        for work in parts {
            board.begin()
            do throws(ThreadError) {
                try WorkerThread.detached {
                    work(board)
                    board.end()
                }
            } catch {
                board.end()
            }
        }
        return Diagnosis(of: facts(board.wait(until: .now + Self.limit)))
    }

    /// The parts that run side by side; each writes what it knows.
    private var parts: [@Sendable (Board) -> Void] {
        [
            { board in
                let sound = SoundFacts.gathered(device, on: machine)
                board.write { $0.facts.sound = sound }
            },
            { board in
                let outcome = RealTime.request(priority: Self.audioPriority)
                board.write { $0.facts.realTime = RealTimeFacts(outcome) }
            },
            { board in
                let clock = ClockFacts(on: machine, isSynchronised: isClockRight ?? RealTimeClock.isSet)
                let (network, files) = (NetworkFacts.gathered(on: machine), FileFacts.gathered(recordings))
                board.write {
                    $0.facts.clock = clock
                    $0.facts.network = network
                    $0.facts.files = files
                }
            },
            { board in
                let firewall = FirewallFacts.gathered(port: port, on: machine)
                board.write { $0.facts.firewall = firewall }
            },
            { board in browse(board) },
            { board in askOtherEnds(board) },
        ]
    }

    /// The priority that audio threads ask for.
    private static let audioPriority = 50

    /// Joins what several parts know.
    private func facts(_ gathered: Gathered) -> Facts {
        var facts = gathered.facts
        facts.subject = subject
        facts.packages = PackageManager(on: machine)
        facts.clock?.comparisons = gathered.comparisons
        facts.network?.pathMTU = gathered.pathMTU
        facts.firewall?.ownArrives = gathered.ownArrives
        if let endpoint = facts.otherEnd?.endpoint {
            let station = facts.nearby?.stations.first {
                $0.endpoints.contains { $0.address == endpoint.address && $0.port == endpoint.port }
            }
            facts.otherEnd?.announcedVersion = station?.version
        }
        return facts
    }

    // MARK: - Stations nearby

    private func browse(_ board: Board) {
        let address = machine.environment["DBUS_SYSTEM_BUS_ADDRESS"]
        guard let browser = try? ServiceBrowser(busAddress: address) else { return }
        defer { browser.stop() }
        pause(Self.browseTime)
        let snapshot = browser.snapshot
        let others = snapshot.services.filter { !$0.isOnThisMachine }.prefix(Self.maximumProbeCount)
        let answers = probe(others.compactMap(\.endpoints.first))
        let stations = others.map { service in
            NearbyFacts.Station(
                name: service.name, version: service.text.version, endpoints: service.endpoints,
                answered: service.endpoints.first.flatMap { answers[$0] })
        }
        board.write {
            $0.facts.nearby = NearbyFacts(state: snapshot.state, stations: stations, ownVersion: version)
        }
    }

    /// The round trips of the stations that answer.
    private func probe(_ endpoints: [Endpoint]) -> [Endpoint: Duration] {
        guard !endpoints.isEmpty, let loop = try? ExchangeLoop(port: 0) else { return [:] }
        var generator = CSPRNG()
        loop.probes = endpoints.map { StationProbe($0, at: loop.now, using: &generator) }
        try? loop.run()
        var answers: [Endpoint: Duration] = [:]
        for probe in loop.probes {
            if case .answered(let time, _) = probe.outcome { answers[probe.endpoint] = time }
        }
        return answers
    }

    // MARK: - Other ends

    private func askOtherEnds(_ board: Board) {
        let start = ContinuousClock.now
        let lookups = lookUp()
        board.write { $0.facts.names = NameFacts(on: machine).with(lookups) }
        var exchange: ExchangeLoop?
        if !subject.usesRelay {
            do throws(NetworkError) {
                exchange = try ExchangeLoop(port: port)
                board.write { $0.facts.port = PortFacts(port: port, state: .free) }
            } catch {
                board.write { $0.facts.port = PortFacts(port: port, state: .failed(error)) }
            }
        }
        guard let exchange = exchange ?? (try? ExchangeLoop(port: 0)) else { return }
        let limit = Self.limit - .milliseconds(200) - (.now - start)
        exchange.sendToOwnAddress()
        let relays = prepare(exchange, lookups, within: limit)
        if let endpoint = exchange.station?.endpoint, endpoint.port == exchange.port, endpoint.address.isLocal {
            exchange.station = nil
            board.write {
                $0.facts.otherEnd = OtherEndFacts(endpoint: endpoint, answer: .itself, ownVersion: version)
            }
        }
        try? exchange.run()
        report(exchange, relays, board)
    }

    /// Looks all hosts up, one after the other, in three seconds together.
    private func lookUp() -> [NameFacts.Lookup] {
        let results = Locked<[String: Result<[Endpoint], NetworkError>]>([:])
        guard let done = try? WakeupPipe() else { return [] }
        let hosts = subject.hosts
        _ = try? WorkerThread.detached {
            for host in hosts {
                var result: Result<[Endpoint], NetworkError>
                do throws(NetworkError) {
                    result = .success(try Resolver.resolve(host.host, port: host.port))
                } catch {
                    result = .failure(error)
                }
                results.withLock { $0["\(host)"] = result }
            }
            done.signal()
        }
        if !hosts.isEmpty { done.wait(atMost: Int32(Self.lookupLimit / .milliseconds(1))) }
        let found = results.withLock { $0 }
        return hosts.map { host in
            let outcome: NameFacts.Outcome =
                switch found["\(host)"] {
                case .success(let endpoints): .found(endpoints)
                case .failure(let error): .failed(error)
                case nil: .slow
                }
            return NameFacts.Lookup(name: host.host, outcome: outcome)
        }
    }

    /// Sets up the exchanges. Returns the relays that were looked up, with the index of their exchange.
    private func prepare(
        _ exchange: ExchangeLoop, _ lookups: [NameFacts.Lookup], within limit: Duration
    ) -> [(host: RelayHost, index: Int?)] {
        var generator = CSPRNG()
        switch subject {
        case .none: return []
        case .station:
            guard case .found(let endpoints)? = lookups.first?.outcome, let endpoint = endpoints.first else {
                return []
            }
            exchange.station = StationExchange(
                endpoint, wallClock: exchange.wallClockAtStart, within: min(limit, StationExchange.limit),
                at: exchange.now, using: &generator)
            return []
        case .channel(let link, let keys):
            let key = keys.talkJoin ?? keys.listenJoin
            return zip(link.relays, lookups).map { host, lookup in
                guard case .found(let endpoints) = lookup.outcome, let endpoint = endpoints.first else {
                    return (host, nil)
                }
                exchange.relays.append(
                    RelayExchange(
                        endpoint, relay: host.id, key: key,
                        expecting: link.fingerprint.map { ExpectedRelay($0, of: keys) }, as: identity,
                        within: min(limit, .milliseconds(2_500)), at: exchange.now, using: &generator))
                return (host, exchange.relays.count - 1)
            }
        }
    }

    private func report(_ exchange: ExchangeLoop, _ relays: [(host: RelayHost, index: Int?)], _ board: Board) {
        let words = { (code: Int32) in NetworkError.text(for: code) }
        var comparisons: [ClockFacts.Comparison] = []
        var otherEnd: OtherEndFacts?
        var mtu: Int?
        if let endpoint = exchange.station?.endpoint, let answer = exchange.station?.answer(words) {
            otherEnd = OtherEndFacts(endpoint: endpoint, answer: answer, ownVersion: version)
            mtu = endpoint.pathMTU
            if let difference = exchange.station?.difference, case .plainRTP = answer {
                comparisons.append(.init(other: "\(endpoint)", difference: difference))
            }
        }
        let (channel, mayTalk) =
            if case .channel(let link, let keys) = subject {
                (link.name, keys.talkJoin != nil)
            } else {
                ("", false)
            }
        let facts = relays.map { host, index in
            guard let index else {
                return RelayFacts(host: host, endpoint: nil, answer: .notFound, channel: channel, mayTalk: mayTalk)
            }
            let relay = exchange.relays[index]
            if case .welcome(_, let difference, _) = relay.outcome {
                comparisons.append(.init(other: "\(host)", difference: difference))
            }
            mtu = mtu ?? relay.endpoint.pathMTU
            return RelayFacts(
                host: host, endpoint: relay.endpoint, answer: relay.answer(words), channel: channel, mayTalk: mayTalk)
        }
        board.write { [comparisons, otherEnd, mtu] in
            if let otherEnd { $0.facts.otherEnd = otherEnd }
            $0.facts.relays = facts
            $0.comparisons = comparisons
            $0.pathMTU = mtu
            $0.ownArrives = exchange.ownArrives
        }
    }
}

extension NameFacts {
    fileprivate func with(_ lookups: [Lookup]) -> NameFacts {
        var facts = self
        facts.lookups = lookups
        return facts
    }
}
