internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// One member's place in a channel.
struct MemberSession: Sendable {
    var endpoint: Endpoint
    /// When it is forgotten, unless a record comes before.
    var deadline: Instant
    var records = CellRateLimit()
    /// Packets sent again, counted against those that its channel has forwarded.
    var retransmits = CellRateLimit()
    /// Clocks sent back.
    var echoes = CellRateLimit()
    var channel: Int32
    /// Its place among the talkers; negative for one who only listens.
    var talker: Int32 = -1
    /// Neighbours in the order of deadlines, or the next free place.
    fileprivate var earlier: Int32 = -1
    fileprivate var later: Int32 = -1
    /// Neighbours in its channel.
    fileprivate var ahead: Int32 = -1
    fileprivate var behind: Int32 = -1
    /// Where what it tells about itself is kept; negative for one who tells nothing.
    var info: Int32 = -1
    var role: Role
    var state = State.free
    /// Whether it is told who is there.
    var wantsRoster = false
    /// Whether it is listed for those who are told.
    var isListed = false

    enum State: UInt8, Sendable {
        case free
        /// Welcomed, and its first record has not come.
        case waiting
        case joined
    }

    init(endpoint: Endpoint, channel: Int, role: Role, deadline: Instant) {
        self.endpoint = endpoint
        self.channel = Int32(channel)
        self.role = role
        self.deadline = deadline
    }
}

/// All sessions: small dense numbers, found by session id, by address and by channel, forgotten in the order of their
/// deadlines.
///
/// A listener costs a relay 346 bytes in all: 224 for its keys, 88 here, 12 in the table of addresses, and for some minutes
/// what its cookie takes among those that were used. One that tells something about itself costs 112 more.
struct SessionTable: ~Copyable, Sendable {
    private var sessions: [MemberSession] = []
    var keys = SessionKeyTable()
    private var endpoints: EndpointTable
    private var firstFree: Int32 = -1
    private(set) var count = 0
    /// Those whose first record has come.
    private(set) var joinedCount = 0
    /// Of each host, those whose first record has not come.
    private var waitingCounts: [UInt64: Int] = [:]
    private let mask: UInt64
    /// Every deadline in a queue lies equally far ahead when it is set: a renewal goes to the end.
    private var waiting = Queue()
    private var joined = Queue()
    /// Of each channel, the one that came last.
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

    /// All numbers there are; some may be free.
    var indices: Range<Int> { sessions.indices }

    subscript(_ member: Int) -> MemberSession {
        _read { yield sessions[member] }
        _modify { yield &sessions[member] }
    }

    /// Draws an id for the session that takes the number `next`: 40 bits of chance, which hide the 24 bits of the number.
    func draw(_ generator: inout some RandomNumberGenerator) -> UInt64 {
        let random = generator.next() >> Self.numberBitCount
        return random << Self.numberBitCount | UInt64(next) ^ hiding(random)
    }

    private var next: Int { firstFree >= 0 ? Int(firstFree) : sessions.count }

    private func hiding(_ random: UInt64) -> UInt64 { folded(random ^ mask, mask | 1) >> (64 - Self.numberBitCount) }

    /// Whose session it is.
    func member(of session: UInt64) -> Int? {
        let number = (session ^ hiding(session >> Self.numberBitCount)) & (1 << Self.numberBitCount - 1)
        guard number < sessions.count, sessions[Int(number)].state != .free, keys.session(Int(number)) == session else {
            return nil
        }
        return Int(number)
    }

    /// `keys` are of a session whose id was just drawn.
    mutating func insert(_ session: MemberSession, _ keys: SessionKeys) -> Int {
        let member = next
        var session = session
        session.state = .waiting
        if firstFree >= 0 {
            firstFree = sessions[member].later
            sessions[member] = session
        } else {
            sessions.append(session)
        }
        self.keys.insert(keys, at: member)
        endpoints.insert(member, at: session.endpoint)
        waitingCounts[session.endpoint.address.hostPrefix, default: 0] += 1
        count += 1
        append(member)
        enter(member)
        return member
    }

