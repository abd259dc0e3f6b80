public import TenfourAudioCore
import TenfourCall
package import TenfourChannelKeys
internal import TenfourClocks
public import TenfourDNSSD
public import TenfourPairing
public import TenfourRadio
public import TenfourSession
internal import TenfourSystem

/// A station that waits for calls on its media port, announces itself and finds others.
///
/// Any thread may call any method, except `releasePort` and `close`, which wait for the port's thread. While a session
/// uses the port, the station is the session's `signalling`; afterwards `open` takes the port back.
public final class LobbyStation: CallSignalling {
    /// How the station waits.
    public struct Settings: Sendable {
        /// The name that other stations show; nil if they show none.
        public var name: String?
        public var port: UInt16
        public var purpose: Lobby.Purpose
        /// Whether the station announces itself. One that pairs through a relay never does.
        public var isAnnounced = true
        /// The version that the announcement tells.
        public var version = ""
        /// The message bus; nil for the system's.
        public var busAddress: String?

        public init(name: String?, port: UInt16, _ purpose: Lobby.Purpose) {
            (self.name, self.port, self.purpose) = (name, port, purpose)
        }
    }

    fileprivate struct Contents: Sendable {
        var lobby: Lobby
        var port: LobbyPort?
        /// Called when the other end has ended the call of the session.
        var sessionIsOver: (@Sendable () -> Void)?
    }

    private let port: UInt16
    private let contents: Locked<Contents>
    private let browser: ServiceBrowser?
    private let announcement: ServiceAnnouncement?
    private let bridge: BrowserBridge

    /// The name of an announcement without a name of a person.
    private static let namelessAnnouncement = "tenfour"

    /// The name under which the station is to be announced.
    public let wantedName: String
    private let isAnnounced: Bool
    /// Whether other stations are looked for.
    private let isBrowsing: Bool

    /// Starts to browse, and to announce the station, unless it pairs through a relay. `open` begins to receive.
    public init(_ settings: Settings) {
        var generator = SystemRandomNumberGenerator()
        port = settings.port
        wantedName = settings.name ?? Self.namelessAnnouncement
        isBrowsing = if case .relayedPairing = settings.purpose { false } else { true }
        isAnnounced = settings.isAnnounced && isBrowsing
        let lobby = Lobby(name: settings.name ?? "", port: settings.port, settings.purpose, using: &generator)
        contents = Locked(Contents(lobby: lobby))
        let bridge = BrowserBridge()
        self.bridge = bridge
        browser = isBrowsing ? try? ServiceBrowser(busAddress: settings.busAddress) { bridge.changed() } : nil
        let accepts: StationText.Accepted = if case .calls = settings.purpose { .calls } else { .pairing }
        announcement =
            isAnnounced
            ? try? ServiceAnnouncement(
                wantedName, port: settings.port,
                StationText(version: settings.version, accepts: accepts), busAddress: settings.busAddress)
            : nil
        bridge.connect { [weak self] in self?.updateNearby() }
    }

    deinit {
        browser?.stop()
        announcement?.stop()
    }

    // MARK: The port

    /// Begins to receive on the media port, if the station does not already. Throws `.unavailable` with the remedy if the
    /// port is taken.
    public func open() throws(RadioError) {
        guard contents.withLock({ $0.port == nil }) else { return }
        let opened = try LobbyPort(port, self) { [contents] endpoint, now in
            contents.withLock { $0.lobby.refused(by: endpoint, at: now) }
        }
        contents.withLock { $0.port = opened }
    }

    /// Releases the media port for a session, and waits until that is done.
    public func releasePort() {
        let open = contents.withLock { contents in
            defer { contents.port = nil }
            return contents.port
        }
        open?.close()
    }

    /// Ends the announcement, the browser and the port.
    public func close() {
        browser?.stop()
        announcement?.stop()
        releasePort()
    }

    // MARK: What a person sees

    /// The stations nearby that can be chosen.
    public var nearby: NearbyList { contents.withLock { $0.lobby.nearby.list } }

    /// Whether stations can be found; `.running` if none are looked for.
    public var discovery: DiscoveryState {
        guard isBrowsing else { return .running }
        return browser?.snapshot.state ?? .unavailable(.failed("no thread can be started"))
    }

    /// Whether others can find this station, and under which name; nil if it hides.
    public var announcementState: ServiceAnnouncement.State? {
        guard isAnnounced else { return nil }
        return announcement?.state ?? .waiting(.unavailable(.failed("no thread can be started")))
    }

    /// Returns the events since the last call.
    package func takeEvents() -> [LobbyEvent] {
        contents.withLock { contents in
            var events: [LobbyEvent] = []
            while let event = contents.lobby.nextEvent() { events.append(event) }
            return events
        }
    }

    // MARK: What a person does

    /// Calls the station at `endpoint`. Returns false during another call. `knowsCalls`: see `StationCall.call`.
    public func call(_ endpoint: Endpoint, knowsCalls: Bool) -> Bool {
        change { $0.call(endpoint, knowsCalls: knowsCalls, at: $1) }
    }

