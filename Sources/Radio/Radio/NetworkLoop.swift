internal import Synchronization
internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourChannelMember
internal import TenfourFloor
internal import TenfourJitterBuffer
internal import TenfourPackets
internal import TenfourSession
internal import TenfourSystem
internal import TenfourUV

/// The network thread: passes datagrams, media and time to the RTP session and its protection, and acts on their
/// results.
///
/// Created on one thread and run on another; never used by two threads at the same time.
@safe final class NetworkLoop: @unchecked Sendable {
    let wakeup: Wakeup
    let localEndpoint: Endpoint

    private let loop: EventLoop
    /// Nil for a session whose CNAME is random.
    private let canonicalName: StableCanonicalName?
    private let media: UDPSocket
    private let control: UDPSocket?
    private var rtpSession: RTPSession
    private let protection: any Protection
    /// Call signalling on the media's port; nil if there is none.
    private let signalling: (any CallSignalling)?
    /// The channel's protection; nil in a session without a channel.
    private let channel: ChannelLine?
    private var floor: FloorLine
    private let coding: CodingSettings
    /// Whether reports are sent from the port above the media's. A NAT on the path knows only the media's port.
    private let sendsControlApart: Bool
    /// The loss protection last passed to the encoder.
    private var demanded: LossProtection
    private let controls: Controls
    private let state: RadioState
    private var delivery: PacketDelivery
    private let outgoing: RingBufferConsumer<OutgoingPacket>
    /// Whether there is audio to send.
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
    private var useless = UselessDatagrams()
    private var hasJoined = false
    /// The reason why the session is not in its channel; nil while it is in the channel, or without a channel.
    private var absence: RadioError?
    /// Whether the last talker that left had timed out, without sending a BYE.
    private var lastSourceTimedOut = false
    private var heardAnyone = false
    private var feedback: PlayoutFeedback
    /// Follows the address of the peer in a call by name; nil for other sessions.
    private let partner: PartnerTracker?
    /// Detects that the other machine refuses all datagrams, in a session that only sends; nil for other sessions.
    private var refusals: RefusalDetector?
    /// The talkers of the last snapshot. A talker who has left stays in later snapshots.
    private var talkers: [RadioSnapshot.TalkerSnapshot] = []

    /// The conditions that end the session. An error also ends the session.
    struct Limits {
        var duration: Duration?
        var endsWithLastSource: Bool
        var endsWithInput: Bool
    }

    /// The shortest time between two runs of the loop's periodic work, which is done when a packet is handled.
    private static let pollInterval = Duration.milliseconds(100)
    /// The time after which a timer starts the periodic work if no packet was handled.
    private static let longestInterval = Duration.milliseconds(150)
    /// The shortest time between two checks of the port above the media's port. It limits the checks because strangers
    /// can cause them. Media for another program that took the port may reach us for up to this time.
    private static let aboveInterval = Duration.milliseconds(500)
    /// The capacity of the datagram buffer in bytes: the longest datagram with its protection.
    private static let room = 2_048

    init(
        _ configuration: RadioConfiguration, _ controls: Controls, _ state: RadioState, limits: Limits,
        incoming: consuming RingBufferProducer<IncomingPacket>?, outgoing: consuming RingBufferConsumer<OutgoingPacket>,
        captured: consuming LatestReader<CaptureReport>?, played: consuming LatestReader<PlaybackReport>?
    ) throws(RadioError) {
        let target = CallbackTarget<NetworkLoop>()
        signalling = configuration.signalling
        signalling?.releasePort()
        do throws(NetworkError) {
            loop = try EventLoop()
            (media, control) = try Self.open(configuration, on: loop)
            wakeup = try loop.makeWakeup { target.target?.wake() }
        } catch {
            throw RadioError(error)
        }
        localEndpoint = media.localEndpoint
        canonicalName = StableCanonicalName(configuration)
        let identity = Identity.random(named: canonicalName, at: loop.now)
        let configured = configuration.rtpSessionAsCoded
        rtpSession = RTPSession(identity: identity, configuration: configured, at: loop.now)
        (protection, channel) = try Self.protection(
            configuration, ssrc: identity.ssrc, local: localEndpoint, at: loop.now)
        let isCall = configured.remotes.count == 1 && configuration.multicast == nil && configuration.input != nil
        floor = FloorLine(
            configuration.floor, controls, channel, as: isCall ? configuration.callRole : nil, ssrc: identity.ssrc,
            frame: configuration.coding.frame, at: loop.now)
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
        delivery = PacketDelivery(incoming, controls, configuration.packetTap)
        self.outgoing = outgoing
        sends = configuration.input != nil
        self.captured = captured
        feedback = PlayoutFeedback(hasPlayback: played != nil)
        self.played = played
        // Allocates the buffer after all calls that throw, because `deinit` is not called for an incomplete object.
        unsafe datagram = .allocate(capacity: Self.room)
        target.target = self
    }

