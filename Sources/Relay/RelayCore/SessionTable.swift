internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourPacing
internal import TenfourSession

/// The session of one member in a channel.
struct MemberSession: Sendable {
    var endpoint: Endpoint
    /// The time at which the session ends, unless the member renews its lease before that time.
    var deadline: Instant
    var records = CellRateLimit()
    /// Limits retransmissions to the member, relative to the packets that its channel has forwarded.
    var retransmits = CellRateLimit()
    /// Limits how often the relay answers the reference times in the member's reports (RFC 3611 section 4.4).
    var echoes = CellRateLimit()
    var channel: ChannelIndex
    /// Whether the member has sent HEARING, and so knows the records about who hears whom. Older members count records that
    /// they do not know as not decrypted.
    var statesHearing = false
    /// The raw value of `talker`; negative for a member that only listens.
    private var talkerNumber: Int32 = -1
    /// The member number of the session with the next earlier deadline in the same queue; negative if there is none.
    fileprivate var earlier: Int32 = -1
    /// The member number of the session with the next later deadline in the same queue; negative if there is none. In a
    /// free slot of the table, the number of the next free slot.
    fileprivate var later: Int32 = -1
    /// The number of the next newer member of the same channel; negative if there is none.
    fileprivate var ahead: Int32 = -1
    /// The number of the next older member of the same channel; negative if there is none.
    fileprivate var behind: Int32 = -1
    /// The slot of the member's info in `Relay.infos`; negative if the member has sent no info.
    var info: Int32 = -1
    var role: Role
    var state = State.free
    /// Whether the member has subscribed to roster updates.
    var wantsRoster = false
    /// Whether the roster has an entry for the member. A member without an entry is only counted.
    var isListed = false

    /// The member's index in the `TalkerRegistry`; nil for a member that only listens.
    var talker: TalkerIndex? {
        get { talkerNumber >= 0 ? TalkerIndex(Int(talkerNumber)) : nil }
        set { talkerNumber = newValue?.rawValue ?? -1 }
    }

    enum State: UInt8, Sendable {
        case free
        /// The relay has sent WELCOME, and has received no record of the session yet.
        case waiting
        case joined
    }

    init(endpoint: Endpoint, channel: ChannelIndex, role: Role, deadline: Instant) {
        self.endpoint = endpoint
        self.channel = channel
        self.role = role
        self.deadline = deadline
    }
}

/// The table of all sessions. Finds sessions by session id, transport address and channel, and the session that expires
/// next. Member numbers begin at 0, and are reused.
///
/// A listener costs a relay 346 bytes in all: 224 for its keys, 88 in this table, 12 in the table of addresses, and for
/// at least one minute the entry of its cookie in `SpentCookies`. A member that has joined by JOIN2 costs 24 bytes more for
/// its trailers, and a member with an info 112.
struct SessionTable: ~Copyable, Sendable {
    private var sessions: [MemberSession] = []
    var keys = SessionKeyTable()
    /// The trailers of the datagrams that the relay itself repeats to a member.
    private var trailers = TrailerTable(.repeated)
    private var endpoints: EndpointTable
    /// The members' indexes in the rosters of channels with an owner, by member number.
    private var rosterIndexes: [UInt16] = []
    private var firstFree: Int32 = -1
    private(set) var count = 0
    /// The number of sessions that have sent their first record.
    private(set) var joinedCount = 0
    /// For each host prefix, the number of sessions that have not sent their first record.
    private var waitingCounts: [UInt64: Int] = [:]
    private let mask: UInt64
    /// The sessions that wait for their first record, ordered by deadline. A new session is appended at the end,
    /// because the time from the start of a session to this deadline is always the same.
    private var waiting = Queue()
    /// The joined sessions, ordered by deadline. A renewal always grants the same time, so a renewed session moves to
    /// the end.
    private var joined = Queue()
    /// The newest member of each channel, by channel index; negative if the channel has no member.
    private var firsts: [Int32] = []

    private struct Queue: Sendable {
        var first: Int32 = -1
        var last: Int32 = -1
    }

