import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourManagedChannel
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport

/// A station in a channel, with all that it has received.
final class Member {
    var rtpSession: RTPSession
    var channel: Channel
    var endpoint: Endpoint
    /// Whether it knows nothing of statements about who hears whom.
    var isOld = false
    var speech: Speech?
    /// Channel events, except those about other members.
    var events: [(at: Instant, event: ChannelEvent)] = []
    /// Events about other members: joined, changed and left.
    private(set) var memberEvents: [ChannelEvent] = []
    var stationEvents: [Event] = []
    var heard: [HeardPacket] = []
    /// The content of the member's file in a managed channel; nil if there is none.
    private(set) var disk: LockedBytes?
    /// The state of a managed channel that it has kept from the run before.
    var state = ManagedState()
    /// Whether the file is on disk as soon as it has changed.
    var storesFile = true
    /// Events in a managed channel.
    private(set) var managedEvents: [ManagedEvent] = []
    /// The number of datagrams that the channel has opened, media and RTCP.
    private(set) var openedCount = 0
    private(set) var receptions: [Channel.Reception: Int] = [:]
    private var output: [([UInt8], Endpoint)] = []
    /// The time that the simulated machine has been suspended, during which CLOCK_MONOTONIC does not advance.
    private var slept = Duration.zero
    private var sleepBegan: Instant?

    /// Creates the member with index `number`, at `Airwaves.endpoint(number)` unless `endpoint` is given.
    init(
        _ number: Int, _ configuration: ChannelConfiguration, ssrc: UInt32, firstSequenceNumber: UInt16 = 0,
        speech: Speech? = nil, at now: Instant = .start, clock: WallClock? = nil, seed: UInt64? = nil,
        lossProtection: LossProtectionConfiguration = LossProtectionConfiguration(), endpoint: Endpoint? = nil
    ) {
        var randomness = SeededRandom(seed: seed ?? UInt64(ssrc))
        self.endpoint = endpoint ?? Airwaves.endpoint(number)
        let identity = Identity(
            ssrc: SSRC(ssrc), firstSequenceNumber: SequenceNumber(rawValue: firstSequenceNumber), seed: UInt64(ssrc))
        rtpSession = RTPSession(
            identity: identity,
            configuration: RTPSessionConfiguration(remotes: [Channel.sessionEndpoint], lossProtection: lossProtection),
            at: now)
        channel = Channel(
            configuration, ssrc: SSRC(ssrc), at: now, clock: clock ?? Airwaves.clock(at: now), using: &randomness)
        self.speech = speech
    }

    /// Suspends the simulated machine until `wake`.
    func sleep(at now: Instant) { sleepBegan = now }

    func wake(at now: Instant) {
        if let sleepBegan { slept += now - sleepBegan }
        sleepBegan = nil
        channel.suspended = slept
    }

    var nextDeadline: Instant? {
        if sleepBegan != nil { return nil }
        return [rtpSession.nextDeadline, channel.nextDeadline].compactMap { $0 }.min().map { $0 + slept }
    }

    func timeElapsed(at now: Instant) {
        let now = now - slept
        rtpSession.timeElapsed(at: now)
        channel.timeElapsed(at: now)
    }

    /// Sends the speech packets that are due. Returns whether there were any.
    func speak(at now: Instant) -> Bool {
        var isSpeaking = false
        if let speech, speech.followsDefence {
            self.speech?.byteCount = max(rtpSession.lossProtection.bitRate * speech.frameCount.rawValue / 48_000 / 8, 5)
        }
        while let packet = speech?.next(at: now) {
            rtpSession.send(
                packet.payload.span, at: packet.position, startsTalkspurt: packet.startsTalkspurt, now: now - slept)
            isSpeaking = true
            flush(at: now)
        }
        return isSpeaking
    }

    @discardableResult
    func receive(_ datagram: [UInt8], from sender: Endpoint, at now: Instant) -> Channel.Reception {
        let reception = channel.receive(datagram.span, from: sender, at: now - slept)
        receptions[reception, default: 0] += 1
        return reception
    }

    func leave(at now: Instant) {
        rtpSession.leave(at: now - slept)
        flush(at: now)
        channel.leave(at: now - slept)
    }

