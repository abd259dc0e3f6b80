internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourPairing
internal import TenfourSession

/// The places of the stations that wait for somebody to name their number (Protocol/11-pairing.md). A station is known
/// by its share of X25519, which only it and the path to it know.
///
/// There are 2048 places, four for a host at the most. If all are taken, hosts without a place get one from hosts with
/// several, and then networks share the places. So each of 2047 hosts keeps a place, whatever the others do.
struct WaitingPlaces: Sendable {
    private var places: [SharePoint: Place] = [:]
    private var shares: [RendezvousNumber: SharePoint] = [:]
    /// The hosts and networks of the places.
    private var shared = SharedPlaces<SharePoint>()
    /// Limits the new places of each host.
    private var newPlaces: AddressLimits
    /// The time at which places that have ended are removed next; nil if there are no places.
    private(set) var deadline: Instant?

    struct Place: Sendable {
        let number: RendezvousNumber
        let share: SharePoint
        fileprivate(set) var endpoint: Endpoint
        fileprivate let began: Instant
        /// The time of the station's last PLACE.
        fileprivate var refreshed: Instant
        /// The numbers of rendezvous, and of runs in which it had a guess, of each host with this station.
        fileprivate var visits: [UInt64: (meetings: Int, runs: Int)] = [:]

        func meetingCount(of address: IPAddress) -> Int { visits[address.hostPrefix]?.meetings ?? 0 }

        func runCount(of address: IPAddress) -> Int { visits[address.hostPrefix]?.runs ?? 0 }

        fileprivate func hasEnded(at now: Instant) -> Bool {
            now - refreshed >= WaitingPlaces.silence || now - began >= WaitingPlaces.longestTime
        }
    }

    static let maximumCount = 2_048
    static let maximumCountOfHost = 4
    /// A place ends if its station sends no PLACE for this long.
    static let silence = Duration.seconds(30)
    static let longestTime = Duration.seconds(300)
    /// The maximum number of runs of one host with one station that may cost a guess. So a host that hits on a number costs
    /// the station one set of words; the station then shows others, under another number.
    static let maximumRunCount = PairingResponder.guessCountAtRelay
    private static let newPlacePrice = CellRateLimit.Price(perSecond: 0.2, most: 4)
    private static let sweepInterval = Duration.seconds(1)

    init(using generator: inout CSPRNG) {
        newPlaces = AddressLimits(
            Self.newPlacePrice, rowCount: RendezvousLimits.rowCount, seed: generator.next())
    }

    var count: Int { places.count }

    /// Returns the place with this number; nil if nobody waits under it.
    func place(_ number: RendezvousNumber, at now: Instant) -> Place? {
        guard let share = shares[number], let place = places[share], !place.hasEnded(at: now) else { return nil }
        return place
    }

    /// Handles a PLACE of the station with `share`, which receives at `endpoint`. A station that has a place keeps it and
    /// its number, also at another endpoint.
    mutating func wait(
        _ share: SharePoint, at endpoint: Endpoint, _ now: Instant, using generator: inout CSPRNG
    ) -> RendezvousMessage.PlaceAnswer {
        if let place = places[share], place.hasEnded(at: now) { remove(place) }
        guard var place = places[share] else { return begin(share, at: endpoint, now, using: &generator) }
        if place.endpoint != endpoint {
            let (former, address) = (place.endpoint.address, endpoint.address)
            // A place that stays with its host keeps its age among the others.
            if former.hostPrefix != address.hostPrefix {
                guard shared.count(ofHost: address) < Self.maximumCountOfHost else { return .refused(.tooMany) }
                shared.remove(share, at: former)
                shared.add(share, at: address)
            }
            place.endpoint = endpoint
        }
        place.refreshed = now
        places[share] = place
        return answer(place, at: now)
    }

    private mutating func begin(
        _ share: SharePoint, at endpoint: Endpoint, _ now: Instant, using generator: inout CSPRNG
    ) -> RendezvousMessage.PlaceAnswer {
        let address = endpoint.address
        guard shared.count(ofHost: address) < Self.maximumCountOfHost, newPlaces.allows(address, at: now) else {
            return .refused(.tooMany)
        }
        guard makeRoom(for: address) else { return .refused(.full) }
        _ = newPlaces.spend(address, at: now)
        var number = RendezvousNumber(using: &generator)
        while shares[number] != nil { number = RendezvousNumber(using: &generator) }
        let place = Place(number: number, share: share, endpoint: endpoint, began: now, refreshed: now)
        places[share] = place
        shares[number] = share
        shared.add(share, at: address)
        if deadline == nil { deadline = now + Self.sweepInterval }
        return answer(place, at: now)
    }

    private func answer(_ place: Place, at now: Instant) -> RendezvousMessage.PlaceAnswer {
        .number(place.number, seconds: UInt16((Self.longestTime - (now - place.began)).components.seconds))
    }

    /// Counts a rendezvous of a host with the station at `place`.
    mutating func countMeeting(of address: IPAddress, with place: Place) {
        places[place.share]?.visits[address.hostPrefix, default: (0, 0)].meetings += 1
    }

    /// Counts a run of a host with the station that waits under `number`, as soon as it may cost a guess.
    mutating func countRun(of address: IPAddress, with number: RendezvousNumber) {
        guard let share = shares[number] else { return }
        places[share]?.visits[address.hostPrefix, default: (0, 0)].runs += 1
    }

    /// Handles a LEAVE of the station with `share`. Returns false, and changes nothing, if the station with this share
    /// receives elsewhere than at `endpoint`.
    mutating func leave(_ share: SharePoint, from endpoint: Endpoint) -> Bool {
        // One that is unknown has left: LEAVE is repeated.
        guard let place = places[share] else { return true }
        guard place.endpoint == endpoint else { return false }
        remove(place)
        return true
    }

    /// Removes a place, whose number is then unknown.
    mutating func remove(_ place: Place) {
        guard let place = places.removeValue(forKey: place.share) else { return }
        shares[place.number] = nil
        shared.remove(place.share, at: place.endpoint.address)
    }

    /// Must be called at `deadline`; an earlier call does nothing.
    mutating func timeElapsed(at now: Instant) {
        guard let due = deadline, due <= now else { return }
        for place in places.values.filter({ $0.hasEnded(at: now) }) { remove(place) }
        deadline = places.isEmpty ? nil : now + Self.sweepInterval
    }

    /// Whether there is a free place, or one that a newcomer from `address` may take from others; removes the latter.
    private mutating func makeRoom(for address: IPAddress) -> Bool {
        if places.count < Self.maximumCount { return true }
        guard let displaced = shared.yielding(to: address).flatMap({ places[$0] }) else { return false }
        remove(displaced)
        return true
    }
}
