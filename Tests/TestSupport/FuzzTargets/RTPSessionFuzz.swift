import TenfourAudioCore
import TenfourPackets
import TenfourSession
import TestSupport

/// Runs a script against an RTP session. Traps if the session violates an invariant.
func feedStation(_ bytes: Span<UInt8>) {
    var script = DatagramScript(bytes)
    var trial = StationTrial()
    while let step = script.next() {
        trial.now = trial.now + step.pause
        trial.waitForDeadlines()
        let sender = DatagramScript.endpoint(step.sender)
        let datagram = bytes.extracting(step.datagram)
        switch step.action {
        case .receive: trial.receive(datagram, from: sender)
        case .send: trial.send(datagram)
        case .loop: trial.loop(from: sender)
        case .leave: trial.leave()
        }
        trial.check()
    }
}

/// A session with one remote, and the number of bytes that it has received from each address and may still send to
/// it.
private struct StationTrial: ~Copyable {
    var now = Instant.start
    private var session: RTPSession
    private var discardCount = 0
    private var bytesIn: [Endpoint: Int] = [:]
    private var position = FrameCount.zero
    private var lastSent: [UInt8] = []

    private static let remote = DatagramScript.endpoint(0)

    init() {
        let identity = Identity(ssrc: SSRC(0x0102_0304), firstSequenceNumber: SequenceNumber(rawValue: 65_535), seed: 1)
        session = RTPSession(
            identity: identity, configuration: RTPSessionConfiguration(remotes: [Self.remote], name: "fuzz"), at: now)
    }

    /// Runs the due timers. A timer that is late by years must fire once, not once for each missed deadline.
    mutating func waitForDeadlines() {
        for _ in 0..<4 {
            guard let deadline = session.nextDeadline, deadline <= now else { return }
            session.timeElapsed(at: now)
            if let next = session.nextDeadline { precondition(next != deadline, "a deadline that never passes") }
            flush()
        }
    }

    mutating func receive(_ datagram: Span<UInt8>, from sender: Endpoint) {
        switch session.receive(datagram, from: sender, at: now) {
        case .discarded:
            discardCount += 1
            bytesIn[sender, default: 0] += datagram.count
        case .control: break
        case .withoutAudio, .comfortNoise: bytesIn[sender, default: 0] += datagram.count
        case .media(let packet):
            bytesIn[sender, default: 0] += datagram.count
            let start = packet.description.offset
            let payload = datagram.extracting(start..<start + packet.description.byteCount)
            guard let opus = try? OpusPacket(parsing: payload) else { preconditionFailure("no packet of Opus") }
            precondition(opus.frameCount == packet.description.frameCount)
            for index in 0..<packet.copyCount {
                let copy = packet.copy(index).description
                let payload = datagram.extracting(copy.offset..<copy.offset + copy.byteCount)
                precondition((try? OpusPacket(parsing: payload))?.frameCount == copy.frameCount)
            }
        }
        flush()
    }

    mutating func send(_ datagram: Span<UInt8>) {
        let length = datagram.isEmpty ? 0 : Int(datagram[0]) * 5
        let payload = [UInt8](repeating: 0xF8, count: length)
        session.send(payload.span, at: position, startsTalkspurt: length == 0, now: now)
        position += FrameCount(960)
        flush()
    }

    mutating func loop(from sender: Endpoint) {
        let datagram = lastSent
        receive(datagram.span, from: sender)
    }

    mutating func leave() {
        session.leave(at: now)
        flush()
    }

    func check() {
        let ssrcs = session.sources.map(\.ssrc)
        precondition(ssrcs.count <= RTPSession.maximumSourceCount && Set(ssrcs).count == ssrcs.count)
        precondition(!ssrcs.contains(session.ssrc), "we are no source of ours")
        precondition(session.discards.total == discardCount)
        precondition(session.hasLeft || session.nextDeadline != nil, "reports are due some time")
        for source in session.sources { checkShown(source.name ?? "") }
    }

    private mutating func flush() {
        while true {
            var destination: RTPSession.Destination?
            let datagram = [UInt8](capacity: RTPSession.maximumDatagramByteCount) {
                destination = session.nextDatagram(into: &$0)
            }
            guard let destination else { break }
            check(datagram, to: destination)
            if !destination.isControl { lastSent = datagram }
        }
        while let event = session.nextEvent() {
            switch event {
            case .sourceNamed(_, let text), .sourceLeft(_, let text?), .reporterLeft(_, let text?),
                .reporterAppeared(_, let text?, _):
                checkShown(text)
            case .receiverReported(_, let view): precondition((0..<1).contains(view.lossShare))
            case .hearingChanged(let hearing):
                if case .hearsBadly(let share) = hearing.state { precondition((0...1).contains(share)) }
                precondition(hearing.endpoint.address == Self.remote.address, "only a configured remote is asked")
            case .mediaMissing, .mediaReturned, .sourceAppeared, .sourceLeft, .reporterAppeared, .reporterLeft,
                .sourceLooksEncrypted, .opusRecognised, .payloadTypeUnknown,
                .sourceClockIsWrong, .sourcesCollide, .sourceSendsTooFast, .keyPressed, .identityChanged, .partnerMoved:
                break
            }
        }
    }

    private mutating func check(_ datagram: [UInt8], to destination: RTPSession.Destination) {
        guard destination.isControl else {
            precondition(destination.endpoint == Self.remote, "media goes where a person said")
            precondition((try? RTPHeader(parsing: datagram.span)) != nil)
            return
        }
        // The report must be parseable.
        guard var packets = try? RTCPCompound(parsing: datagram.span) else { preconditionFailure("no report") }
        do { while try packets.next() != nil {} } catch { preconditionFailure("\(error)") }
        guard destination.endpoint != Self.remote else { return }
        bytesIn[destination.endpoint, default: 0] -= datagram.count
        precondition(bytesIn[destination.endpoint, default: 0] >= 0, "more went out than came in")
    }
}
