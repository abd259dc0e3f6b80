import TenfourAudioCore
import TenfourJitterBuffer
import TenfourNetworkEmulator
import TenfourOpusCodec
import TenfourPackets
import TenfourRadio
import TenfourSession

/// A talker and a listener with a return path between them, without threads, sockets and cards. Loss protection works
/// as in a call.
struct TwoStations: ~Copyable {
    private(set) var outcome = Outcome()
    /// The bit rate of all media that the talker sent, without RTP headers, in bit/s.
    var bitRate: Double { Double(mediaByteCount * 8) / (Double(max(sentCount, 1)) * 0.02) }
    /// The loss protection in use at the end.
    var lossProtection: LossProtection { talker.lossProtection }

    private var talker: RTPSession
    private var listener: RTPSession
    private var buffer: JitterBuffer
    private var decoder: RadioDecoder
    private var encoder: OpusEncoder
    private var settings: OpusEncoderSettings
    private var there: EmulatedLink
    /// `calm` is the network to the listener after the losses end; `calmFrom` is the time at which they end.
    private var calm: EmulatedLink
    private let calmFrom: Instant
    private var back: EmulatedLink
    private var flight = PacketsInFlight<Bool>(capacity: 4_096)
    private var mediaByteCount = 0
    private var sentCount = 0

    private static let here = Endpoint(.v4(0xC000_0201), port: 5_004)
    private static let far = Endpoint(.v4(0xC000_0202), port: 5_004)
    /// The length of a card's pull, in frames.
    private static let period = 120

    /// Creates both stations. From `lossEnd` on, the network loses nothing.
    init(
        network: NetworkModel, roundTrip: Duration, seed: UInt64, lossProtection: LossProtectionConfiguration,
        decoder: DecoderChoice = .auto, lossEnd: Duration? = nil
    ) throws {
        var settings = OpusEncoderSettings()
        settings.rateControl = .variable
        settings.signal = .speech
        settings.bitRate = lossProtection.bitRate
        let encoder = try OpusEncoder(application: .voip, settings: settings)
        var playout = PlayoutSettings().jitterBuffer(period: FrameCount(Self.period), .opus, lossProtection)
        // The margin is one period, because no thread wakes up late here.
        playout.margin = FrameCount(Self.period)
        let decoding = DecoderConfiguration(decoder)
        let buffer = try JitterBuffer(format: .mono, configuration: playout)
        let radioDecoder = try RadioDecoder(decoding)
        self.buffer = buffer
        self.decoder = radioDecoder
        self.settings = settings
        self.encoder = encoder
        var network = network
        network.delay += roundTrip / 2
        there = EmulatedLink(network, seed: seed)
        var calm = network
        calm.loss = .none
        self.calm = EmulatedLink(calm, seed: seed)
        calmFrom = .start + (lossEnd ?? .seconds(1_000_000))
        back = EmulatedLink(NetworkModel(delay: roundTrip / 2), seed: seed &+ 1)
        talker = RTPSession(
            identity: Identity(ssrc: SSRC(1), seed: seed),
            configuration: RTPSessionConfiguration(remotes: [Self.far], lossProtection: lossProtection), at: .start)
        listener = RTPSession(
            identity: Identity(ssrc: SSRC(2), seed: seed &+ 2),
            configuration: RTPSessionConfiguration(remotes: [Self.here], lossProtection: lossProtection), at: .start)
        listener.setConcealment(decoding.concealment)
        self.buffer.begin(SSRC(1))
    }

    /// Sends `speech`, and plays the received packets.
    mutating func run(_ speech: [Float]) throws {
        var sound = [Float](repeating: 0, count: Self.period)
        for position in stride(from: 0, to: speech.count + 24_000, by: Self.period) {
            if position % 960 == 0, position + 960 <= speech.count {
                try say(speech[position..<position + 960], at: FrameCount(position))
            }
            pass(until: .start + FrameCount(position).duration())
            if position % 4_800 == 0 { tell() }
            let due = buffer.statistics.due
            var room = sound.mutableSpan
            if !buffer.pull(into: &room, at: FrameCount(position), with: &decoder) {
                for index in sound.indices { sound[index] = 0 }
            }
            outcome.heard += sound
            if buffer.statistics.due > due {
                outcome.delays.append(Double(buffer.statistics.delay.rawValue) / 48)
            }
        }
        outcome.take(buffer.statistics)
    }

