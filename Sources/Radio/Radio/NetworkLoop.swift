internal import Synchronization
internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourChannelMember
internal import TenfourJitterBuffer
internal import TenfourPackets
internal import TenfourRings
internal import TenfourSession
internal import TenfourUV

/// The network thread: passes datagrams, media and time to the RTP session and its protection, and carries out what they say.
///
/// Made on one thread and run on another; never on two at once.
@safe final class NetworkLoop: @unchecked Sendable {
    let wakeup: Wakeup
    let localEndpoint: Endpoint

    private let loop: EventLoop
    private let media: UDPSocket
    private let control: UDPSocket?
    private var rtpSession: RTPSession
    private let protection: any Protection
    /// The protection where that is a channel; nil elsewhere.
    private let channel: ChannelLine?
    private let coding: CodingSettings
    /// What shares the media's port comes from there, too: who stands between us knows of no other.
    private let sendsControlApart: Bool
    /// The defence that the encoder was last told of.
    private var demanded: LossProtection
    private let controls: Controls
    private let state: RadioState
    private let incoming: RingBufferProducer<IncomingPacket>?
    private let outgoing: RingBufferConsumer<OutgoingPacket>
    /// Whether there is sound to be sent.
    private let sends: Bool
    private var captured: LatestReader<CaptureReport>?
    private var played: LatestReader<PlaybackReport>?
    private let limits: Limits

    private var sessionTimer: LoopTimer?
    private var pollTimer: LoopTimer?
    private var lastPoll = Instant.start
    private var lastPortCheck: Instant?
    private var start = Instant.start
    private let datagram: UnsafeMutableBufferPointer<UInt8>
    private var unopenedCount = 0
    private var hasJoined = false
    /// Why the session is not in its channel now; nil where it is, and without one.
    private var absence: RadioError?
    /// Whether the last who was heard fell silent without a good-bye.
    private var wasLeftInSilence = false
    private var droppedCount = 0
    private var heardAnyone = false
    /// Follows the partner of a call, where that was named; nil elsewhere.
    private let partner: PartnerTracker?
    /// Tells whether all datagrams were refused, in a session that only sends; nil elsewhere.
    private var refusals: RefusalDetector?
    /// What was told last of those who have a voice: it is told after they have left, too.
    private var voices: [RadioSnapshot.VoiceSnapshot] = []

    /// When the session ends by itself. It also ends when something fails.
    struct Limits {
        var duration: Duration?
        var endsWithLastSource: Bool
        var endsWithInput: Bool
    }

    /// How often we look up from the packets. While some come they bring the moment with them; a timer that wakes us for
    /// it alone comes later, and only when none do.
    private static let pollInterval = Duration.milliseconds(100)
    private static let longestInterval = Duration.milliseconds(150)
    /// How often strangers can make us look who has the port above, and for how long we keep the media of one who took it.
    private static let aboveInterval = Duration.milliseconds(500)
    /// Of a datagram, with whatever protects it.
    private static let room = 2_048

