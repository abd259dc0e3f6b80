internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourSession

/// Performs the checks of HELLO and JOIN that do not depend on a channel, in the order of the table in
/// Protocol/06-control.md. It also stores WELCOMEs and refusals that may have to be sent again. It stores no state for
/// a sender that has proved no key, except a JOIN that waits for the check of its proof.
struct JoinVerifier: Sendable {
    /// The address of the relay, to which cookies are bound.
    private let address: PeerAddress
    /// Makes the cookies that answer HELLOs. It also makes the receipts, by which members prove that they receive at
    /// their address.
    private var cookies: Cookies
    private var spentCookies = SpentCookies()
    /// The key for checking JOINs for unknown channels, so that these checks take as long as other checks.
    private let dummyKey: JoinKey
    private var refusals = RefusalCache()
    /// The WELCOMEs of members that have not sent their first record.
    private var welcomes: [MemberID: PendingWelcome] = [:]
    private var proofs = ProofScheduler()
    private var limits: HandshakeLimits

    private struct PendingWelcome: Sendable {
        let join: Join
        let datagram: [UInt8]
    }

    /// `address` is the address of the relay, to which cookies are bound. `generator` must be a CSPRNG outside tests.
    init(address: PeerAddress, using generator: inout CSPRNG) {
        self.address = address
        cookies = Cookies(using: &generator)
        dummyKey = JoinKey(dummyUsing: &generator)
        limits = HandshakeLimits(using: &generator)
    }

    // MARK: HELLO and JOIN

    /// Returns the cookie that answers a HELLO; nil if the sender's host exceeds its rate limit of handshakes.
    mutating func cookie(for nonce: UInt128, from sender: Endpoint, at now: Instant) -> Cookie? {
        guard limits.allowsStranger(at: sender.address, now) else { return nil }
        return cookies.cookie(for: nonce, from: PeerAddress(sender), to: address, at: now)
    }

    /// Returns what stands for the owner of a channel that the relay does not have.
    func ownerHash(ofUnknown channelID: UInt128) -> OwnerHash { cookies.ownerHash(ofUnknown: channelID) }

    /// Returns the reason for which a datagram with `cookie` is discarded; nil if the cookie is valid. A datagram
    /// without a valid cookie counts against the limit of HELLOs of its host.
    mutating func discard(
        _ cookie: Cookie, for nonce: UInt128, from sender: Endpoint, at now: Instant
    ) -> RelayDiscard? {
        if cookies.accepts(cookie, for: nonce, from: PeerAddress(sender), to: address, at: now) { return nil }
        return limits.allowsStranger(at: sender.address, now) ? .cookie : .tooManyHandshakes
    }

    /// The step that follows the checks of a JOIN.
    enum Check {
        case discard(RelayDiscard)
        /// The JOIN's cookie was already used to create a session. The WELCOME may be sent again.
        case repeatWelcome
        /// The same JOIN was refused before. This refusal is sent again.
        case repeatRefusal(Refusal)
        /// The JOIN is queued until the rate limit of wrong proofs allows the check of its proof.
        case wait
        case prove
    }

    /// Makes all checks of a JOIN that precede the check of its proof. `hasRoom` is true if the output queue has room
    /// for an answer.
    mutating func check(_ join: Join, from sender: Endpoint, hasRoom: Bool, at now: Instant) -> Check {
        if let discard = discard(join.cookie, for: join.nonce, from: sender, at: now) { return .discard(discard) }
        guard hasRoom else { return .discard(.tooManyHandshakes) }
        if isSpent(join.cookie, at: now) { return .repeatWelcome }
        if let refusal = refusals[join] { return .repeatRefusal(refusal) }
        guard limits.allowsProof(at: sender.address, now) else { return .discard(.tooManyFailures) }
        guard proofs.mustWait(at: now) else { return .prove }
        return proofs.insert(join, from: sender, at: now) ? .wait : .discard(.tooManyFailures)
    }

    /// Whether the proof of a JOIN was made with `key`. `key` is nil if the channel is unknown and the relay pairs no
    /// stations; the check then takes the same time and fails. A wrong proof counts against the limit of the sender's
    /// host, and against the rate limit of all wrong proofs.
    mutating func isProved(_ join: Join, by key: JoinKey?, from sender: Endpoint, at now: Instant) -> Bool {
        let isProved = join.isProved(by: key ?? dummyKey)
        if isProved, key != nil { return true }
        proofFailed(from: sender, at: now)
        return false
    }

