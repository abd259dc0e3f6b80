internal import TenfourAudioCore
public import TenfourHTTPServer
internal import TenfourRelayCore
public import TenfourRelayServer
public import TenfourSession
internal import TenfourSystem
import TenfourUV

/// Lets browsers and players listen to channels of a running relay over HTTP, and makes Ogg pages of channels for Icecast
/// servers.
///
/// Create it before the relay, create the relay with `relayConfiguration`, and `start` the gateway with the relay. All
/// functions may be called on any thread.
@safe public final class WebGateway: @unchecked Sendable {
    /// The address and port of the HTTP server; nil if the configuration has none. If port 0 was requested, the system
    /// has chosen the port.
    public let localEndpoint: Endpoint?
    /// The configuration with which the relay is to be started: its plain channels also go to the gateway.
    public private(set) var relayConfiguration: RelayServerConfiguration

    private let loop: EventLoop
    private let wakeup: Wakeup
    private let version: String
    private let notices: @Sendable (WebNotice) -> Void
    private let shared: Locked<Shared>
    private let bind: Endpoint?
    private let pagesMade: PageOutput

    /// Takes Ogg pages of a channel, and the header pages of their stream.
    public typealias PageOutput = @Sendable (_ channel: String, _ header: [UInt8], _ pages: [UInt8]) -> Void

    // The rest belongs to the gateway's thread, and before `start` to the thread that creates the gateway.
    private var server: HTTPServer?
    private var httpNotices = HTTPNotices()
    private var routes = WebRoutes()
    private var relay: (server: RelayServer, endpoint: Endpoint)?
    private var nextPoll: Instant
    private var timer: LoopTimer?
    private var nextTick: Instant
    private var thread: WorkerThread?

    private struct Shared {
        var stops = false
        var adoption:
            (configuration: RelayServerConfiguration, completed: @Sendable (RelayServerConfiguration) -> Void)?
        var listenerCounts: [String: Int] = [:]
        var http: HTTPServerStatus?
    }

    /// Opens the HTTP server that `configuration` names. Returns nil if nothing can be heard over HTTP or from an Icecast
    /// server. `notices` is called on any thread. `version` is shown on the page. `pagesMade` is called on the gateway's
    /// thread with the audio for Icecast servers, ten times a second. Throws if the address cannot be used, or if
    /// libmicrohttpd is missing.
    public init?(
        _ configuration: RelayServerConfiguration, version: String, pagesMade: @escaping PageOutput = { _, _, _ in },
        notices: @escaping @Sendable (WebNotice) -> Void
    ) throws(WebError) {
        guard !configuration.web.channels.isEmpty else { return nil }
        bind = configuration.web.bind
        self.pagesMade = pagesMade
        self.version = version
        self.notices = notices
        let target = CallbackTarget<WebGateway>()
        do throws(NetworkError) {
            loop = try EventLoop()
            wakeup = try loop.makeWakeup { target.target?.wake() }
            timer = try loop.makeTimer { target.target?.tick() }
        } catch {
            throw WebError("\(error)")
        }
        nextTick = loop.now
        nextPoll = loop.now
        relayConfiguration = configuration
        shared = Locked(Shared())
        do throws(HTTPServerError) {
            if let bind = configuration.web.bind {
                server = try HTTPServer(on: loop, listeningAt: bind) { request in
                    target.target?.routes.answer(request) ?? .text("The relay is stopping.", status: 503)
                }
            }
            localEndpoint = server?.endpoint
        } catch {
            throw WebError("\(error)")
        }
        target.target = self
        relayConfiguration = change(to: configuration)
    }

    /// Takes over the channels of `configuration`, and passes the configuration that the relay needs to `completed`:
    /// its plain channels also go to the gateway. Channels that stay the same are not interrupted. Call it after `start`;
    /// `completed` is called on the gateway's thread.
    public func adopt(
        _ configuration: RelayServerConfiguration,
        completed: @escaping @Sendable (RelayServerConfiguration) -> Void
    ) {
        shared.withLock { $0.adoption = (configuration, completed) }
        wakeup.signal()
    }

    /// Listens to the channels of `server`, which runs or will soon run.
    public func start(with server: RelayServer) throws(WebError) {
        let endpoint = Endpoint(Self.local(server.localEndpoint), port: server.localEndpoint.port)
        relay = (server, endpoint)
        for channel in routes.channels { channel.join(endpoint) }
        if let localEndpoint { notices(.listening(localEndpoint, isPublic: !localEndpoint.address.isLoopback)) }
        do throws(ThreadError) {
            thread = try WorkerThread { [self] in run() }
        } catch {
            throw WebError("\(NetworkError(error))")
        }
    }

