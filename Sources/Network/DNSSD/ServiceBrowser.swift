internal import TenfourDBus
internal import TenfourSession
internal import TenfourSystem

/// Lists the services of one type on the local network, for as long as it lives.
///
/// Any thread may call any method, and none of them waits for avahi-daemon. Without the daemon the list is empty, and
/// it fills when the daemon starts.
public final class ServiceBrowser: Sendable {
    /// The services that were found so far.
    public struct Snapshot: Hashable, Sendable {
        public var state = DiscoveryState.starting
        /// At most 64, in the order in which they were found.
        public var services: [FoundService] = []
        /// The number of further services that were announced and are not listed, at most 1024.
        public var hiddenCount = 0
    }

    /// The type of service that tenfour announces.
    static let stationType = "_tenfour._udp"

    private let shared: Locked<Snapshot>
    private let thread: AvahiThread

    /// Starts to browse on a thread of its own. `changed` is called on it when the snapshot has changed.
    ///
    /// - `busAddress`: nil for the system bus.
    public convenience init(
        busAddress: String? = nil, changed: @escaping @Sendable () -> Void = {}
    ) throws(DiscoveryError) {
        try self.init(
            busAddress: busAddress, callLimit: AvahiThread.callLimit, retryInterval: BrowserTask.retryInterval,
            changed: changed)
    }

    init(
        busAddress: String?, callLimit: Duration, retryInterval: Duration,
        changed: @escaping @Sendable () -> Void
    ) throws(DiscoveryError) {
        let shared = Locked(Snapshot())
        self.shared = shared
        thread = try AvahiThread(
            busAddress: busAddress, callLimit: callLimit,
            BrowserTask(Self.stationType, retryInterval: retryInterval) { snapshot in
                let isNew = shared.withLock { held in
                    defer { held = snapshot }
                    return held != snapshot
                }
                if isNew { changed() }
            })
    }

    public var snapshot: Snapshot { shared.withLock(\.self) }

    /// Ends the browser soon. `changed` may be called once more.
    public func stop() { thread.stop() }
}

/// Browses with avahi-daemon, and resolves what is found.
struct BrowserTask: AvahiTask {
    private let type: String
    private let retryInterval: Duration
    private let report: @Sendable (ServiceBrowser.Snapshot) -> Void
    private var table = ServiceTable()
    private var browser: String?
    private var state = DiscoveryState.starting
    /// The items that could not be resolved, and will be tried again at `deadline`.
    private var unresolved: Set<ServiceItem> = []
    /// Whether a service has gone while others were hidden, so that one of these may have a place.
    private var mayShowHidden = false
    private(set) var deadline: ContinuousClock.Instant?

    /// The time after which what failed is tried again.
    static let retryInterval = Duration.seconds(5)

    init(_ type: String, retryInterval: Duration, report: @escaping @Sendable (ServiceBrowser.Snapshot) -> Void) {
        self.type = type
        self.retryInterval = retryInterval
        self.report = report
    }

    mutating func begin(_ avahi: borrowing Avahi) throws(BusError) {
        clear()
        browser = try avahi.browse(type)
        state = .running
        publish()
    }

    mutating func end(_ failure: DiscoveryFailure) {
        clear()
        state = .unavailable(failure)
        publish()
    }

    mutating func receive(_ signal: BusSignal, _ avahi: borrowing Avahi) throws(BusError) {
        switch (signal.interface, signal.member) {
        case (Avahi.browserInterface, "ItemNew") where signal.path == browser:
            guard let (item, flags) = ServiceItem.parsed(signal.arguments) else { return }
            let isLocal = flags & ServiceItem.localFlag != 0
            if table.insert(item, isOnThisMachine: isLocal) { try resolve(item, avahi) }
            publish()
        case (Avahi.browserInterface, "ItemRemove"):
            // Also from the browser before this one, which may report it last.
            guard let (item, _) = ServiceItem.parsed(signal.arguments) else { return }
            try remove(item, avahi)
        case (Avahi.resolverInterface, "Found"):
            guard let resolution = ServiceTable.Resolution(parsing: signal.arguments) else { return }
            if table.resolved(signal.path, resolution) { publish() }
        case (Avahi.resolverInterface, "Failure"):
            guard let item = table.resolverFailed(signal.path) else { return }
            try avahi.free(signal.path, interface: Avahi.resolverInterface)
            tryLater(item)
            publish()
        default: break
        }
    }

    mutating func timeElapsed(_ avahi: borrowing Avahi) throws(BusError) {
        deadline = nil
        if mayShowHidden {
            // A new browser reports all services again, those without a place too.
            let old = browser
            browser = try avahi.browse(type)
            if let old { try avahi.free(old, interface: Avahi.browserInterface) }
            table.forgetHidden()
            mayShowHidden = false
        }
        let items = unresolved.filter { table.contains($0) }
        unresolved = []
        for item in items { try resolve(item, avahi) }
    }

    private mutating func resolve(_ item: ServiceItem, _ avahi: borrowing Avahi) throws(BusError) {
        do throws(BusError) {
            table.setResolver(try avahi.resolve(item, type), of: item)
        } catch .refused {
            tryLater(item)
        }
    }

    private mutating func remove(_ item: ServiceItem, _ avahi: borrowing Avahi) throws(BusError) {
        unresolved.remove(item)
        if let resolver = table.remove(item) { try avahi.free(resolver, interface: Avahi.resolverInterface) }
        if table.hiddenCount > 0 {
            mayShowHidden = true
            schedule()
        }
        publish()
    }

    private mutating func tryLater(_ item: ServiceItem) {
        unresolved.insert(item)
        schedule()
    }

    private mutating func schedule() { deadline = deadline ?? .now + retryInterval }

    private mutating func clear() {
        table.removeAll()
        unresolved = []
        mayShowHidden = false
        browser = nil
        deadline = nil
    }

    private func publish() {
        report(.init(state: state, services: table.services, hiddenCount: table.hiddenCount))
    }
}

extension ServiceItem {
    /// Avahi's flag of an item that this machine announces (`AVAHI_LOOKUP_RESULT_LOCAL`).
    static let localFlag: UInt32 = 8

    /// Reads the arguments of `ItemNew` and `ItemRemove`: `iisssu`.
    static func parsed(_ arguments: [BusValue]) -> (ServiceItem, flags: UInt32)? {
        guard arguments.count == 6, case .int32(let interface) = arguments[0], case .int32(let number) = arguments[1],
            case .text(let name) = arguments[2], case .text(let domain) = arguments[4],
            case .uint32(let flags) = arguments[5]
        else { return nil }
        let id = FoundService.ID(name: name, domain: domain)
        return (ServiceItem(interface: interface, protocolNumber: number, id: id), flags)
    }
}

extension ServiceTable.Resolution {
    /// Reads the arguments of `Found`: `iissssisqaayu`. Nil if there is no address or port.
    init?(parsing arguments: [BusValue]) {
        guard arguments.count == 11, case .text(let host) = arguments[5], case .text(let address) = arguments[7],
            case .uint16(let port) = arguments[8], case .byteStrings(let text) = arguments[9],
            let address = IPAddress(address), port > 0, !address.isUnspecified, !address.isMulticast
        else { return nil }
        self.init(host: host, address: address, port: port, text: text)
    }
}
