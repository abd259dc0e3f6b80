internal import TenfourAudioCore
import TenfourChannelKeys
internal import TenfourChannelMember
public import TenfourManagedChannel
internal import TenfourPackets
internal import TenfourSession
internal import TenfourUV

/// Joins a channel that has an owner for a moment, without audio: to fetch the list of members, or to deposit a new one. It
/// blocks the thread that calls it for some seconds.
public final class ChannelVisit {
    /// The result of a deposit.
    public struct Deposit: Sendable {
        public var roster: SignedRoster
        /// The number of members for whom a new group secret is sealed; nil if the present one stays in use.
        public var sealedCount: Int?

        public init(roster: SignedRoster, sealedCount: Int?) {
            self.roster = roster
            self.sealedCount = sealedCount
        }
    }

    private let loop: EventLoop
    private let socket: UDPSocket
    private let line: ChannelLine
    private var timer: LoopTimer?
    private var bytes: [UInt8] = []
    private var failure: RadioError?
    private var joined: Instant?
    private var deposited: UInt32?
    private var sealedCount: Int?
    private var step: (Instant) -> Bool = { _ in true }
    private var end = Instant.start

    /// The time after joining in which the relay tells of a newer list than the one in the file.
    private static let settlingTime = Duration.milliseconds(600)
    private static let limit = Duration.seconds(20)
    private static let interval = Duration.milliseconds(50)

    /// `settings` must have a membership.
    public init(_ settings: ChannelSettings) throws(RadioError) {
        precondition(settings.membership != nil, "a visitor has an identity")
        do throws(NetworkError) {
            loop = try EventLoop()
            socket = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: 0))
        } catch {
            throw RadioError(error)
        }
        var generator = SystemRandomNumberGenerator()
        line = ChannelLine(
            settings, CodingSettings(), .none, ssrc: SSRC(.random(in: 1 ... .max, using: &generator)),
            local: socket.localEndpoint, at: loop.now)
        bytes.reserveCapacity(2_048)
    }

    /// Fetches the newest list of members.
    public func roster() throws(RadioError) -> SignedRoster {
        try run { [unowned self] now in
            line.signedRoster != nil && isSettled(at: now) && line.hasStoredFiles
        }
        guard let roster = line.signedRoster else { throw Self.silence }
        return roster
    }

    /// Deposits the list that `change` makes of the newest one, with a new group secret if a member is missing in it. Waits
    /// until the relay has it. `change` must keep the list before it returns, so that no other list gets its number.
    public func deposit(
        _ change: (SignedRoster) throws(RadioError) -> SignedRoster
    ) throws(RadioError) -> Deposit {
        let old = try roster()
        let new = try change(old)
        let losesMember = old.contents.entries.contains { new.contents.entry($0.index) == nil }
        (deposited, sealedCount) = (nil, nil)
        line.deposit(new, at: loop.now)
        try run { [unowned self] _ in
            deposited == new.version && (sealedCount != nil || !losesMember) && line.hasStoredFiles
        }
        return Deposit(roster: new, sealedCount: sealedCount)
    }

    /// Leaves the channel. Call it last.
    public func leave() {
        line.leave(at: loop.now)
        flush(at: loop.now)
        loop.closeAll()
    }

    private func isSettled(at now: Instant) -> Bool { joined.map { now - $0 >= Self.settlingTime } ?? false }

    /// Runs until `isDone` returns true. It is called several times a second.
    private func run(_ isDone: @escaping (Instant) -> Bool) throws(RadioError) {
        step = isDone
        end = loop.now + Self.limit
        do throws(NetworkError) {
            if timer == nil {
                timer = try loop.makeTimer { [unowned self] in tick() }
                socket.receive { [unowned self] datagram, sender, now in
                    _ = line.receive(datagram, from: sender, at: now)
                    flush(at: now)
                }
            }
        } catch {
            throw RadioError(error)
        }
        tick()
        loop.run()
        if let failure { throw failure }
    }

    private func tick() {
        let now = loop.now
        line.timeElapsed(at: now)
        if let failure = line.poll(at: now) { self.failure = failure }
        flush(at: now)
        if failure == nil, now >= end, !step(now) { failure = joined == nil ? .nobodyAnswers : Self.silence }
        if failure != nil || step(now) { return loop.stop() }
        let next = min(line.nextDeadline ?? now + Self.interval, now + Self.interval)
        timer?.arm(at: max(next, now + .milliseconds(1)))
    }

    private func flush(at now: Instant) {
        while let event = line.nextEvent() { apply(event, at: now) }
        while true {
            bytes.removeAll(keepingCapacity: true)
            var destination: RTPSession.Destination?
            bytes.append(addingCapacity: 2_048) { destination = line.nextDatagram(into: &$0) }
            guard let destination else { return }
            let datagram = bytes
            socket.send(datagram.span, to: destination.endpoint)
        }
    }

    private func apply(_ event: ChannelEvent, at now: Instant) {
        switch event {
        case .joined: joined = now
        case .refused(let reason) where !reason.mayPass: failure = RadioError(refusedFor: reason)
        case .closed(let reason) where !reason.mayPass: failure = RadioError(closedFor: reason)
        case .relayDoubted(let doubt): failure = RadioError(doubt)
        case .managed(.rosterDeposited(let version)): deposited = version
        case .managed(.secretDeposited(let count)): sealedCount = count
        default: break
        }
    }

    private static let silence = RadioError(
        .unavailable,
        "the relay has not answered in \(limit / .seconds(1)) s: check that its configuration has this channel with owner=, and a state directory"
    )
}
