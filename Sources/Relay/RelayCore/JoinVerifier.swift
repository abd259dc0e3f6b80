internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Checks HELLO and JOIN in the order of the table in Protocol/06-control.md, as far as no channel is concerned, and keeps what
/// has to be sent again: WELCOMEs and refusals. Nothing is kept of a sender that has proved nothing, except that a JOIN may wait.
struct JoinVerifier: Sendable {
    /// The address of the relay, to which cookies are bound.
    private let address: PeerAddress
    /// Cookies for HELLOs, and receipts for what was sent to members.
    private var cookies: Cookies
    private var spentCookies = SpentCookies()
    /// The key for JOINs of unknown channels, so that they are as much work as others.
    private let dummyKey: JoinKey
    private var refusals = RefusalCache()
    /// The WELCOMEs of members whose first record has not come.
    private var welcomes: [MemberID: PendingWelcome] = [:]
    private var proofs = ProofScheduler()
    private var limits: HandshakeLimits

    private struct PendingWelcome: Sendable {
        let join: Join
        let datagram: [UInt8]
    }

    /// `generator` must be a CSPRNG outside tests.
    init(address: PeerAddress, using generator: inout CSPRNG) {
        self.address = address
        cookies = Cookies(using: &generator)
        dummyKey = JoinKey(dummyUsing: &generator)
        limits = HandshakeLimits(using: &generator)
    }

    // MARK: HELLO and JOIN

    /// Returns the cookie that answers a HELLO; nil if the host sends too many.
    mutating func cookie(for nonce: UInt128, from sender: Endpoint, at now: Instant) -> Cookie? {
        guard limits.allowsStranger(at: sender.address, now) else { return nil }
        return cookies.cookie(for: nonce, from: PeerAddress(sender), to: address, at: now)
    }

    /// What to do with a JOIN.
    enum Check {
        case discard(RelayDiscard)
        /// Its cookie has made a session already: the WELCOME may be sent again.
        case repeatWelcome
        /// It was refused before.
        case repeatRefusal(Refusal)
        /// It waits until proofs may take time again.
        case wait
        case prove
    }

    /// Checks a JOIN up to its proof. `hasRoom`: an answer can be sent.
    mutating func check(_ join: Join, from sender: Endpoint, hasRoom: Bool, at now: Instant) -> Check {
        guard cookies.accepts(join.cookie, for: join.nonce, from: PeerAddress(sender), to: address, at: now) else {
            return .discard(limits.allowsStranger(at: sender.address, now) ? .cookie : .tooManyHandshakes)
        }
        guard hasRoom else { return .discard(.tooManyHandshakes) }
        if isSpent(join.cookie, at: now) { return .repeatWelcome }
        if let refusal = refusals[join] { return .repeatRefusal(refusal) }
        guard limits.allowsProof(at: sender.address, now) else { return .discard(.tooManyFailures) }
        guard proofs.mustWait(at: now) else { return .prove }
        return proofs.insert(join, from: sender, at: now) ? .wait : .discard(.tooManyFailures)
    }

    /// Whether `key` proves a JOIN. `key` is nil if the channel is unknown; the work is the same. A failure counts against the host
    /// and against the time that proofs may take.
    mutating func isProved(_ join: Join, by key: JoinKey?, from sender: Endpoint, at now: Instant) -> Bool {
        let isProved = join.isProved(by: key ?? dummyKey)
        if isProved, key != nil { return true }
        limits.proofFailed(at: sender.address, now)
        proofs.proofFailed(at: now)
        return false
    }

    /// Whether one more member may join from `address`; if it may, it counts.
    mutating func allowsJoin(at address: IPAddress, _ now: Instant) -> Bool { limits.allowsJoin(at: address, now) }

    /// Returns the refusal of a JOIN, and keeps it if the JOIN was proved. `key` as in `isProved`.
    mutating func refusal(of join: Join, for reason: Refusal.Reason, key: JoinKey?) -> Refusal {
        let refusal = Refusal(of: join, for: reason, key: key ?? dummyKey)
        if reason != .unproved { refusals.insert(refusal, of: join) }
        return refusal
    }

    // MARK: JOINs that wait

    /// When some of the waiting JOINs can be proved; nil while none waits.
    var deadline: Instant? { proofs.deadline }

    /// Takes how long a failed proof takes on this machine.
    mutating func setProofTime(_ time: Duration) { proofs.setProofTime(time) }

    /// Removes the JOIN that is next, if it may be proved now.
    mutating func nextWaiting(at now: Instant) -> ProofQueue.Waiting? { proofs.next(at: now) }

    /// Whether a cookie has made a session. A JOIN may come a second time while the first waits.
    mutating func isSpent(_ cookie: Cookie, at now: Instant) -> Bool {
        spentCookies.turn(to: now)
        return spentCookies.contains(cookie)
    }

    /// Checks a JOIN with a wrong proof and builds its refusal, without any other effect. The caller measures the duration.
    func rehearseProof(_ datagram: Span<UInt8>) {
        guard case .join(let join)? = try? ControlPacket(parsing: datagram), !join.isProved(by: dummyKey) else {
            return
        }
        let refusal = Refusal(of: join, for: .unproved, key: dummyKey)
        _ = [UInt8](capacity: 40) { refusal.write(into: &$0) }
    }

    // MARK: Sessions

    /// Keeps the WELCOME of a new session until its first record, and spends the cookie.
    mutating func welcomed(_ member: MemberID, for join: Join, with datagram: [UInt8]) {
        spentCookies.insert(join.cookie)
        welcomes[member] = PendingWelcome(join: join, datagram: datagram)
    }

    /// Returns the WELCOME of `member`, if it waits for its first record and `join` is the whole JOIN that it answered.
    func welcome(of member: MemberID, for join: Join) -> [UInt8]? {
        guard let welcome = welcomes[member], welcome.join == join else { return nil }
        return welcome.datagram
    }

    /// The first record of a session has come from `address`: its handshake counts no longer.
    mutating func sessionBegan(of member: MemberID, at address: IPAddress) {
        limits.strangerJoined(at: address)
        welcomes[member] = nil
    }

    mutating func sessionEnded(of member: MemberID) { welcomes[member] = nil }

    /// Whether a record of an unknown session is answered; if it is, it counts.
    mutating func allowsUnknownSession(at address: IPAddress, _ now: Instant) -> Bool {
        limits.allowsUnknownSession(at: address, now)
    }

    /// Returns a number for the member with `session` at `address`, which only an endpoint that receives there can send back.
    mutating func receipt(for session: UInt64, at address: PeerAddress, _ now: Instant) -> UInt64 {
        cookies.receipt(for: session, at: address, now)
    }

    /// Whether `receipt` was given for this session at this address, in this minute or the one before.
    mutating func accepts(receipt: UInt64, for session: UInt64, at address: PeerAddress, _ now: Instant) -> Bool {
        cookies.accepts(receipt: receipt, for: session, at: address, now)
    }
}
