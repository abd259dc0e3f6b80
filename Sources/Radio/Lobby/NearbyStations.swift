public import TenfourAudioCore
internal import TenfourCall
internal import TenfourChannelKeys
public import TenfourDNSSD
public import TenfourSession

/// Gives the stations nearby digits, and probes those that have one.
///
/// Opens no socket and reads no clock. After each input, take datagrams until nil, then sleep until `nextDeadline`.
public struct NearbyStations: Sendable {
    private let offer: StationText.Accepted
    private let ownPort: UInt16
    private var entries: [Entry] = []
    /// Digits of stations that have gone, which no other station gets before this time: a person may be about to press
    /// them.
    private var resting: [Int: Instant] = [:]
    private var unlistedCount = 0
    private var generator: CSPRNG

    fileprivate struct Entry: Sendable {
        var service: FoundService
        var digit: Int?
        var endpoint: Endpoint
        var reachability = NearbyStation.Reachability.unknown
        var probes: [StationProbe] = []
        /// The time at which the next probes begin; nil if the station is not probed.
        var nextRound: Instant?
        var pause = firstPause
    }

    public static let digitCount = 9
    static let restTime = Duration.seconds(2)
    /// The time from the beginning of a probe to that of the next. It doubles with each probe that is not answered, so
    /// that an address that somebody announces to do it harm gets little.
    static let firstPause = Duration.seconds(5)
    static let longestPause = Duration.seconds(20)
    /// The number of a station's addresses that are probed.
    private static let probedEndpointCount = 2

    /// - `offer`: lists stations that accept this, and for calls also those that announce neither calls nor pairing.
    /// - `ownPort`: the port of this station, which is not listed.
    /// - `generator`: must be unpredictable, outside tests.
    public init(
        offering offer: StationText.Accepted, ownPort: UInt16, using generator: inout some RandomNumberGenerator
    ) {
        self.offer = offer
        self.ownPort = ownPort
        self.generator = CSPRNG(using: &generator)
    }

    public var list: NearbyList {
        var list = NearbyList()
        list.stations = entries.compactMap(\.station).sorted { $0.digit < $1.digit }
        list.otherCount = entries.count - list.stations.count + unlistedCount
        return list
    }

    /// Returns the endpoints that the station at this endpoint has announced; empty if none has announced it.
    func endpoints(ofStationAt endpoint: Endpoint) -> [Endpoint] {
        entries.first { $0.service.endpoints.contains(endpoint) }?.service.endpoints ?? []
    }

    /// The browser has found these services, in the order in which they appeared, and `hiddenCount` more.
    public mutating func update(_ services: [FoundService], hiddenCount: Int, at now: Instant) {
        let wanted = services.filter(isOffered)
        unlistedCount = hiddenCount
        for entry in entries where !wanted.contains(where: { $0.id == entry.service.id }) {
            if let digit = entry.digit { resting[digit] = now + Self.restTime }
        }
        entries = wanted.map { service in
            guard var entry = entries.first(where: { $0.service.id == service.id }) else {
                return Entry(service: service, endpoint: service.endpoints[0])
            }
            if entry.service.endpoints != service.endpoints {
                entry.nextRound = entry.nextRound.map { _ in now }
                entry.probes = []
                if !service.endpoints.contains(entry.endpoint) { entry.endpoint = service.endpoints[0] }
            }
            entry.service = service
            return entry
        }
        giveDigits(at: now)
        timeElapsed(at: now)
    }

    private func isOffered(_ service: FoundService) -> Bool {
        guard let first = service.endpoints.first, !(service.isOnThisMachine && first.port == ownPort) else {
            return false
        }
        return service.text.accepts.contains(offer) || offer == .calls && service.text.accepts.isEmpty
    }

    private mutating func giveDigits(at now: Instant) {
        resting = resting.filter { $0.value > now }
        var free = (1...Self.digitCount).filter { digit in
            resting[digit] == nil && !entries.contains { $0.digit == digit }
        }
        for index in entries.indices where entries[index].digit == nil && !free.isEmpty {
            entries[index].digit = free.removeFirst()
            // A station that announces neither knows no probes.
            if !entries[index].service.text.accepts.isEmpty { entries[index].nextRound = now }
        }
    }

    // MARK: Probes

    public var nextDeadline: Instant? {
        let isWaiting = entries.contains { $0.digit == nil }
        let probes = entries.flatMap { [$0.nextRound] + $0.probes.map(\.nextDeadline) }.compactMap { $0 }
        return (probes + (isWaiting ? Array(resting.values) : [])).min()
    }

    /// Must be called at `nextDeadline`; an earlier call does nothing.
    public mutating func timeElapsed(at now: Instant) {
        giveDigits(at: now)
        for index in entries.indices {
            guard let due = entries[index].nextRound, due <= now else { continue }
            entries[index].nextRound = now + entries[index].pause
            entries[index].probes = []
            for endpoint in entries[index].service.endpoints.prefix(Self.probedEndpointCount) {
                entries[index].probes.append(StationProbe(endpoint, at: now, using: &generator))
            }
        }
    }

    /// Probes all stations anew, after a time in which nothing was sent or received.
    public mutating func restart(at now: Instant) {
        for index in entries.indices where entries[index].nextRound != nil {
            entries[index].probes = []
            entries[index].pause = Self.firstPause
            entries[index].nextRound = now
        }
        timeElapsed(at: now)
    }

    /// Receives any datagram. Ignores what is no reply to a probe.
    public mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        for index in entries.indices {
            for place in entries[index].probes.indices where entries[index].probes[place].endpoint == sender {
                entries[index].probes[place].receive(datagram, from: sender, at: now)
                guard case .answered(let time, _) = entries[index].probes[place].outcome else { continue }
                entries[index].endpoint = sender
                entries[index].reachability = .answers(after: time)
                entries[index].pause = Self.firstPause
                entries[index].probes = []
                break
            }
        }
    }

    /// Appends the next probe, 88 bytes, and returns where it goes; nil if none is due.
    public mutating func nextDatagram(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Endpoint? {
        for index in entries.indices where !entries[index].probes.isEmpty {
            for place in entries[index].probes.indices {
                let isDue = entries[index].probes[place].nextDatagram(into: &buffer, at: now)
                if isDue { return entries[index].probes[place].endpoint }
            }
            guard entries[index].probes.allSatisfy({ $0.outcome == .unanswered }) else { continue }
            entries[index].probes = []
            entries[index].reachability = .unreachable
            entries[index].pause = min(entries[index].pause * 2, Self.longestPause)
        }
        return nil
    }
}

extension NearbyStations.Entry {
    fileprivate var station: NearbyStation? {
        digit.map {
            NearbyStation(
                id: service.id, digit: $0, name: service.name, host: service.host, endpoint: endpoint,
                takesCalls: service.text.accepts.contains(.calls), reachability: reachability)
        }
    }
}