    static let numberBitCount: UInt64 = 24

    init(using generator: inout some RandomNumberGenerator) {
        endpoints = EndpointTable(using: &generator)
        mask = generator.next()
    }

    subscript(_ member: MemberID) -> MemberSession {
        _read { yield sessions[member.number] }
        _modify { yield &sessions[member.number] }
    }

    // The functions below run for each packet. They avoid the subscript, because it is a coroutine, and calling it may
    // allocate memory.
    func talker(of member: MemberID) -> TalkerIndex? { sessions[member.number].talker }
    func channel(of member: MemberID) -> ChannelIndex { sessions[member.number].channel }
    func endpoint(of member: MemberID) -> Endpoint { sessions[member.number].endpoint }
    func state(of member: MemberID) -> MemberSession.State { sessions[member.number].state }

    /// Generates a session id for the next session to be inserted. It has 40 random bits, and the 24-bit number of the
    /// session's member XOR a hash of the random bits.
    func draw(_ generator: inout some RandomNumberGenerator) -> UInt64 {
        let random = generator.next() >> Self.numberBitCount
        return random << Self.numberBitCount | UInt64(next.number) ^ hiding(random)
    }

    private var next: MemberID { MemberID(firstFree >= 0 ? Int(firstFree) : sessions.count) }

    private func hiding(_ random: UInt64) -> UInt64 { folded(random ^ mask, mask | 1) >> (64 - Self.numberBitCount) }

    /// Returns the member with a session id; nil if there is none.
    func member(of session: UInt64) -> MemberID? {
        let number = (session ^ hiding(session >> Self.numberBitCount)) & (1 << Self.numberBitCount - 1)
        guard number < sessions.count, sessions[Int(number)].state != .free, keys.session(Int(number)) == session else {
            return nil
        }
        return MemberID(Int(number))
    }

    /// Inserts a session in state `waiting` and returns its member. The session id of `keys` must be the latest id that
    /// `draw` has returned.
    mutating func insert(_ session: MemberSession, _ keys: SessionKeys) -> MemberID {
        let member = next
        var session = session
        session.state = .waiting
        if firstFree >= 0 {
            firstFree = self[member].later
            self[member] = session
        } else {
            sessions.append(session)
        }
        self.keys.insert(keys, at: member.number)
        if let key = keys.trailerKey { trailers.insert(key, at: member.number) }
        endpoints.insert(member, at: session.endpoint)
        waitingCounts[session.endpoint.address.hostPrefix, default: 0] += 1
        count += 1
        append(member)
        enter(member)
        return member
    }

    mutating func remove(_ member: MemberID) {
        unlink(member)
        exit(member)
        endpoints.remove(member, at: self[member].endpoint)
        keys.remove(member.number)
        trailers.remove(member.number)
        if self[member].state == .joined { joinedCount -= 1 } else { waitsNoLonger(member) }
        self[member].state = .free
        self[member].later = firstFree
        firstFree = member.rawValue
        count -= 1
    }

    /// Marks a session as joined, at its first record or a renewal, and sets its deadline.
    mutating func renew(_ member: MemberID, until deadline: Instant) {
        unlink(member)
        if self[member].state == .waiting {
            joinedCount += 1
            waitsNoLonger(member)
        }
        self[member].state = .joined
        self[member].deadline = deadline
        append(member)
    }

    /// The member's index in the roster of its channel; any number in a channel without an owner.
    func rosterIndex(of member: MemberID) -> UInt16 {
        rosterIndexes.indices.contains(member.number) ? rosterIndexes[member.number] : 0
    }

    mutating func setRosterIndex(_ index: UInt16, of member: MemberID) {
        while rosterIndexes.count <= member.number { rosterIndexes.append(0) }
        rosterIndexes[member.number] = index
    }

    func hasTrailers(_ member: MemberID) -> Bool { trailers.contains(member.number) }

    /// The key of a member's trailers; nil if its datagrams have none.
    func trailerKey(of member: MemberID) -> TrailerKey? { trailers.key(member.number) }