    private mutating func say(_ sound: ArraySlice<Float>, at position: FrameCount) throws {
        settings.bitRate = talker.lossProtection.bitRate
        settings.inBandFEC = talker.lossProtection.inBandFEC
        settings.expectedLoss = talker.lossProtection.expectedLoss
        try encoder.apply(settings)
        let frame = Array(sound)
        var packet = [UInt8](repeating: 0, count: 1_276)
        var bytes = packet.mutableSpan
        let length = try encoder.encode(frame.span, into: &bytes)
        let now = Instant.start + position.duration()
        talker.send(packet.span.extracting(first: length), at: position, startsTalkspurt: position == .zero, now: now)
        sentCount += 1
        settle(at: now)
    }

    /// Advances the clock: delivers datagrams and fires timers, each at its own time.
    private mutating func pass(until end: Instant) {
        while true {
            var next: Instant?
            for moment in [flight.nextDelivery, talker.nextDeadline, listener.nextDeadline] {
                if let moment { next = min(next ?? moment, moment) }
            }
            guard let next, next <= end else { return }
            deliver(at: next)
            if let deadline = talker.nextDeadline, deadline <= next { talker.timeElapsed(at: next) }
            if let deadline = listener.nextDeadline, deadline <= next { listener.timeElapsed(at: next) }
            settle(at: next)
        }
    }

    private mutating func deliver(at now: Instant) {
        while true {
            var due: (address: Bool, due: Instant)?
            let datagram = [UInt8](capacity: 2_048) { due = flight.next(due: now, into: &$0) }
            guard let due else { return }
            guard due.address else {
                _ = talker.receive(datagram.span, from: Self.far, at: now)
                continue
            }
            guard case .media(let packet) = listener.receive(datagram.span, from: Self.here, at: now) else { continue }
            for index in 0..<packet.copyCount { hear(packet.copy(index), in: datagram, at: now) }
            hear(packet, in: datagram, at: now)
        }
    }

    private mutating func hear(_ media: MediaPacket, in datagram: [UInt8], at now: Instant) {
        var packet = IncomingPacket()
        packet.set(media, of: datagram.span, arrivedAt: now)
        buffer.insert(packet, arrivedAt: FrameCount(now - .start))
    }

    /// Exchanges the values that the network thread and the playback thread exchange ten times a second.
    private mutating func tell() {
        guard let repair = listener.sources.first(where: { $0.ssrc == SSRC(1) })?.repair else { return }
        buffer.setRecoveryDemand(RecoveryDemand(repair))
        listener.playoutDelay(of: SSRC(1), is: buffer.statistics.delay.duration())
    }

    private mutating func settle(at now: Instant) {
        while let datagram = Self.next(of: &talker) {
            // In RTCP the second byte has a value that none of our payload types has (RFC 5761).
            if !(192...223).contains(datagram[1]) { mediaByteCount += datagram.count - RTPHeader.byteCount }
            let fate =
                now < calmFrom
                ? there.fate(ofPacket: datagram.count, at: now) : calm.fate(ofPacket: datagram.count, at: now)
            launch(datagram, fate, toListener: true)
        }
        while let datagram = Self.next(of: &listener) {
            launch(datagram, back.fate(ofPacket: datagram.count, at: now), toListener: false)
        }
        while talker.nextEvent() != nil {}
        while listener.nextEvent() != nil {}
    }

    private mutating func launch(_ datagram: [UInt8], _ fate: Fate, toListener: Bool) {
        switch fate {
        case .lost: break
        case .delivered(let due), .doubled(let due, _): _ = flight.insert(datagram.span, for: toListener, due: due)
        }
    }

    private static func next(of session: inout RTPSession) -> [UInt8]? {
        var destination: RTPSession.Destination?
        let datagram = [UInt8](capacity: 2_048) { destination = session.nextDatagram(into: &$0) }
        return destination == nil ? nil : datagram
    }
}
