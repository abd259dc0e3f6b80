internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourChannelMember
internal import TenfourHTTPServer
internal import TenfourPackets
internal import TenfourRelayServer
internal import TenfourSession
internal import TenfourUV

/// A channel that can be heard over HTTP: its receiver, its live streams, and its state for pages.
///
/// Use it on the gateway's thread only.
final class WebChannel {
    let settings: Settings
    let ogg: HTTPStream
    let webM: HTTPStream
    let events: HTTPStream
    /// The encoding and payload type of the last packet; nil before the first.
    private(set) var format: (encoding: AudioEncoding, payloadType: UInt8)?

    /// The number of listeners of the relay without this gateway: members that only listen, or a plain channel's targets.
    var relayListenerCount = 0

    private let loop: EventLoop
    private let pagesMade: WebGateway.PageOutput
    /// The link that the page shows; nil if it shows none.
    private let link: String?
    private var receiver: WebReceiver?
    private var timeline: LiveTimeline
    private let oggMuxer: OggMuxer
    private let webMMuxer: WebMMuxer
    private var shown: (state: WebState, at: Instant)?
    private var lastPoll: Instant

    /// The settings of a channel. A channel whose settings change is closed and opened anew.
    struct Settings: Equatable {
        var channel: WebConfiguration.Channel
        /// The page's address that the operator has set.
        var address: String?
        var version: String

        var isEncrypted: Bool { channel.membership != nil }
    }

    /// The shortest and the longest time between two events.
    private static let shortestPause = Duration.milliseconds(200)
    private static let longestPause = Duration.seconds(10)
    /// The bytes that are kept for late listeners: 3 s at 170 kbit/s.
    private static let streamCapacity = 64 << 10
    private static let eventCapacity = 16 << 10
    /// The time between two sends to each listener. The pages of a tick reach all listeners within it.
    static let period = Duration.milliseconds(100)

    /// Opens a socket for the channel at `local`, an address of this machine. `pagesMade` is called with the Ogg pages of
    /// a channel that also feeds an Icecast server.
    init(
        _ settings: Settings, at local: IPAddress, on loop: EventLoop, pagesMade: @escaping WebGateway.PageOutput
    ) throws(NetworkError) {
        self.settings = settings
        self.pagesMade = pagesMade
        self.loop = loop
        link = settings.channel.showsLink ? settings.channel.membership?.link.text() : nil
        let title = settings.channel.name
        oggMuxer = OggMuxer(serial: .random(in: 0 ... .max), title: title)
        webMMuxer = WebMMuxer(title: title)
        timeline = LiveTimeline(at: loop.now)
        lastPoll = loop.now
        let (oggHeader, webMHeader) = (oggMuxer.header, webMMuxer.header)
        ogg = try HTTPStream(
            on: loop, capacity: Self.streamCapacity, period: Self.period, beginning: .newestStartPoint
        ) { oggHeader }
        webM = try HTTPStream(
            on: loop, capacity: Self.streamCapacity, period: Self.period, beginning: .newestStartPoint
        ) { webMHeader }
        let target = CallbackTarget<WebChannel>()
        events = try HTTPStream(on: loop, capacity: Self.eventCapacity, period: .zero, beginning: .nextAppend) {
            target.target?.firstEvent ?? []
        }
        receiver = try WebReceiver(
            settings.channel.membership, at: local, on: loop,
            output: WebReceiver.Output(
                heard: { target.target?.heard($0, $1, at: $2) }, left: { target.target?.timeline.leave($0) }))
        target.target = self
    }

    /// The number of listeners over HTTP.
    var listenerCount: Int { ogg.listenerCount + webM.listenerCount }

    /// The address to which a plain channel's packets are sent.
    var localEndpoint: Endpoint? { receiver?.localEndpoint }

    /// Whether packets of the channel can arrive.
    var isJoined: Bool { receiver?.isJoined ?? false }

    /// Whether the channel's packets can be played as Ogg and WebM. Those of G.711 cannot.
    var isPlayable: Bool { format?.encoding ?? .opus == .opus }

    func join(_ relay: Endpoint) { receiver?.join(relay) }

    /// Leaves the channel and disconnects all listeners.
    func close() {
        receiver?.close()
        receiver = nil
        for stream in [ogg, webM, events] { stream.disconnectAll() }
    }

    // MARK: - Audio

    private func heard(_ packet: MediaPacket, _ datagram: Span<UInt8>, at now: Instant) {
        let payloadType = datagram[1] & 0x7F
        if payloadType != RTPDefaults.redPayloadType { format = (packet.encoding, payloadType) }
        guard packet.encoding == .opus else { return }
        let range = packet.description.offset..<(packet.description.offset + packet.description.byteCount)
        timeline.insert(
            datagram.extracting(range), from: packet.ssrc, packet.sequenceNumber, packet.timestamp,
            marker: packet.marker, isOriginal: packet.origin == .original, at: now)
    }

    /// Appends what is due to the live streams, and posts the state if it has changed. Call it ten times a second.
    func tick(at now: Instant) {
        var packets: [LivePacket] = []
        timeline.advance(to: now) { packets.append($0) }
        if !packets.isEmpty {
            let pages = oggMuxer.append(packets)
            ogg.append(pages.span)
            if settings.channel.icecastFile != nil { pagesMade(settings.channel.name, oggMuxer.header, pages) }
            webM.append(webMMuxer.append(packets).span)
        }
        if now - lastPoll >= .seconds(1) {
            lastPoll = now
            receiver?.poll(at: now)
        }
        postState(at: now)
    }

    // MARK: - State

    private func postState(at now: Instant) {
        let state = state
        if let shown {
            let pause = now - shown.at
            guard pause >= (state.differs(from: shown.state) ? Self.shortestPause : Self.longestPause) else { return }
        }
        shown = (state, now)
        events.append(state.event(at: now).span)
    }

    /// The reconnection time of browsers, and the present state.
    private var firstEvent: [UInt8] { Array("retry: 1000\n\n".utf8) + state.event(at: loop.now) }

    /// The channel's state as pages show it.
    var state: WebState {
        WebState(
            channel: settings.channel.name, isEncrypted: settings.isEncrypted,
            listenerCount: relayListenerCount + listenerCount,
            talker: timeline.talk.map { WebState.Talker(name: name(of: $0.ssrc), since: $0.since) },
            others: timeline.others.compactMap { name(of: $0) },
            link: link, address: settings.address.map { $0 + settings.channel.name }, isLive: isJoined,
            period: webM.period, version: settings.version)
    }

    private func name(of ssrc: SSRC) -> String? {
        if let members = receiver?.members { return members.talkers.first { $0.info.ssrc == ssrc }?.name }
        return receiver?.names[ssrc]
    }
}