    /// Passes datagrams and events between the RTP session, the channel and the network.
    func flush(at moment: Instant) {
        let now = moment - slept
        while true {
            var kind: Channel.Opened?
            let packet = [UInt8](capacity: Channel.maximumDatagramByteCount) { kind = channel.nextOpened(into: &$0) }
            guard kind != nil else { break }
            openedCount += 1
            if case .media(let media) = rtpSession.receive(packet.span, from: Channel.sessionEndpoint, at: now) {
                heard.append(HeardPacket(media, in: packet.span, at: moment))
            }
        }
        takeFile(at: now)
        while let event = channel.nextEvent() {
            if case .managed(let event) = event {
                managedEvents.append(event)
                continue
            }
            if event.isOfMembers {
                memberEvents.append(event)
                continue
            }
            events.append((moment, event))
            if case .joined = event { rtpSession.channelJoined(at: now) }
            if event == .ssrcIsTaken {
                rtpSession.takeAnotherSSRC(at: now)
                channel.ssrc = rtpSession.ssrc
            }
        }
        while true {
            var destination: RTPSession.Destination?
            let datagram = [UInt8](capacity: RTPSession.maximumDatagramByteCount) {
                destination = rtpSession.nextDatagram(into: &$0)
            }
            guard let destination else { break }
            channel.send(datagram.span, isControl: destination.isControl, at: now)
        }
        if !isOld { channel.exchangeHearing(with: &rtpSession, at: now) }
        while let event = rtpSession.nextEvent() { stationEvents.append(event) }
        while true {
            var to: Endpoint?
            let datagram = [UInt8](capacity: Channel.maximumDatagramByteCount) { to = channel.nextDatagram(into: &$0) }
            guard let to else { break }
            output.append((datagram, to))
        }
    }

    private func takeFile(at now: Instant) {
        if channel.wantsState { channel.restore(state) }
        while storesFile, let change = channel.takeFile(at: now) {
            switch change {
            case .write(let content): disk = content
            case .erase: disk = nil
            }
            channel.fileStored(true, at: now)
        }
    }

    func takeOutput() -> [([UInt8], Endpoint)] {
        defer { output.removeAll() }
        return output
    }

    var isJoined: Bool { channel.isJoined }
    var discards: ChannelDiscardCounts { channel.discards }
    var eventsOnly: [ChannelEvent] { events.map(\.event) }

    func heard(from ssrc: UInt32) -> [HeardPacket] { heard.filter { $0.packet.ssrc == SSRC(ssrc) } }
}

extension ChannelEvent {
    fileprivate var isOfMembers: Bool {
        switch self {
        case .membersKnown, .memberJoined, .memberChanged, .memberLeft, .listeners: true
        case .joined, .relayReached, .lost, .refused, .relayDoubted, .closed, .ssrcIsTaken, .limited, .managed,
            .relayClockDiffers, .relayClockAgrees, .refusedForTime, .mediaRefused,
            .interference:
            false
        }
    }
}

/// Channel keys that are the same in every run.
enum Family {
    static let talk: ChannelKeys = {
        var randomness = SeededRandom(seed: 42)
        return ChannelKeys(name: "family", secret: Secret(.talk, using: &randomness))
    }()
    static let listen = ChannelKeys(name: "family", secret: talk.listenSecret)
    static let stranger: ChannelKeys = {
        var randomness = SeededRandom(seed: 43)
        return ChannelKeys(name: "family", secret: Secret(.talk, using: &randomness))
    }()

    static func configuration(
        _ role: Role, keys: ChannelKeys? = nil, endpoints: [Endpoint] = [Airwaves.relay],
        suite: SRTPSuite = .aesCounterMode,
        isSynchronised: Bool = true, fingerprint: RelayFingerprint? = nil
    ) -> ChannelConfiguration {
        var configuration = ChannelConfiguration(
            keys: keys ?? (role == .talk ? talk : listen), role: role,
            relays: relays(endpoints), suite: suite, isSynchronised: isSynchronised)
        configuration.fingerprint = fingerprint
        return configuration
    }

    /// The relay's static key, and the fingerprint in links that demand it.
    static let relayKey: RelayKey = {
        var randomness = SeededRandom(seed: 44)
        return RelayKey(using: &randomness)
    }()
    static let fingerprint = RelayFingerprint(relay: relayKey.publicKey, ownerless: talk)

    static func relays(_ endpoints: [Endpoint]) -> [RelayCandidate] {
        endpoints.map { RelayCandidate(id: RelayID(host: "radio.example.org", port: 5_004), endpoint: $0) }
    }
}