    /// The person wants to talk to the one who calls.
    public func accept() { change { $0.accept(at: $1) } }
    /// Ends the call, declines one, or takes the invitation back.
    public func hangUp() { change { $0.hangUp(at: $1) } }
    /// Returns the one who sends plain RTP, to whom the person wants to talk; nil if nobody does any more.
    public func takePlainCaller() -> Endpoint? { change { lobby, _ in lobby.takePlainCaller() } }
    /// The person does not want to talk to the one who sends plain RTP.
    public func ignorePlainCaller() { change { $0.ignorePlainCaller(at: $1) } }

    /// Begins a run of pairing; see `Lobby.pair`.
    public func pair(with endpoint: Endpoint, _ words: PairingWords) -> Bool {
        change { $0.pair(with: endpoint, words, at: $1) }
    }

    /// Meets a station at the relay, and begins a run of pairing; see `Lobby.pair`.
    package func pair(with number: RendezvousNumber, _ words: PairingWords) -> Bool {
        change { $0.pair(with: number, words, at: $1) }
    }

    /// Gives up the words that were typed here.
    public func cancelPairing() { change { lobby, _ in lobby.cancelPairing() } }
    /// Gives the number at the relay back, if this station has one.
    public func leaveRelay() { change { $0.leaveRelay(at: $1) } }
    /// See `Lobby.shownWords`.
    package var shownWords: PairingWords? { contents.withLock { $0.lobby.shownWords } }
    /// See `Lobby.relay`.
    package var relay: RelayHost? { contents.withLock { $0.lobby.relay } }
    /// See `Lobby.ownLink`.
    package var ownLink: ChannelLink? { contents.withLock { $0.lobby.ownLink } }
    /// See `Lobby.isPairing`.
    public var isPairing: Bool { contents.withLock { $0.lobby.isPairing } }
    /// See `Lobby.isQuiet`.
    public var isQuiet: Bool { contents.withLock { $0.lobby.isQuiet } }

    // MARK: The session

    /// A session is about to use the port; see `Lobby.beginSession`.
    public func beginSession(hasCall: Bool) -> Bool { change { lobby, _ in lobby.beginSession(hasCall: hasCall) } }

    /// Whether this station has answered the call that is connected; nil if there is none.
    public var hasAnswered: Bool? { contents.withLock { $0.lobby.hasAnswered } }

    /// Calls `isOver` once when the other end has ended the call of the session, at once if it has by now. May be called
    /// on the session's network thread.
    public func whenSessionIsOver(_ isOver: @escaping @Sendable () -> Void) {
        let isAlready = contents.withLock { contents in
            guard !contents.lobby.isSessionOver else { return true }
            contents.sessionIsOver = isOver
            return false
        }
        if isAlready { isOver() }
    }

    /// The session has ended, and its call with it. Call `open` afterwards.
    public func endSession() {
        contents.withLock { $0.sessionIsOver = nil }
        change { $0.endSession(at: $1) }
    }

    // MARK: Signalling

    public func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Bool {
        let (isHandled, isOver) = contents.withLock { contents in
            let isHandled = contents.lobby.receive(datagram, from: sender, at: now)
            return (isHandled, contents.takeEndOfSession())
        }
        isOver?()
        return isHandled
    }

    public func timeElapsed(at now: Instant) {
        let isOver = contents.withLock { contents in
            contents.lobby.timeElapsed(at: now)
            return contents.takeEndOfSession()
        }
        isOver?()
    }

    public func nextDatagram(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Endpoint? {
        contents.withLock { $0.lobby.nextDatagram(into: &buffer, at: now) }
    }

    public var nextDeadline: Instant? { contents.withLock { $0.lobby.nextDeadline } }

    // MARK: -

    private func updateNearby() {
        guard let snapshot = browser?.snapshot else { return }
        change { $0.update(snapshot.services, hiddenCount: snapshot.hiddenCount, at: $1) }
    }

    /// Changes the lobby, and sends what follows from it.
    private func change<Result>(_ change: (inout Lobby, Instant) -> Result) -> Result {
        let now = MonotonicClock.now
        let (result, port) = contents.withLock { (change(&$0.lobby, now), $0.port) }
        port?.wakeUp()
        return result
    }
}

extension LobbyStation.Contents {
    /// Returns the callback of a session whose call is over, once.
    fileprivate mutating func takeEndOfSession() -> (@Sendable () -> Void)? {
        guard lobby.isSessionOver else { return nil }
        defer { sessionIsOver = nil }
        return sessionIsOver
    }
}

/// Passes the changes of a browser to a station that is created after it.
private final class BrowserBridge: Sendable {
    private let action = Locked<(@Sendable () -> Void)?>(nil)

    func connect(_ action: @escaping @Sendable () -> Void) {
        self.action.withLock { $0 = action }
        action()
    }

    func changed() { action.withLock(\.self)?() }
}