    init(
        _ configuration: RadioConfiguration, _ controls: Controls, _ state: RadioState, limits: Limits,
        incoming: consuming RingBufferProducer<IncomingPacket>?, outgoing: consuming RingBufferConsumer<OutgoingPacket>,
        captured: consuming LatestReader<CaptureReport>?, played: consuming LatestReader<PlaybackReport>?
    ) throws(RadioError) {
        let target = CallbackTarget<NetworkLoop>()
        do throws(NetworkError) {
            loop = try EventLoop()
            (media, control) = try Self.open(configuration, on: loop)
            wakeup = try loop.makeWakeup { target.target?.wake() }
        } catch {
            throw RadioError(error)
        }
        localEndpoint = media.localEndpoint
        var generator = SystemRandomNumberGenerator()
        let (seconds, nanoseconds) = RealTimeClock.sinceEpoch
        let wallClock = NTPTime(secondsSince1970: seconds, nanoseconds: nanoseconds).advanced(by: .start - loop.now)
        let identity = Identity.random(wallClock: wallClock, using: &generator)
        let configured = configuration.rtpSessionAsCoded
        rtpSession = RTPSession(identity: identity, configuration: configured, at: loop.now)
        (protection, channel) = try Self.protection(
            configuration, ssrc: identity.ssrc, local: localEndpoint, at: loop.now)
        if case .channel = configuration.protection { absence = .nobodyAnswers }
        coding = configuration.coding
        let now = loop.now
        partner = configuration.partner.map { partner in
            PartnerTracker(
                partner.address.host, port: partner.address.port, every: partner.interval, resolve: partner.resolve,
                at: now)
        }
        if configuration.input != nil, configuration.output == nil, configuration.recording == nil, absence == nil {
            refusals = RefusalDetector()
        }
        sendsControlApart = configured.controlPort == .next
        demanded = LossProtection(bitRate: configuration.coding.payloadBitRate)
        self.controls = controls
        self.state = state
        self.limits = limits
        self.incoming = incoming
        self.outgoing = outgoing
        sends = configuration.input != nil
        self.captured = captured
        self.played = played
        // Behind all that throws: `deinit` is not called for half a loop.
        unsafe datagram = .allocate(capacity: Self.room)
        target.target = self
    }

    deinit { unsafe datagram.deallocate() }

    /// Network thread. Returns when the session is over.
    func run() {
        start = loop.now
        media.receive { [unowned self] datagram, sender, now in receive(datagram, from: sender, at: now) }
        control?.receive { [unowned self] datagram, sender, now in receiveAbove(datagram, from: sender, at: now) }
        do throws(NetworkError) {
            sessionTimer = try loop.makeTimer { [unowned self] in
                let now = loop.now
                rtpSession.timeElapsed(at: now)
                protection.timeElapsed(at: now)
                flush(at: now)
            }
            pollTimer = try loop.makeTimer { [unowned self] in poll(at: loop.now) }
        } catch {
            return state.fail(RadioError(error))
        }
        poll(at: start)
        flush(at: start)
        loop.run()
        publish()
        sessionTimer?.close()
        pollTimer?.close()
        media.close()
        control?.close()
        loop.close(wakeup)
    }