    deinit { unsafe datagram.deallocate() }

    /// Runs the session on the network thread until it has ended.
    func run() {
        start = loop.now
        rtpSession.beginReception(at: start)
        media.receive { [unowned self] datagram, sender, now in receive(datagram, from: sender, at: now) }
        control?.receive { [unowned self] datagram, sender, now in receiveAbove(datagram, from: sender, at: now) }
        do throws(NetworkError) {
            sessionTimer = try loop.makeTimer { [unowned self] in
                let now = loop.now
                rtpSession.timeElapsed(at: now)
                protection.timeElapsed(at: now)
                signalling?.timeElapsed(at: now)
                floor.timeElapsed(at: now)
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

    /// Receives a datagram on the media's port.
    private func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        let isSignalling = signalling?.receive(datagram, from: sender, at: now) ?? false
        if !isSignalling, !protection.receive(datagram, from: sender, at: now) {
            useless.unopened(from: sender, &rtpSession, at: now)
        }
        flush(at: now)
        if now - lastPoll >= Self.pollInterval { poll(at: now) }
    }

    /// Receives a datagram on the port above the media's port.
    private func receiveAbove(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        let isControl = datagram.count > 1 && RTCPCompound.isRTCP(secondByte: datagram[1])
        if isControl || sendsControlApart { receive(datagram, from: sender, at: now) } else { checkPortAbove(at: now) }
    }

    /// Handles a datagram that is not a report and arrived on the port above the media's port. Closes that port if
    /// another program of this machine receives its media there. If two sockets have the port, the kernel prefers the
    /// socket with the more specific address, which may be ours. A stray datagram changes nothing.
    private func checkPortAbove(at now: Instant) {
        guard let control, lastPortCheck.map({ now - $0 >= Self.aboveInterval }) ?? true else { return }
        lastPortCheck = now
        if control.isPortShared { control.close() }
    }

    /// Receives a packet that the protection has decrypted.
    private func receiveOpened(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) {
        let reception = rtpSession.receive(datagram, from: sender, at: now)
        if let partner, !reception.isDiscarded { partner.recordReception(at: now) }
        if case .media(let packet) = reception {
            heardAnyone = true
            floor.heardMedia(of: packet.ssrc, at: now)
            delivery.deliver(packet, of: datagram, at: now)
        }
        if case .comfortNoise(let noise, let begin, let ssrc) = reception {
            delivery.deliver(noise, after: begin, of: ssrc)
        }
    }

    /// Handles a wake-up: the capture thread has packets, or the session is to end.
    private func wake() {
        let now = loop.now
        floor.takeCommands(at: now)
        drain(at: now)
        delivery.answerReplay(at: now)
        flush(at: now)
        if controls.stops && !rtpSession.hasLeft || now - lastPoll >= Self.pollInterval { poll(at: now) }
    }

    private func drain(at now: Instant) {
        while outgoing.pop({ packet in
            // A talker that the arbiter no longer hears, or whose floor was revoked, sends nothing.
            guard floor.maySend, !rtpSession.hasLeft else { return }
            rtpSession.send(
                packet.packet.payload, at: packet.position, startsTalkspurt: packet.startsTalkspurt, now: now)
        }) { flush(at: now) }
    }

    /// Passes on packets and datagrams until none are left, handles events, and arms the timer. Called after each
    /// input.
    private func flush(at now: Instant) {
        while exchange(at: now) {}
        while let event = rtpSession.nextEvent() {
            if case .sourceLeft(let ssrc, let reason) = event {
                floor.left(ssrc, at: now)
                lastSourceTimedOut = reason == nil
                delivery.leave(ssrc, at: now)
            }
            if case .identityChanged(let ssrc) = event {
                channel?.setSSRC(ssrc)
                floor.setSSRC(ssrc, at: now)
            }
            state.post(event)
        }
        if rtpSession.lossProtection != demanded { applyLossProtection(rtpSession.lossProtection) }
        while passOn({ signalling?.nextDatagram(into: &$0, at: now) }, { media.send($0, to: $1) }) {}
        let deadlines = [
            rtpSession.nextDeadline, protection.nextDeadline, signalling?.nextDeadline, floor.nextDeadline,
        ]
        if let deadline = deadlines.compactMap({ $0 }).min() { sessionTimer?.arm(at: deadline) }
        if rtpSession.hasLeft, !rtpSession.awaitsLastReports { loop.stop() }
    }

    /// Passes decrypted packets to the session, the session's datagrams to the protection, and protected datagrams to
    /// the network. Each step may produce input for another step. Returns whether anything was passed.
    private func exchange(at now: Instant) -> Bool {
        var hasPassed = false
        while passOn({ protection.nextOpened(into: &$0) }, { receiveOpened($0, from: $1, at: now) }) {
            hasPassed = true
        }
        while passOn({ rtpSession.nextDatagram(into: &$0) }, { protection.send($0, to: $1, at: now) }) {
            hasPassed = true
        }
        channel?.exchangeHearing(with: &rtpSession, at: now)
        while passOn({ protection.nextDatagram(into: &$0) }, { send($0, to: $1) }) { hasPassed = true }
        while let event = channel?.nextEvent() {
            hasPassed = true
            handle(event, at: now)
        }
        if exchangeFloor(at: now) { hasPassed = true }
        return hasPassed
    }

    /// Passes messages about the floor between the floor and the RTP session, and reports what has happened. Returns
    /// whether anything was passed.
    private func exchangeFloor(at now: Instant) -> Bool {
        var hasPassed = false
        while let packet = rtpSession.nextApplicationPacket() {
            hasPassed = true
            if packet.name == FloorMessage.packetName { floor.receive(packet.data.span, from: packet.ssrc, at: now) }
        }
        while let data = floor.nextMessage() {
            hasPassed = true
            rtpSession.sendApplicationPacket(name: FloorMessage.packetName, data)
        }
        return floor.flush(at: now) || hasPassed
    }

    /// Passes one datagram, which `take` appends, and its peer to `use`. Returns false if `take` has no datagram left.
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

    /// Handles an event of the channel. A relay's refusal at the first join ends the session. After a later refusal, the
    /// channel is joined again, unless the relay has closed the channel or changed its keys.
    private func handle(_ event: ChannelEvent, at now: Instant) {
        switch event {
        case .joined:
            (hasJoined, absence) = (true, nil)
            rtpSession.channelJoined(at: now)
        case .ssrcIsTaken: rtpSession.takeAnotherSSRC(at: now)
        case .lost: absence = .nobodyAnswers
        case .relayReached, .limited, .membersKnown, .memberJoined, .memberChanged, .memberLeft, .listeners, .managed,
            .relayClockDiffers, .relayClockAgrees, .refusedForTime, .mediaRefused, .interference:
            break
        case .refused(let reason), .closed(let reason):
            let trouble =
                if case .closed = event { RadioError(closedFor: reason) } else { RadioError(refusedFor: reason) }
            guard !reason.isFinal, hasJoined || reason.mayPass else { return state.fail(trouble) }
            absence = trouble
        case .relayDoubted(let doubt):
            guard hasJoined else { return state.fail(RadioError(doubt)) }
            absence = RadioError(doubt)
        }
        state.post(event)
    }

    /// Passes new settings to the encoder, which keeps its configured settings until the first change of the loss
    /// protection.
    private func applyLossProtection(_ lossProtection: LossProtection) {
        demanded = lossProtection
        controls.encoderDemand.store(EncoderDemand(lossProtection, coding).rawValue, ordering: .relaxed)
    }

    /// Publishes a snapshot and checks whether the session is to end.
    private func poll(at now: Instant) {
        lastPoll = now
        delivery.forgetOld(at: now)
        pollTimer?.arm(at: now + Self.longestInterval)
        if let channel {
            channel.microphone(isOpen: sends && controls.isMicrophoneOpen.load(ordering: .relaxed), at: now)
            let page = controls.listenerPage.exchange(-1, ordering: .relaxed)
            if page >= 0 { channel.requestListeners(from: page, at: now) }
            if let failure = channel.poll(at: now) { state.fail(failure) }
            if hasJoined, channel.canTalk { controls.isConnected.store(true, ordering: .releasing) }
            flush(at: now)
        }
        if let found = partner?.poll(at: now) { partnerResolved(at: found, now) }
        publish()
        // What is published may change our status, which the next report states.
        flush(at: now)
        guard !rtpSession.hasLeft else { return }
        refusals?.poll(media.statistics, at: now)
        // Repeated, because a talker may get another jitter buffer on the playback thread.
        for source in rtpSession.sources { delivery.demand(RecoveryDemand(source.repair), of: source.ssrc) }
        let isLeft = limits.endsWithLastSource && heardAnyone && rtpSession.sources.isEmpty && state.isSilent
        let isDone =
            limits.duration.map { now - start >= $0 } ?? false
            || limits.endsWithInput && controls.hasInputEnded.load(ordering: .acquiring)
        guard controls.stops || state.failure != nil || isDone || isLeft else { return }
        // Reports a failure if the session ends by itself without being in its channel.
        if !controls.stops, isDone || lastSourceTimedOut, let absence { state.fail(absence) }
        if let failure = refusals?.failure(media.statistics) { state.fail(failure) }
        drain(at: now)
        rtpSession.leave(at: now)
        while exchange(at: now) {}
        channel?.leave(at: now)
        flush(at: now)
        if state.failure != nil { loop.stop() }
    }

    /// Applies the addresses of the peer's name. The present address stays in use if it is one of them.
    private func partnerResolved(at endpoints: [Endpoint], _ now: Instant) {
        let addresses = Set(endpoints.map(\.address))
        let remote = rtpSession.configuration.remotes.first
        guard let first = endpoints.first, rtpSession.configuration.accepted != .only(addresses) else { return }
        let isKept = remote.map { addresses.contains($0.address) } ?? false
        rtpSession.partnerMoved(to: isKept ? remote ?? first : first, accepting: addresses, at: now)
        if !isKept { state.post(.partnerMoved(to: first)) }
        flush(at: now)
    }

    private func publish() {
        var snapshot = RadioSnapshot(rtpSession: rtpSession, elapsed: loop.now - start)
        snapshot.add(captured?.read())
        let report = played?.read()
        let isMuted = controls.isSpeakerMuted.load(ordering: .relaxed)
        feedback.update(&rtpSession, with: report, isMuted: isMuted, at: loop.now)
        if let report {
            snapshot.add(report, present: rtpSession.sources, before: talkers)
            talkers = snapshot.talkers
        }
        snapshot.addPeople(rtpSession.participants(at: loop.now), channel, at: loop.now)
        snapshot.addHearings(rtpSession, at: loop.now)
        snapshot.floor = floor.snapshot(at: loop.now)
        useless.update(&rtpSession, &snapshot, media.statistics, at: loop.now)
        snapshot.playbackQueueDropCount = delivery.droppedCount
        state.publish(snapshot, at: loop.now)
    }
}
