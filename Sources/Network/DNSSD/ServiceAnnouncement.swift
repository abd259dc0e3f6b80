internal import TenfourAudioCore
internal import TenfourDBus
internal import TenfourSystem

/// Announces a service on the local network, for as long as it lives.
///
/// Any thread may call any method, and none of them waits for avahi-daemon. Without the daemon nothing happens, and the
/// service is announced when the daemon starts. When the program ends, in an orderly way or not, the daemon tells the
/// network.
public final class ServiceAnnouncement: Sendable {
    public enum State: Hashable, Sendable {
        /// Nothing is announced, for this reason or because the daemon has not answered yet.
        case waiting(DiscoveryState)
        /// The service is announced under this name, which is another one than asked for if that was taken. Safe to
        /// display.
        case announced(String)
    }

    private let shared = Locked(State.waiting(.starting))
    private let thread: AvahiThread

    /// The longest name in bytes of UTF-8 (RFC 6763 section 4.1.1).
    public static let maximumNameByteCount = 63

    /// Starts to announce on a thread of its own. `changed` is called on it when the state has changed.
    ///
    /// - `name`: shown to people nearby; cut after 63 bytes.
    /// - `port`: the UDP port of the service.
    /// - `busAddress`: nil for the system bus.
    public init(
        _ name: String, port: UInt16, _ text: StationText, busAddress: String? = nil,
        changed: @escaping @Sendable () -> Void = {}
    ) throws(DiscoveryError) {
        let shared = shared
        thread = try AvahiThread(
            busAddress: busAddress,
            AnnouncementTask(name, port: port, text) { state in
                let isNew = shared.withLock { held in
                    defer { held = state }
                    return held != state
                }
                if isNew { changed() }
            })
    }

    public var state: State { shared.withLock(\.self) }

    /// Ends the announcement soon. `changed` may be called once more.
    public func stop() { thread.stop() }
}

/// Announces a service with avahi-daemon.
struct AnnouncementTask: AvahiTask {
    private let wantedName: String
    private let port: UInt16
    private let text: StationText
    private let report: @Sendable (ServiceAnnouncement.State) -> Void
    private var name: String
    private var group: String?
    /// Whether the group holds the service since the daemon last changed its host name.
    private var isRegistered = false

    /// The number of names that are tried in a row.
    private static let maximumNameCount = 100

    init(
        _ name: String, port: UInt16, _ text: StationText,
        report: @escaping @Sendable (ServiceAnnouncement.State) -> Void
    ) {
        wantedName = Self.cut(name)
        self.name = wantedName
        self.port = port
        self.text = text
        self.report = report
    }

    var deadline: ContinuousClock.Instant? { nil }

    mutating func timeElapsed(_ avahi: borrowing Avahi) throws(BusError) {}

    mutating func begin(_ avahi: borrowing Avahi) throws(BusError) {
        group = nil
        isRegistered = false
        name = wantedName
        let state = try avahi.state()
        report(.waiting(.running))
        if state == .running { try register(avahi) }
    }

    mutating func end(_ failure: DiscoveryFailure) {
        group = nil
        report(.waiting(.unavailable(failure)))
    }

    mutating func receive(_ signal: BusSignal, _ avahi: borrowing Avahi) throws(BusError) {
        guard signal.member == "StateChanged", case .int32(let number) = signal.arguments.first else { return }
        switch signal.interface {
        case Avahi.serverInterface:
            if Avahi.ServerState(rawValue: number) == .running {
                // The daemon also says so when it has only just been asked.
                if !isRegistered { try register(avahi) }
            } else {
                // The daemon changes its host name after a collision; nothing may be announced meanwhile.
                report(.waiting(.running))
                isRegistered = false
                if let group { try avahi.reset(group: group) }
            }
        case Avahi.groupInterface where signal.path == group:
            switch Avahi.GroupState(rawValue: number) {
            case .established: report(.announced(String(fromPeer: name)))
            case .collision:
                try nextName(avahi)
                try register(avahi)
            case .failure:
                guard case .text(let reason) = signal.arguments.last else { return }
                throw .refused(name: "", message: reason)
            default: break
            }
        default: break
        }
    }

    /// Announces the service, under the next free name if another service of this machine has its name.
    private mutating func register(_ avahi: borrowing Avahi) throws(BusError) {
        if group == nil { group = try avahi.newGroup() }
        guard let group else { return }
        for _ in 0..<Self.maximumNameCount {
            do throws(BusError) {
                try avahi.reset(group: group)
                isRegistered = true
                return try avahi.announce(name, ServiceBrowser.stationType, port: port, text: text.strings, by: group)
            } catch .refused(Avahi.service + ".CollisionError", _) {
                try nextName(avahi)
            }
        }
        throw .refused(name: "", message: "all names are taken")
    }

    private mutating func nextName(_ avahi: borrowing Avahi) throws(BusError) {
        name = Self.cut(try avahi.alternative(to: name))
    }

    /// Cuts a name between two characters; an empty name becomes the program's.
    private static func cut(_ name: String) -> String {
        var short = ""
        for letter in name {
            guard short.utf8.count + letter.utf8.count <= ServiceAnnouncement.maximumNameByteCount else { break }
            short.append(letter)
        }
        return short.isEmpty ? "tenfour" : short
    }
}