    /// Disconnects all listeners, leaves the channels, and returns when the thread has ended.
    public func stop() {
        shared.withLock { $0.stops = true }
        wakeup.signal()
        thread?.join()
        thread = nil
    }

    /// The number of listeners over HTTP of each channel, at most one tenth of a second old.
    public var listenerCounts: [String: Int] { shared.withLock { $0.listenerCounts } }

    /// The counts of the HTTP server, at most one second old; nil if there is none.
    public var httpStatus: HTTPServerStatus? { shared.withLock { $0.http } }

    /// The address of this machine at which the relay at `endpoint` and the gateway reach each other.
    private static func local(_ endpoint: Endpoint) -> IPAddress {
        endpoint.address.isUnspecified ? .loopbackV4 : endpoint.address
    }
}

// MARK: - On the gateway's thread

extension WebGateway {
    private func run() {
        nextTick = loop.now
        tick()
        loop.run()
        for channel in routes.channels { channel.close() }
        server?.close()
        loop.closeAll()
    }

    private func wake() {
        let (stops, adoption) = shared.withLock { shared in
            defer { shared.adoption = nil }
            return (shared.stops, shared.adoption)
        }
        if let adoption { adoption.completed(change(to: adoption.configuration)) }
        if stops { loop.stop() }
    }

    private func tick() {
        let now = loop.now
        for channel in routes.channels { channel.tick(at: now) }
        let counts = Dictionary(
            uniqueKeysWithValues: routes.channels.filter(\.settings.channel.isServed).map {
                ($0.settings.channel.name, $0.listenerCount)
            })
        let areOld = shared.withLock { shared in
            defer { shared.listenerCounts = counts }
            return shared.listenerCounts != counts
        }
        if now >= nextPoll { reportHTTP(at: now) }
        if areOld || now >= nextPoll { exchangeListeners(at: now) }
        // Keeps to multiples of the period, and skips those that have passed.
        while nextTick <= now { nextTick = nextTick + WebChannel.period }
        timer?.arm(at: nextTick)
    }

    private func reportHTTP(at now: Instant) {
        guard let status = server?.status else { return }
        shared.withLock { $0.http = status }
        for notice in httpNotices.notices(of: status, at: now) { notices(notice) }
    }

    /// Tells the relay the numbers of listeners over HTTP, which members see, and asks it for those of members.
    private func exchangeListeners(at now: Instant) {
        nextPoll = now + .seconds(1)
        guard let server = relay?.server else { return }
        let members = Dictionary(
            server.status.relay.channels.map { ($0.name, $0.listenerCount) }, uniquingKeysWith: { first, _ in first })
        var others: [String: Int] = [:]
        for channel in routes.channels where channel.settings.isEncrypted {
            let name = channel.settings.channel.name
            // The gateway is a member, but no listener.
            let gateway = channel.isJoined ? 1 : 0
            channel.relayListenerCount = max((members[name] ?? 0) - gateway, 0)
            others[name] = channel.listenerCount - gateway
        }
        server.setOtherListeners(others)
    }

    /// Opens and closes channels, and returns the configuration with the addresses of plain channels.
    private func change(to new: RelayServerConfiguration) -> RelayServerConfiguration {
        if new.web.bind != bind { notices(.waitsForRestart) }
        server?.limits.isProxy = { [proxies = new.web.proxies] in proxies.contains($0) }
        server?.limits.hosts = HTTPHosts(new.web.hostNames)
        var new = new
        var kept: [String: WebChannel] = [:]
        let wanted = new.web.channels.map {
            WebChannel.Settings(channel: $0, address: new.web.address, version: version)
        }
        for channel in routes.channels {
            if wanted.contains(channel.settings) {
                kept[channel.settings.channel.name] = channel
            } else {
                channel.close()
            }
        }
        routes = WebRoutes(address: new.web.address)
        let local = relay?.endpoint.address ?? Self.local(new.bind)
        for settings in wanted {
            if let channel = kept[settings.channel.name] ?? opened(settings, local: local) {
                routes.channels.append(channel)
            }
        }
        for index in new.plain.indices {
            let channel = routes.channels.first {
                !$0.settings.isEncrypted && $0.settings.channel.name == new.plain[index].name
            }
            new.plain[index].gateway = channel?.localEndpoint
            channel?.relayListenerCount = new.plain[index].targets.count
            routes.groups[new.plain[index].name] = new.plain[index].targets.first { $0.address.isMulticast }
        }
        return new
    }

    private func opened(_ settings: WebChannel.Settings, local: IPAddress) -> WebChannel? {
        do throws(NetworkError) {
            let channel = try WebChannel(settings, at: local, on: loop, pagesMade: pagesMade)
            if let relay { channel.join(relay.endpoint) }
            return channel
        } catch {
            notices(.channelRefused(settings.channel.name, error))
            return nil
        }
    }
}