    /// Appends the trailer of `packet` for a member whose datagrams have one, and counts it as sent.
    mutating func appendTrailer(of packet: Span<UInt8>, for member: MemberID, to datagram: inout OutputSpan<UInt8>) {
        guard trailers.contains(member.number) else { return }
        trailers.write(for: PacketHash(of: packet), to: member.number, into: &datagram)
        trailers.used(member.number)
    }

    /// The number of sessions at an address's host that have not sent their first record.
    func waitingCount(at address: IPAddress) -> Int { waitingCounts[address.hostPrefix] ?? 0 }

    private mutating func waitsNoLonger(_ member: MemberID) {
        let host = self[member].endpoint.address.hostPrefix
        let count = waitingCount(at: self[member].endpoint.address) - 1
        waitingCounts[host] = count > 0 ? count : nil
    }

    mutating func move(_ member: MemberID, to endpoint: Endpoint) {
        endpoints.remove(member, at: self[member].endpoint)
        self[member].endpoint = endpoint
        endpoints.insert(member, at: endpoint)
    }

    /// The session with the earliest deadline; nil if there is none.
    var nextToExpire: MemberID? {
        let candidates = (waiting.first, joined.first)
        if candidates.0 < 0 { return candidates.1 < 0 ? nil : MemberID(Int(candidates.1)) }
        guard candidates.1 >= 0 else { return MemberID(Int(candidates.0)) }
        let isWaitingFirst = sessions[Int(candidates.0)].deadline < sessions[Int(candidates.1)].deadline
        return MemberID(Int(isWaitingFirst ? candidates.0 : candidates.1))
    }

    /// Starts an iteration over the sessions at a transport address.
    func search(_ endpoint: Endpoint) -> EndpointTable.Search { endpoints.search(endpoint) }

    func next(_ search: inout EndpointTable.Search, at endpoint: Endpoint) -> MemberID? {
        while let member = endpoints.next(&search) {
            if self[member].endpoint == endpoint { return member }
        }
        return nil
    }

    /// Returns the newest member of a channel; `next(behind:)` returns the older members of the same channel.
    func first(in channel: ChannelIndex) -> MemberID? {
        channel.number < firsts.count && firsts[channel.number] >= 0 ? MemberID(Int(firsts[channel.number])) : nil
    }

    func next(behind member: MemberID) -> MemberID? {
        self[member].behind >= 0 ? MemberID(Int(self[member].behind)) : nil
    }

    private mutating func enter(_ member: MemberID) {
        let channel = self[member].channel.number
        while firsts.count <= channel { firsts.append(-1) }
        let first = firsts[channel]
        self[member].ahead = -1
        self[member].behind = first
        if first >= 0 { sessions[Int(first)].ahead = member.rawValue }
        firsts[channel] = member.rawValue
    }

    private mutating func exit(_ member: MemberID) {
        let (ahead, behind) = (self[member].ahead, self[member].behind)
        if behind >= 0 { sessions[Int(behind)].ahead = ahead }
        if ahead >= 0 { sessions[Int(ahead)].behind = behind } else { firsts[self[member].channel.number] = behind }
    }

    private mutating func append(_ member: MemberID) {
        let isWaiting = self[member].state == .waiting
        let last = isWaiting ? waiting.last : joined.last
        self[member].earlier = last
        self[member].later = -1
        if last >= 0 { sessions[Int(last)].later = member.rawValue }
        if isWaiting {
            waiting.last = member.rawValue
            if last < 0 { waiting.first = member.rawValue }
        } else {
            joined.last = member.rawValue
            if last < 0 { joined.first = member.rawValue }
        }
    }

    private mutating func unlink(_ member: MemberID) {
        let (earlier, later) = (self[member].earlier, self[member].later)
        if earlier >= 0 { sessions[Int(earlier)].later = later }
        if later >= 0 { sessions[Int(later)].earlier = earlier }
        if waiting.first == member.rawValue { waiting.first = later }
        if waiting.last == member.rawValue { waiting.last = earlier }
        if joined.first == member.rawValue { joined.first = later }
        if joined.last == member.rawValue { joined.last = earlier }
    }
}