    /// A datagram has come.
    private func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        if !protection.receive(datagram, from: sender, at: now) { unopenedCount += 1 }
        flush(at: now)
        if now - lastPoll >= Self.pollInterval { poll(at: now) }
    }

    /// A datagram has come to the port above.
    private func receiveAbove(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        let isControl = datagram.count > 1 && RTCPCompound.isRTCP(secondByte: datagram[1])
        if isControl || sendsControlApart { receive(datagram, from: sender, at: now) } else { checkPortAbove(at: now) }
    }

    /// What is no report has come to the port above: gives the port up where another program of this machine has taken it for its
    /// media. The kernel prefers the socket whose address is the more exact, and ours may be. A stray datagram changes nothing.
    private func checkPortAbove(at now: Instant) {
        guard let control, lastPortCheck.map({ now - $0 >= Self.aboveInterval }) ?? true else { return }
        lastPortCheck = now
        if control.isPortShared { control.close() }
    }

    /// Takes an opened packet.
    private func receiveOpened(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        let reception = rtpSession.receive(datagram, from: sender, at: now)
        if let partner, !reception.isDiscarded { partner.heard(at: now) }
        if case .media(let packet) = reception {
            heardAnyone = true
            for index in 0..<packet.copyCount { pass { $0.set(packet.copy(index), of: datagram, arrivedAt: now) } }
            pass { $0.set(packet, of: datagram, arrivedAt: now) }
        }
    }

    /// The capture thread has something, or somebody wants an end.
    private func wake() {
        let now = loop.now
        drain(at: now)
        if controls.stops || now - lastPoll >= Self.pollInterval { poll(at: now) }
    }

    private func drain(at now: Instant) {
        while outgoing.pop({ packet in
            rtpSession.send(
                packet.packet.payload, at: packet.position, startsTalkspurt: packet.startsTalkspurt, now: now)
        }) { flush(at: now) }
    }

    private func pass(_ fill: (inout IncomingPacket) -> Void) {
        if let isTaken = incoming?.push(fill), !isTaken { droppedCount += 1 }
    }

    /// After each input: passes packets and datagrams on until there are no more, handles events, arms the timer.
    private func flush(at now: Instant) {
        while exchange(at: now) {}
        while let event = rtpSession.nextEvent() {
            if case .sourceLeft(let ssrc, let reason) = event {
                wasLeftInSilence = reason == nil
                pass { $0.set(.goodbye, of: ssrc) }
            }
            if case .identityChanged(let ssrc) = event { channel?.setSSRC(ssrc) }
            state.post(event)
        }
        if rtpSession.lossProtection != demanded { applyLossProtection(rtpSession.lossProtection) }
        let deadline = [rtpSession.nextDeadline, protection.nextDeadline].compactMap { $0 }.min()
        if let deadline { sessionTimer?.arm(at: deadline) }
    }

    /// Passes on what is there: opened packets to the session, its datagrams to the protection, and protected datagrams to the
    /// network. Each may make more of the others. Returns whether there was anything.
    private func exchange(at now: Instant) -> Bool {
        var hasPassed = false
        while passOn({ protection.nextOpened(into: &$0) }, { receiveOpened($0, from: $1, at: now) }) {
            hasPassed = true
        }
        while passOn({ rtpSession.nextDatagram(into: &$0) }, { protection.send($0, to: $1, at: now) }) {
            hasPassed = true
        }
        while passOn({ protection.nextDatagram(into: &$0) }, { send($0, to: $1) }) { hasPassed = true }
        while let event = channel?.nextEvent() {
            hasPassed = true
            handle(event, at: now)
        }
        return hasPassed
    }

    /// Takes one datagram and passes it on. Returns false when there is none.
    private func passOn<Peer>(
        _ take: (inout OutputSpan<UInt8>) -> Peer?, _ use: (Span<UInt8>, Peer) -> Void
    ) -> Bool {
        var output = unsafe OutputSpan(buffer: datagram, initializedCount: 0)
        let peer = take(&output)
        if let peer { use(output.span, peer) }
        _ = unsafe output.finalize(for: datagram)
        return peer != nil
    }

    private func send(_ datagram: Span<UInt8>, to destination: RTPSession.Destination) {
        let socket = destination.isControl && sendsControlApart ? control ?? media : media
        socket.send(datagram, to: destination.endpoint)
    }

    /// A relay that does not let us in from the start will not: later it may have been restarted, and is asked again. One that
    /// has taken our channel away, or its keys, does not bring them back.
    private func handle(_ event: ChannelEvent, at now: Instant) {
        switch event {
        case .joined:
            hasJoined = true
            absence = nil
            controls.isConnected.store(true, ordering: .releasing)
        case .ssrcIsTaken: rtpSession.takeAnotherSSRC(at: now)
        case .lost: absence = .nobodyAnswers
        case .limited, .membersKnown, .memberJoined, .memberChanged, .memberLeft, .listeners: break
        case .refused(let reason), .closed(let reason):
            let trouble =
                if case .closed = event { RadioError(closedFor: reason) } else { RadioError(refusedFor: reason) }
            guard !reason.isFinal, hasJoined || reason.mayPass else { return state.fail(trouble) }
            absence = trouble
        }
        state.post(event)
    }

    /// The encoder is left as it was set until there is loss to do something about.
    private func applyLossProtection(_ lossProtection: LossProtection) {
        demanded = lossProtection
        controls.encoderDemand.store(EncoderDemand(lossProtection, coding).rawValue, ordering: .relaxed)
    }

    /// Tell how it goes, and see whether it is over.
    private func poll(at now: Instant) {
        lastPoll = now
        pollTimer?.arm(at: now + Self.longestInterval)
        if let channel = channel {
            channel.microphone(isOpen: sends && controls.isMicrophoneOpen.load(ordering: .relaxed), at: now)
            let page = controls.listenerPage.exchange(-1, ordering: .relaxed)
            if page >= 0 { channel.requestListeners(from: page, at: now) }
            channel.poll(at: now)
            flush(at: now)
        }
        if let found = partner?.look(at: now) { partnerResolved(at: found, now) }
        publish()
        refusals?.look(media.statistics, at: now)
        let sources = rtpSession.sources
        for index in sources.indices { setRecoveryDelay(of: sources[index]) }
        let isLeft = limits.endsWithLastSource && heardAnyone && rtpSession.sources.isEmpty && state.isSilent
        let isDone =
            limits.duration.map { now - start >= $0 } ?? false
            || limits.endsWithInput && controls.hasInputEnded.load(ordering: .acquiring)
        guard controls.stops || state.failure != nil || isDone || isLeft else { return }
        // Who ends by itself and is not in its channel has not done what it was to do.
        if !controls.stops, isDone || wasLeftInSilence, let absence { state.fail(absence) }
        if let failure = refusals?.failure(media.statistics) { state.fail(failure) }
        drain(at: now)
        rtpSession.leave(at: now)
        while exchange(at: now) {}
        channel?.leave(at: now)
        flush(at: now)
        loop.stop()
    }

    /// Takes the addresses of the partner's name. The present one is kept as long as it is among them.
    private func partnerResolved(at endpoints: [Endpoint], _ now: Instant) {
        let addresses = Set(endpoints.map(\.address))
        let remote = rtpSession.configuration.remotes.first
        guard let first = endpoints.first, rtpSession.configuration.accepted != .only(addresses) else { return }
        let isKept = remote.map { addresses.contains($0.address) } ?? false
        rtpSession.partnerMoved(to: isKept ? remote ?? first : first, accepting: addresses, at: now)
        if !isKept { state.post(.partnerMoved(to: first)) }
        flush(at: now)
    }

    /// Passes the delay that recovery needs to the playback thread; repeatedly, because the talker may get another voice there.
    private func setRecoveryDelay(of source: Source) {
        pass { $0.set(.repair(RecoveryDemand(source.repair)), of: source.ssrc) }
    }

    private func publish() {
        var snapshot = RadioSnapshot(rtpSession: rtpSession, elapsed: loop.now - start)
        snapshot.add(captured?.read())
        if let report = played?.read() {
            for index in report.mixer.talkers.indices where report.mixer.talkers[index].isHeard {
                let voice = report.mixer.talkers[index]
                rtpSession.playoutDelay(of: voice.ssrc, is: voice.playout.delay.duration())
                rtpSession.playout(
                    of: voice.ssrc, due: voice.playout.due, missing: voice.playout.missing, at: loop.now)
            }
            // As soon as the decoder has become too slow for its models.
            rtpSession.setConcealment(report.decoder.concealsByModel ? .deep : .plain)
            snapshot.add(report, present: rtpSession.sources, before: voices)
            voices = snapshot.voices
        }
        snapshot.addPeople(rtpSession.participants(at: loop.now), channel?.members, at: loop.now)
        snapshot.network = media.statistics
        snapshot.unopenedCount = unopenedCount
        snapshot.handoffDropCount = droppedCount
        state.publish(snapshot)
    }

    private static func protection(
        _ configuration: RadioConfiguration, ssrc: SSRC, local: Endpoint, at now: Instant
    ) throws(RadioError) -> (any Protection, ChannelLine?) {
        switch configuration.protection {
        case .none: return (PlainLine(), nil)
        case .srtp(let key):
            do throws(SRTPError) { return (try SRTPLine(key), nil) } catch {
                throw RadioError(.failure, error.description)
            }
        case .channel(let settings):
            let line = ChannelLine(settings, configuration.coding, ssrc: ssrc, local: local, at: now)
            return (line, line)
        }
    }
}