    mutating func remove(_ member: Int) {
        unlink(member)
        exit(member)
        endpoints.remove(member, at: sessions[member].endpoint)
        keys.remove(member)
        if sessions[member].state == .joined { joinedCount -= 1 } else { waitsNoLonger(member) }
        sessions[member].state = .free
        sessions[member].later = firstFree
        firstFree = Int32(member)
        count -= 1
    }

    /// The first record came, or a renewal.
    mutating func renew(_ member: Int, until deadline: Instant) {
        unlink(member)
        if sessions[member].state == .waiting {
            joinedCount += 1
            waitsNoLonger(member)
        }
        sessions[member].state = .joined
        sessions[member].deadline = deadline
        append(member)
    }

    /// How many are welcomed at a host, and their first record has not come.
    func waitingCount(at address: IPAddress) -> Int { waitingCounts[address.hostPrefix] ?? 0 }

    private mutating func waitsNoLonger(_ member: Int) {
        let host = sessions[member].endpoint.address.hostPrefix
        let count = waitingCount(at: sessions[member].endpoint.address) - 1
        waitingCounts[host] = count > 0 ? count : nil
    }

    mutating func move(_ member: Int, to endpoint: Endpoint) {
        endpoints.remove(member, at: sessions[member].endpoint)
        sessions[member].endpoint = endpoint
        endpoints.insert(member, at: endpoint)
    }

    /// Who is forgotten first.
    var nextToExpire: Int? {
        let candidates = (waiting.first, joined.first)
        if candidates.0 < 0 { return candidates.1 < 0 ? nil : Int(candidates.1) }
        guard candidates.1 >= 0 else { return Int(candidates.0) }
        let isWaitingFirst = sessions[Int(candidates.0)].deadline < sessions[Int(candidates.1)].deadline
        return Int(isWaitingFirst ? candidates.0 : candidates.1)
    }

    /// Walks over those at an address.
    func search(_ endpoint: Endpoint) -> EndpointTable.Search { endpoints.search(endpoint) }

    func next(_ search: inout EndpointTable.Search, at endpoint: Endpoint) -> Int? {
        while let member = endpoints.next(&search) {
            if sessions[member].endpoint == endpoint { return member }
        }
        return nil
    }

    /// With `next`, walks over those in a channel, and comes to no other.
    func first(in channel: Int) -> Int? {
        channel < firsts.count && firsts[channel] >= 0 ? Int(firsts[channel]) : nil
    }

    func next(behind member: Int) -> Int? { sessions[member].behind >= 0 ? Int(sessions[member].behind) : nil }

    private mutating func enter(_ member: Int) {
        let channel = Int(sessions[member].channel)
        while firsts.count <= channel { firsts.append(-1) }
        let first = firsts[channel]
        sessions[member].ahead = -1
        sessions[member].behind = first
        if first >= 0 { sessions[Int(first)].ahead = Int32(member) }
        firsts[channel] = Int32(member)
    }

    private mutating func exit(_ member: Int) {
        let (ahead, behind) = (sessions[member].ahead, sessions[member].behind)
        if behind >= 0 { sessions[Int(behind)].ahead = ahead }
        if ahead >= 0 { sessions[Int(ahead)].behind = behind } else { firsts[Int(sessions[member].channel)] = behind }
    }

    private mutating func append(_ member: Int) {
        let isWaiting = sessions[member].state == .waiting
        let last = isWaiting ? waiting.last : joined.last
        sessions[member].earlier = last
        sessions[member].later = -1
        if last >= 0 { sessions[Int(last)].later = Int32(member) }
        if isWaiting {
            waiting.last = Int32(member)
            if last < 0 { waiting.first = Int32(member) }
        } else {
            joined.last = Int32(member)
            if last < 0 { joined.first = Int32(member) }
        }
    }

    private mutating func unlink(_ member: Int) {
        let (earlier, later) = (sessions[member].earlier, sessions[member].later)
        if earlier >= 0 { sessions[Int(earlier)].later = later }
        if later >= 0 { sessions[Int(later)].earlier = earlier }
        if waiting.first == Int32(member) { waiting.first = later }
        if waiting.last == Int32(member) { waiting.last = earlier }
        if joined.first == Int32(member) { joined.first = later }
        if joined.last == Int32(member) { joined.last = earlier }
    }
}