    /// Counts a JOIN2 whose proof was right, and whose Noise message the relay cannot open. Its two X25519 operations
    /// take as long as a dozen wrong proofs.
    mutating func messageFailed(from sender: Endpoint, at now: Instant) {
        limits.proofFailed(at: sender.address, now)
        for _ in 0..<12 { proofs.proofFailed(at: now) }
    }

    /// Counts a JOIN whose proof was checked in vain, against the limit of the sender's host, and the rate limit of all
    /// of them.
    mutating func proofFailed(from sender: Endpoint, at now: Instant) {
        limits.proofFailed(at: sender.address, now)
        proofs.proofFailed(at: now)
    }

    /// Counts a member that joins from `address`. Returns false if the join rate of its host or of the relay is
    /// exceeded; the caller must refuse such a member.
    mutating func allowsJoin(at address: IPAddress, _ now: Instant) -> Bool { limits.allowsJoin(at: address, now) }

    /// Returns the refusal of a JOIN, and stores it if the JOIN's proof was valid. `key` is the key that the JOIN was
    /// checked with; nil if its channel is unknown.
    mutating func refusal(of join: Join, for reason: Refusal.Reason, key: JoinKey?) -> Refusal {
        let refusal = Refusal(of: join, for: reason, key: key ?? dummyKey)
        if reason != .unproved { refusals.insert(refusal, of: join) }
        return refusal
    }

    // MARK: JOINs that wait

    /// The time at which the proofs of waiting JOINs can be checked; nil if no JOIN waits.
    var deadline: Instant? { proofs.deadline }

    /// Sets the CPU time that this machine needs to check and refuse a JOIN with a wrong proof.
    mutating func setProofTime(_ time: Duration) { proofs.setProofTime(time) }

    /// Removes and returns the next waiting JOIN; nil if its proof may not be checked yet.
    mutating func nextWaiting(at now: Instant) -> ProofQueue.Waiting? { proofs.next(at: now) }

    /// Whether `cookie` was used to create a session. This is also checked for waiting JOINs, because a second copy of
    /// a waiting JOIN may have been admitted.
    mutating func isSpent(_ cookie: Cookie, at now: Instant) -> Bool {
        spentCookies.turn(to: now)
        return spentCookies.contains(cookie)
    }

    /// Checks a JOIN with a wrong proof and builds its refusal, without sending the refusal or changing any state. The
    /// caller measures the CPU time of this call.
    func rehearseProof(_ join: Join, by key: JoinKey?) {
        guard !join.isProved(by: key ?? dummyKey) else { return }
        let refusal = Refusal(of: join, for: .unproved, key: key ?? dummyKey)
        _ = [UInt8](capacity: 40) { refusal.write(into: &$0) }
    }

    // MARK: Sessions

    /// Stores the WELCOME of a new session until the first record of the session, and marks the cookie as used.
    mutating func welcomed(_ member: MemberID, for join: Join, with datagram: [UInt8]) {
        spentCookies.insert(join.cookie)
        welcomes[member] = PendingWelcome(join: join, datagram: datagram)
    }

    /// Returns the stored WELCOME of `member`. Returns nil if the member has sent its first record, or if `join`
    /// differs in any byte from the JOIN that the WELCOME answered.
    func welcome(of member: MemberID, for join: Join) -> [UInt8]? {
        guard let welcome = welcomes[member], welcome.join == join else { return nil }
        return welcome.datagram
    }

    /// Handles the first record of a session, which came from `address`. The handshake no longer counts against the
    /// limit of its host, and the stored WELCOME is removed.
    mutating func sessionBegan(of member: MemberID, at address: IPAddress) {
        limits.strangerJoined(at: address)
        welcomes[member] = nil
    }

    mutating func sessionEnded(of member: MemberID) { welcomes[member] = nil }

    /// Counts a record with an unknown session id against the limit of its host. Returns false if the limit is
    /// exceeded; the caller must not answer such a record.
    mutating func allowsUnknownSession(at address: IPAddress, _ now: Instant) -> Bool {
        limits.allowsUnknownSession(at: address, now)
    }

    /// Returns a receipt: a number by which the member of `session` proves that it still receives at `address`. Only a
    /// receiver at this address can send the number back.
    mutating func receipt(for session: UInt64, at address: PeerAddress, _ now: Instant) -> UInt64 {
        cookies.receipt(for: session, at: address, now)
    }

    /// Whether this relay made `receipt` for this session at this address, in the current or the previous minute.
    mutating func accepts(receipt: UInt64, for session: UInt64, at address: PeerAddress, _ now: Instant) -> Bool {
        cookies.accepts(receipt: receipt, for: session, at: address, now)
    }
}
