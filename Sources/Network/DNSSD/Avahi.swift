internal import TenfourDBus

/// avahi-daemon, at the other end of a connection to the system bus. For one thread.
struct Avahi: ~Copyable {
    let bus: MessageBus

    static let service = "org.freedesktop.Avahi"
    static let serverInterface = service + ".Server"
    static let browserInterface = service + ".ServiceBrowser"
    static let resolverInterface = service + ".ServiceResolver"
    static let groupInterface = service + ".EntryGroup"

    /// Avahi's number for "all interfaces" and "all protocols".
    private static let any = Int32(-1)

    /// The states of avahi-daemon itself, in `StateChanged` of its server.
    enum ServerState: Int32 { case invalid, registering, running, collision, failure }

    /// The states of an entry group.
    enum GroupState: Int32 { case uncommitted, registering, established, collision, failure }

    init(_ bus: consuming MessageBus) { self.bus = bus }

    private static let server = BusObject(service: service, path: "/", interface: serverInterface)

    func state() throws(BusError) -> ServerState {
        guard case .int32(let number) = try bus.answer(to: "GetState", of: Self.server).first,
            let state = ServerState(rawValue: number)
        else { throw .wrongAnswer }
        return state
    }

    /// Begins to browse, and returns the path of the browser, which sends `ItemNew` and `ItemRemove`.
    func browse(_ type: String) throws(BusError) -> String {
        try path(
            bus.answer(
                to: "ServiceBrowserNew", of: Self.server, .int32(Self.any), .int32(Self.any), .text(type), .text(""),
                .uint32(0)))
    }

    /// Begins to resolve an item, and returns the path of the resolver, which sends `Found` or `Failure`.
    func resolve(_ item: ServiceItem, _ type: String) throws(BusError) -> String {
        try path(
            bus.answer(
                to: "ServiceResolverNew", of: Self.server, .int32(item.interface), .int32(item.protocolNumber),
                .text(item.id.name), .text(type), .text(item.id.domain), .int32(Self.any), .uint32(0)))
    }

    func newGroup() throws(BusError) -> String { try path(bus.answer(to: "EntryGroupNew", of: Self.server)) }

    /// Adds a service on all interfaces to a group, and lets the daemon register it.
    func announce(_ name: String, _ type: String, port: UInt16, text: [[UInt8]], by group: String) throws(BusError) {
        let group = BusObject(service: Self.service, path: group, interface: Self.groupInterface)
        try bus.call(
            "AddService", of: group, .int32(Self.any), .int32(Self.any), .uint32(0), .text(name), .text(type),
            .text(""), .text(""), .uint16(port), .byteStrings(text))
        try bus.call("Commit", of: group)
    }

    func reset(group path: String) throws(BusError) {
        try bus.call("Reset", of: BusObject(service: Self.service, path: path, interface: Self.groupInterface))
    }

    /// Returns another name for a service whose name is taken: `Pi #2` for `Pi`.
    func alternative(to name: String) throws(BusError) -> String {
        guard
            case .text(let other) = try bus.answer(to: "GetAlternativeServiceName", of: Self.server, .text(name)).first
        else { throw .wrongAnswer }
        return other
    }

    /// Frees a browser or resolver. The daemon may have freed it already, so a refusal is no failure.
    func free(_ path: String, interface: String) throws(BusError) {
        do throws(BusError) {
            try bus.call("Free", of: BusObject(service: Self.service, path: path, interface: interface))
        } catch .refused {}
    }

    private func path(_ answer: [BusValue]) throws(BusError) -> String {
        guard case .objectPath(let path) = answer.first else { throw .wrongAnswer }
        return path
    }
}
